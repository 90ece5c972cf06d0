// One node of the graph: name, type, output shape, parameters and its problem.
import {
  Handle,
  NodeProps,
  Position as Side,
  useUpdateNodeInternals
} from '@xyflow/react';
import {
  CSSProperties,
  memo,
  useEffect,
  useRef,
  useSyncExternalStore
} from 'react';

import { useEditorContext } from './context';
import { LayerFlowNode } from './flow';
import { costLines } from './Costs';
import { shapeText, shortBytes, shortCount } from './format';
import { Icon } from './Icon';

interface PortListProps {
  kind: 'source' | 'target';
  side: Side;
  ports: { name: string; variadic?: boolean; optional?: boolean }[];
}

function PortList({ kind, side, ports }: PortListProps) {
  const isAcross = side === Side.Top || side === Side.Bottom;
  return ports.map((port, index) => {
    const at = `${((index + 0.5) / ports.length) * 100}%`;
    const place: CSSProperties = isAcross ? { left: at } : { top: at };
    const kinds = [
      port.variadic ? 'labdl-mod-variadic' : '',
      port.optional ? 'labdl-mod-optional' : ''
    ].join(' ');
    return (
      <Handle
        key={port.name}
        id={port.name}
        type={kind}
        position={side}
        style={place}
        className={`labdl-port ${kinds}`}
        title={port.name}
        aria-label={port.name}
      >
        {ports.length > 1 && (
          <span className="labdl-port-name">{port.name}</span>
        )}
      </Handle>
    );
  });
}

export const LayerNode = memo(function LayerNode({
  id,
  data,
  selected,
  sourcePosition = Side.Bottom,
  targetPosition = Side.Top
}: NodeProps<LayerFlowNode>) {
  const { checks, hueOf, trans } = useEditorContext();
  const check = useSyncExternalStore(checks.subscribe, () => checks.node(id));
  const { node, schema, ports, sharedWith } = data;

  const updateInternals = useUpdateNodeInternals();
  const portNames = JSON.stringify(ports);
  const measured = useRef(portNames);
  useEffect(() => {
    // The lines end at the ports as they were measured: measure new ones.
    // Not at the start, where React Flow measures all nodes in one go.
    if (measured.current !== portNames) {
      measured.current = portNames;
      updateInternals(id);
    }
  }, [id, portNames, updateInternals]);

  const outputs = Object.entries(check?.outputs ?? {});
  const figure = useSyncExternalStore(checks.subscribe, checks.figure);
  const problem = check?.problem;
  const label = schema?.label ?? node.type;
  const hue = hueOf(schema?.category);
  const style = (
    hue === undefined ? {} : { '--labdl-hue': hue }
  ) as CSSProperties;
  return (
    <div
      className={[
        'labdl-node',
        selected ? 'labdl-mod-selected' : '',
        problem ? 'labdl-mod-problem' : '',
        schema ? '' : 'labdl-mod-unknown',
        targetPosition === Side.Top ? 'labdl-mod-down' : 'labdl-mod-right',
        ports.inputs.length > 1 ? 'labdl-mod-inputs' : '',
        ports.outputs.length > 1 ? 'labdl-mod-outputs' : ''
      ].join(' ')}
      style={style}
    >
      <PortList kind="target" side={targetPosition} ports={ports.inputs} />
      <div className="labdl-node-head">
        <span className="labdl-node-name" title={node.name}>
          {node.name}
        </span>
        {sharedWith && (
          <span
            className="labdl-node-shared"
            title={trans.__('Shares settings and weights with %1', sharedWith)}
          >
            <Icon name="link" />
          </span>
        )}
        <span className="labdl-node-type" title={schema?.summary ?? label}>
          {label}
        </span>
      </div>
      <div className="labdl-node-figures">
        <span className="labdl-node-shape">
          {outputs.map(([port, spec]) => {
            const text = shapeText(spec.shape, trans.__('one number'));
            return (
              <span
                key={port}
                title={trans.__('%1: %2, %3', port, text, spec.dtype)}
              >
                {text}
              </span>
            );
          })}
        </span>
        {check !== undefined && check[figure] > 0 && (
          <span
            className="labdl-node-params"
            title={costLines(check, trans).join('\n')}
          >
            {figure === 'memory'
              ? shortBytes(check[figure])
              : shortCount(check[figure])}
          </span>
        )}
      </div>
      {problem && (
        <div className="labdl-node-problem" role="note">
          <Icon name="warning" />
          <span>{problem}</span>
        </div>
      )}
      <PortList kind="source" side={sourcePosition} ports={ports.outputs} />
    </div>
  );
});
