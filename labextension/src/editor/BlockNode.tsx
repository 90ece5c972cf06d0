// A folded block: its name, how much is in it, what it gives and what it costs.
import { NodeProps, Position as Side } from '@xyflow/react';
import { memo, useSyncExternalStore } from 'react';

import { useEditorContext } from './context';
import { CostBadge, sumOfCosts } from './Costs';
import { LayerFlowNode } from './flow';
import { shapeText } from './format';
import { Icon } from './Icon';
import { PortList, useMeasuredPorts } from './PortList';
import { endIn } from './scene';

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
      <PortList kind="target" side={targetPosition} ports={ports.inputs} />
      <div className="labdl-node-head">
        <span className="labdl-node-name" title={node.name}>
          {title}
        </span>
        <span className="labdl-node-type" title={kind}>
          {kind ? `${kind} · ${count}` : count}
        </span>
      </div>
      <div className="labdl-node-figures">
        <span className="labdl-node-shape">
          {ports.outputs.map(({ name, label }) => {
            const [layer, port] = endIn(id, name);
            const spec = checks.node(layer)?.outputs[port];
            const text = spec && shapeText(spec.shape, trans.__('one number'));
            return (
              text && (
                <span
                  key={name}
                  title={trans.__(
                    '%1: %2, %3',
                    label ?? name,
                    text,
                    spec.dtype
                  )}
                >
                  {text}
                </span>
              )
            );
          })}
        </span>
        <CostBadge costs={costs} />
      </div>
      {problems.length > 0 && (
        <div className="labdl-node-problem" role="note">
          <Icon name="warning" />
          <span>
            {trans._n(
              '%1 layer in it has a problem',
              '%1 layers in it have problems',
              problems.length
            )}
          </span>
        </div>
      )}
      <PortList kind="source" side={sourcePosition} ports={ports.outputs} />
    </div>
  );
});
