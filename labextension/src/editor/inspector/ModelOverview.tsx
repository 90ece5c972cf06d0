// Inspector without a selection: name, size and problems of the model.
import { useSyncExternalStore } from 'react';

import { EditorActions } from '../commands/actions';
import { useEditorContext } from '../context';
import { GraphDocument } from '../model/document';
import { CostFacts } from './Costs';
import { fullCount } from '../model/shape-format';
import { GraphData } from '../model/graph-data';
import { NameField } from './NameField';
import { ProblemList } from './ProblemList';

export interface ModelOverviewProps {
  document: GraphDocument;
  graph: GraphData;
  actions: EditorActions;
}

export function ModelOverview(props: ModelOverviewProps) {
  const { document, graph, actions } = props;
  const { checks, trans } = useEditorContext();
  const state = useSyncExternalStore(checks.subscribe, checks.state);
  const count = Object.keys(graph.nodes).length;
  return (
    <>
      <h2 className="labdl-inspector-title">{trans.__('Model')}</h2>
      <NameField
        id="labdl-model-name"
        label={trans.__('Name')}
        value={graph.name}
        placeholder={trans.__('model')}
        refuse={() => null}
        onChange={name => document.renameModel(name, 'model name')}
        onDone={() => document.endTyping()}
      />
      <dl className="labdl-facts">
        <div>
          <dt>{trans.__('Layers')}</dt>
          <dd>{fullCount(count)}</dd>
        </div>
        {state.total && <CostFacts costs={state.total} />}
      </dl>
      <ProblemList graph={graph} problems={state.problems} actions={actions} />
    </>
  );
}
