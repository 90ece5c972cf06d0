// Node of a layer: type, name, settings, output shape, parameters and problem.
import { NodeProps, Position as Side } from '@xyflow/react';
import { CSSProperties, memo, useSyncExternalStore } from 'react';

import { Activation } from '../samples/Activation';
import { useEditorContext } from '../context';
import { LayerFlowNode } from './react-flow';
import { CostBadge } from '../inspector/Costs';
import { nameOfType } from '../model/naming';
import { settingsText } from '../model/shape-format';
import { shortSettings } from '../model/short-settings';
import { HealthStrip } from '../health/HealthStrip';
import { Icon } from '../../ui/Icon';
import { PortList, useMeasuredPorts } from './PortList';
import { CollaboratorNames } from './CollaboratorNames';
import { OutputShapes } from './OutputShapes';

export const LayerNode = memo(function LayerNode({
  id,
  data,
  selected,
  sourcePosition = Side.Bottom,
  targetPosition = Side.Top
}: NodeProps<LayerFlowNode>) {
  const { checks, hueOf, trans } = useEditorContext();
  const check = useSyncExternalStore(checks.subscribe, () => checks.node(id));
  const hint = useSyncExternalStore(checks.subscribe, () => checks.hint(id));
  const { node, schema, ports, sharedWith, title } = data;

  useMeasuredPorts(id, ports);

  const problem = check?.problem;
  const settings = shortSettings(node.type, node.params, schema);
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
      title={schema?.description ?? schema?.summary ?? label}
    >
      <CollaboratorNames id={id} />
      <PortList kind="target" side={targetPosition} ports={ports.inputs} />
      <div className="labdl-node-head">
        <span className="labdl-node-type">{label}</span>
        {sharedWith && (
          <span
            className="labdl-node-shared"
            title={trans.__('Shares settings and weights with %1', sharedWith)}
          >
            <Icon name="link" />
          </span>
        )}
      </div>
      <div className="labdl-node-figures">
        <span
          className={
            // the name that a layer gets by itself says nothing more
            title === nameOfType(node.type)
              ? 'labdl-node-name labdl-mod-implied'
              : 'labdl-node-name'
          }
          title={node.name}
        >
          {title}
        </span>
        <span className="labdl-node-settings" title={settingsText(node.params)}>
          {settings}
        </span>
        {check && <CostBadge costs={check} />}
      </div>
      {problem && (
        <div className="labdl-node-problem" role="note">
          <Icon name="warning" />
          <span>{problem}</span>
        </div>
      )}
      {hint && !problem && (
        <div className="labdl-node-hint" role="note">
          <Icon name="info" />
          <span>{hint}</span>
        </div>
      )}
      <Activation id={id} isLow={targetPosition === Side.Top} />
      <HealthStrip id={id} />
      <PortList kind="source" side={sourcePosition} ports={ports.outputs} />
      <OutputShapes
        ports={ports.outputs}
        specOf={port => check?.outputs[port]}
      />
    </div>
  );
});
