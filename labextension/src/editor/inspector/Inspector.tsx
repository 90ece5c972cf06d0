// Inspector: the selected node with its parameters, or the whole model.
import { memo, useSyncExternalStore } from 'react';

import { EditorActions } from '../commands/actions';
import { BlockDetails } from '../blocks/BlockDetails';
import { Button } from '../../ui/Button';
import { labelWithKeys } from '../commands/key-bindings';
import { useEditorContext } from '../context';
import { CostFacts, sumOfCosts } from './Costs';
import { GraphDocument } from '../model/document';
import { IconButton } from '../../ui/Icon';
import { GraphData, LayerTable } from '../model/graph-data';
import { ModelOverview } from './ModelOverview';
import { NodeDetails } from './NodeDetails';
import { NoteDetails } from '../notes/NoteDetails';
import { notesAmong } from '../notes/notes';
import { blockId } from '../model/paths';
import { nodesOf, Scene, selectedBlockOf } from '../canvas/scene';
import { Selected } from '../model/selection';
import { useLock } from '../model/useLock';

export interface InspectorProps {
  document: GraphDocument;
  graph: GraphData;
  layers: LayerTable;
  scene: Scene;
  selected: Selected;
  actions: EditorActions;
  /** Hides the inspector; undefined if it cannot be hidden. */
  onClose?: () => void;
}

export const Inspector = memo(function Inspector(props: InspectorProps) {
  const { trans } = useEditorContext();
  const isLocked = useLock(props.document) !== null;
  return (
    <section className="labdl-inspector" aria-label={trans.__('Properties')}>
      {props.onClose && (
        <IconButton
          icon="chevron"
          className="labdl-inspector-close"
          label={trans.__('Hide the properties')}
          onClick={props.onClose}
        />
      )}
      <fieldset className="labdl-inspector-form" disabled={isLocked}>
        <Contents {...props} />
      </fieldset>
    </section>
  );
});

function Contents(props: InspectorProps) {
  const { document, graph, layers, scene, selected, actions } = props;
  const drawn = [...selected.nodes].filter(id => scene.graph.nodes[id]);
  const ids = nodesOf(scene, drawn);
  const edges = [...selected.edges].filter(id => graph.edges[id]);
  const block = selectedBlockOf(scene, selected.nodes);
  if (block !== null && ids.length > 0) {
    return (
      <BlockDetails
        key={block}
        actions={actions}
        document={document}
        graph={graph}
        path={block}
        isFolded={scene.blocks.has(blockId(block))}
      />
    );
  }
  if (ids.length === 1) {
    const [id] = ids;
    const node = graph.nodes[id];
    return (
      <NodeDetails
        key={id}
        actions={actions}
        document={document}
        graph={graph}
        id={id}
        schema={layers.get(node.type)}
      />
    );
  }
  if (ids.length > 1) {
    return <Several ids={ids} actions={actions} />;
  }
  const notes = notesAmong(graph, selected.nodes);
  if (notes.length > 0) {
    return (
      <NoteDetails
        key={notes.join()}
        document={document}
        notes={graph.notes ?? {}}
        ids={notes}
        actions={actions}
      />
    );
  }
  if (edges.length > 0) {
    return <Edges ids={edges} graph={graph} actions={actions} />;
  }
  return <ModelOverview document={document} graph={graph} actions={actions} />;
}

function Several({ ids, actions }: { ids: string[]; actions: EditorActions }) {
  const { checks, shortcuts, trans } = useEditorContext();
  useSyncExternalStore(checks.subscribe, checks.state);
  const costs = sumOfCosts(ids.map(id => checks.node(id)));
  return (
    <>
      <h2 className="labdl-inspector-title">
        {trans._n('%1 layer selected', '%1 layers selected', ids.length)}
      </h2>
      <dl className="labdl-facts">
        <CostFacts costs={costs} />
      </dl>
      <div className="labdl-inspector-buttons">
        <Button
          title={labelWithKeys(
            trans.__('Group the selected layers into a block'),
            'group',
            shortcuts
          )}
          onClick={actions.group}
        >
          {trans.__('Group')}
        </Button>
        <Button onClick={actions.duplicate}>{trans.__('Duplicate')}</Button>
        <Button onClick={actions.deleteSelection}>{trans.__('Delete')}</Button>
      </div>
    </>
  );
}

interface EdgesProps {
  ids: string[];
  graph: GraphData;
  actions: EditorActions;
}

function Edges({ ids, graph, actions }: EdgesProps) {
  const { checks, trans } = useEditorContext();
  const { problems } = useSyncExternalStore(checks.subscribe, checks.state);
  return (
    <>
      <h2 className="labdl-inspector-title">
        {trans._n('Connection', '%1 connections', ids.length)}
      </h2>
      <ul className="labdl-edge-list">
        {ids.map(id => {
          const edge = graph.edges[id];
          const end = (node: string, port: string) =>
            `${graph.nodes[node]?.name ?? '?'}.${port}`;
          const problem = problems.find(item => item.edge === id);
          return (
            <li key={id}>
              {end(edge.source, edge.source_port)} →{' '}
              {end(edge.target, edge.target_port)}
              {problem && (
                <p className="labdl-field-error">{problem.message}</p>
              )}
            </li>
          );
        })}
      </ul>
      <div className="labdl-inspector-buttons">
        <Button onClick={actions.deleteSelection}>{trans.__('Delete')}</Button>
      </div>
    </>
  );
}
