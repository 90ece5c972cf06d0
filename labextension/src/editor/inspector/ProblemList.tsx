// Problems of the model, each with a link to its node.
import { EditorActions } from '../commands/actions';
import { useEditorContext } from '../context';
import { FixButton } from '../commands/FixButton';
import { Icon } from '../../ui/Icon';
import { GraphData, Problem } from '../model/graph-data';

export interface ProblemListProps {
  graph: GraphData;
  problems: Problem[];
  actions: EditorActions;
}

export function ProblemList(props: ProblemListProps) {
  const { graph, problems, actions } = props;
  const { trans } = useEditorContext();
  if (problems.length === 0) {
    return null;
  }
  /** The node of a problem, or the target of its edge. */
  const nodeOf = ({ node, edge }: Problem) =>
    node ?? (edge ? graph.edges[edge]?.target : undefined);
  return (
    <>
      <h3 className="labdl-inspector-heading">{trans.__('Problems')}</h3>
      <ul className="labdl-problems">
        {problems.map((problem, index) => {
          const id = nodeOf(problem);
          const name = id === undefined ? undefined : graph.nodes[id]?.name;
          return (
            <li key={index}>
              <button
                type="button"
                disabled={id === undefined}
                onClick={() => id !== undefined && actions.selectNodes([id])}
              >
                <Icon name="warning" />
                <span>
                  {name !== undefined && <strong>{name}</strong>}
                  {problem.message}
                </span>
              </button>
              <FixButton actions={actions} graph={graph} fix={problem.fix} />
            </li>
          );
        })}
      </ul>
    </>
  );
}
