// Breadcrumbs from the model to the entered block.
import { Panel } from '@xyflow/react';

import { EditorActions } from '../commands/actions';
import { useEditorContext } from '../context';
import { pathsOf, wordOf } from '../model/paths';

export interface BreadcrumbsProps {
  /** Name of the model. */
  name: string;
  within: string;
  actions: EditorActions;
}

export function Breadcrumbs({ name, within, actions }: BreadcrumbsProps) {
  const { trans } = useEditorContext();
  if (!within) {
    return null;
  }
  const before = ['', ...pathsOf(within)];
  return (
    <Panel position="top-center">
      <nav className="labdl-breadcrumbs" aria-label={trans.__('Breadcrumbs')}>
        {before.map(path => (
          <span key={path}>
            <button type="button" onClick={() => actions.enter(path)}>
              {path ? wordOf(path) : name || trans.__('model')}
            </button>
            <span aria-hidden="true">›</span>
          </span>
        ))}
        <strong aria-current="location">{wordOf(within)}</strong>
      </nav>
    </Panel>
  );
}
