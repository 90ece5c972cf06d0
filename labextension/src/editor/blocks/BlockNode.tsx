// Node of a folded block: name, number of layers, output shapes and costs.
import { NodeProps, Position as Side } from '@xyflow/react';
import { memo, useSyncExternalStore } from 'react';

import { useEditorContext } from '../context';
import { CostBadge, sumOfCosts } from '../inspector/Costs';
import { LayerFlowNode } from '../canvas/react-flow';
import { BlockHealthStrip } from '../health/HealthStrip';
import { Icon } from '../../ui/Icon';
import { PortList, useMeasuredPorts } from '../canvas/PortList';
import { endIn } from '../canvas/scene';
import { CollaboratorNames } from '../canvas/CollaboratorNames';
import { OutputShapes } from '../canvas/OutputShapes';

export const BlockNode = memo(function BlockNode({
  id,
  data,
  selected,
  sourcePosition = Side.Bottom,
  targetPosition = Side.Top
}: NodeProps<LayerFlowNode>) {
  const { checks, trans } = useEditorContext();
  useSyncExternalStore(checks.subscribe, checks.state);
  const { node, ports, title, block } = data;
  useMeasuredPorts(id, ports);
  const members = block?.members ?? [];
  const costs = sumOfCosts(members.map(member => checks.node(member)));
  const count = trans._n('%1 layer', '%1 layers', members.length);
  const kind = data.schema?.label;
  const problems = members.filter(member => checks.node(member)?.problem);
  return (
    <div
      className={[
        'labdl-node labdl-block',
        selected ? 'labdl-mod-selected' : '',
        problems.length ? 'labdl-mod-problem' : '',
        targetPosition === Side.Top ? 'labdl-mod-down' : 'labdl-mod-right'
      ].join(' ')}
    >
      <CollaboratorNames id={id} />
      <PortList kind="target" side={targetPosition} ports={ports.inputs} />
      <div className="labdl-node-head">
        <span className="labdl-node-name" title={node.name}>
          {title}
        </span>
        <span className="labdl-node-kind" title={kind}>
          {kind}
        </span>
      </div>
      <div className="labdl-node-figures">
        <span className="labdl-node-settings">{count}</span>
        <CostBadge costs={costs} />
      </div>
      {problems.length > 0 && (
        <div className="labdl-node-problem" role="note">
          <Icon name="warning" />
          <span>
            {trans._n(
              '%1 layer in this block has a problem',
              '%1 layers in this block have problems',
              problems.length
            )}
          </span>
        </div>
      )}
      <BlockHealthStrip id={id} members={members} />
      <PortList kind="source" side={sourcePosition} ports={ports.outputs} />
      <OutputShapes
        ports={ports.outputs}
        specOf={name => {
          const [layer, port] = endIn(id, name);
          return checks.node(layer)?.outputs[port];
        }}
      />
    </div>
  );
});
