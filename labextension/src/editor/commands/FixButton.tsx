// Button that fixes a problem.
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
    return null; // no fix is known, or the graph has changed since the check
  }
  return (
    <button
      type="button"
      className="labdl-button labdl-fix"
      onClick={() => {
        actions.applyFix(fix);
        actions.focus(); // the button disappears; the next Ctrl+Z must reach the canvas
      }}
    >
      <Icon name="wrench" />
      {label}
    </button>
  );
}
