// Properties of the selected node: name, description, figures, problem, parameters.
import { CSSProperties, useSyncExternalStore } from 'react';

import { EditorActions } from '../commands/actions';
import { Button } from '../../ui/Button';
import { useEditorContext } from '../context';
import { GraphDocument } from '../model/document';
import { CostFacts } from './Costs';
import { FixButton } from '../commands/FixButton';
import { shapeText } from '../model/shape-format';
import { HealthDetails } from '../health/HealthDetails';
import { Icon } from '../../ui/Icon';
import { LayerInternals } from './LayerInternals';
import { takenNames } from '../model/fragment';
import { GraphData, LayerSchema } from '../model/graph-data';
import { normalName } from '../model/naming';
import { refuseName } from './name-refusal';
import { NameField } from './NameField';
import { ParamFields } from './ParamFields';
import { parentOf, wordOf } from '../model/paths';

export const NODE_NAME_ID = 'labdl-name';

export interface NodeDetailsProps {
  actions: EditorActions;
  document: GraphDocument;
  graph: GraphData;
  id: string;
  schema: LayerSchema | undefined;
}

export function NodeDetails(props: NodeDetailsProps) {
  const { actions, document, graph, id, schema } = props;
  const { checks, hueOf, trans } = useEditorContext();
  const check = useSyncExternalStore(checks.subscribe, () => checks.node(id));
  const { problems, hints } = useSyncExternalStore(
    checks.subscribe,
    checks.state
  );
  const hint = hints.find(({ node: at }) => at === id);
  const fix = problems.find(problem => problem.node === id)?.fix ?? null;
  const node = graph.nodes[id];
  // A node that shares a layer shows the settings of its owner.
  const owner = node.shares && graph.nodes[node.shares] ? node.shares : id;
  const hue = hueOf(schema?.category);

  const word = wordOf(node.name);
  const home = parentOf(node.name);
  const refuse = (name: string) => {
    const isTaken = (path: string) =>
      path !== node.name && takenNames(graph).has(path);
    return refuseName(name, { home, isIndex: home !== '', isTaken }, trans);
  };

  return (
    <>
      <h2
        className="labdl-inspector-title"
        style={
          (hue === undefined ? {} : { '--labdl-hue': hue }) as CSSProperties
        }
      >
        {schema?.label ?? node.type}
      </h2>
      {schema && <About schema={schema} />}
      {check?.problem && (
        <p className="labdl-inspector-problem">
          <Icon name="warning" />
          <span>{check.problem}</span>
        </p>
      )}
      <FixButton actions={actions} graph={graph} fix={fix} />
      {hint && !check?.problem && (
        <>
          <p className="labdl-inspector-hint">
            <Icon name="info" />
            <span>{hint.message}</span>
          </p>
          <FixButton actions={actions} graph={graph} fix={hint.fix} />
        </>
      )}
      <NameField
        key={`name ${id}`}
        id={NODE_NAME_ID}
        label={trans.__('Name')}
        value={word}
        refuse={refuse}
        normalize={normalName}
        onChange={name =>
          document.rename(id, home ? `${home}/${name}` : name, `name ${id}`)
        }
        onDone={() => document.endTyping()}
      />
      {owner !== id && (
        <div className="labdl-inspector-shared">
          <p>
            <Icon name="link" />
            <span>
              {trans.__(
                'The same layer as %1: both share settings and weights.',
                graph.nodes[owner].name
              )}
            </span>
          </p>
          <Button onClick={() => document.separate(id)}>
            {trans.__('Make independent')}
          </Button>
        </div>
      )}
      {schema ? (
        <ParamFields
          key={owner}
          document={document}
          id={owner}
          node={graph.nodes[owner]}
          schema={schema}
        />
      ) : (
        <UnknownParams params={graph.nodes[owner].params} />
      )}
      <dl className="labdl-facts">
        {Object.entries(check?.outputs ?? {}).map(([port, spec]) => (
          <div key={port}>
            <dt>
              {Object.keys(check?.outputs ?? {}).length > 1
                ? trans.__('Output %1', port)
                : trans.__('Output')}
            </dt>
            <dd>
              {shapeText(spec.shape, trans.__('one number'))}
              <small>{spec.dtype}</small>
            </dd>
          </div>
        ))}
        {check && <CostFacts costs={check} />}
      </dl>
      <HealthDetails id={id} />
      <LayerInternals id={id} owner={owner} graph={graph} />
    </>
  );
}

/** Description of a layer: the summary, expandable to the full text. */
function About({ schema }: { schema: LayerSchema }) {
  const { summary, description = summary } = schema;
  const rest = description.slice(summary.length).trim();
  return rest ? (
    <details className="labdl-inspector-summary">
      <summary>{summary}</summary>
      <p>{rest}</p>
    </details>
  ) : (
    <p className="labdl-inspector-summary">{summary}</p>
  );
}

/** Read-only parameters of a layer that is not installed. */
function UnknownParams({ params }: { params: object }) {
  const { trans } = useEditorContext();
  return (
    <>
      <p className="labdl-inspector-summary">
        {trans.__(
          'This layer type is not available here, so its parameters cannot be edited.'
        )}
      </p>
      <dl className="labdl-facts">
        {Object.entries(params).map(([key, value]) => (
          <div key={key}>
            <dt>{key}</dt>
            <dd>{JSON.stringify(value)}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}
