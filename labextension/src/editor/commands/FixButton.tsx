// The button that mends a problem at a click.
import { EditorActions } from './actions';
import { useEditorContext } from '../context';
import { fixLabel } from './fixes';
import { Icon } from '../../ui/Icon';
import { Fix, GraphData } from '../model/graph-data';

export interface FixButtonProps {
  actions: EditorActions;
  graph: GraphData;
  fix: Fix | null;
}

export function FixButton({ actions, graph, fix }: FixButtonProps) {
  const { trans } = useEditorContext();
  const label = fix && fixLabel(fix, graph, trans);
  if (!fix || label === null) {
    return null; // nothing is known to help, or the graph has changed since
  }
  return (
    <button
      type="button"
      className="labdl-button labdl-fix"
      onClick={() => {
        actions.mend(fix);
        actions.focus(); // this button goes, and the next Ctrl+Z belongs to the canvas
      }}
    >
      <Icon name="mend" />
      {label}
    </button>
  );
}
