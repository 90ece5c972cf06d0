// Nodes and edges with a mark for their change: color, sign and text.
import { EdgeProps, NodeProps } from '@xyflow/react';
import { createContext, memo, ReactNode, useContext } from 'react';

import { BlockNode } from '../blocks/BlockNode';
import { useEditorContext } from '../context';
import { DataEdge } from '../canvas/DataEdge';
import { MarkKind } from './diff-data';
import { Mark, Marks } from './diff-changes';
import { LayerFlowEdge, LayerFlowNode } from '../canvas/react-flow';
import { Icon, IconName } from '../../ui/Icon';
import { LayerNode } from '../canvas/LayerNode';

export const DiffMarks = createContext<Marks>({
  nodes: new Map(),
  edges: new Map()
});

export const MARK_ICONS: { [kind in MarkKind]: IconName } = {
  added: 'plus',
  removed: 'minus',
  changed: 'wrench',
  renamed: 'right'
};

function WithMark({ mark, children }: { mark?: Mark; children: ReactNode }) {
  return mark ? (
    <div className={`labdl-diff-node labdl-diff-${mark.kind}`}>
      <div className="labdl-diff-strip" title={mark.words}>
        <Icon name={MARK_ICONS[mark.kind]} />
        <span>{mark.words}</span>
      </div>
      {children}
    </div>
  ) : (
    <>{children}</>
  );
}

const DiffLayer = memo(function DiffLayer(props: NodeProps<LayerFlowNode>) {
  const { nodes } = useContext(DiffMarks);
  return (
    <WithMark mark={nodes.get(props.id)}>
      <LayerNode {...props} />
    </WithMark>
  );
});

const DiffBlock = memo(function DiffBlock(props: NodeProps<LayerFlowNode>) {
  const { nodes } = useContext(DiffMarks);
  const { trans } = useEditorContext();
  const members = props.data.block?.members ?? [];
  const marks = members.flatMap(id => nodes.get(id) ?? []);
  const [first] = marks;
  const isWhole =
    marks.length === members.length &&
    marks.every(({ kind }) => kind === first?.kind);
  const mark: Mark | undefined =
    isWhole || !first
      ? first
      : {
          kind: 'changed',
          words: trans._n(
            '%1 layer in this block differs',
            '%1 layers in this block differ',
            marks.length
          )
        };
  return (
    <WithMark mark={mark}>
      <BlockNode {...props} />
    </WithMark>
  );
});

const DiffEdge = memo(function DiffEdge(props: EdgeProps<LayerFlowEdge>) {
  const kind = useContext(DiffMarks).edges.get(props.id);
  return (
    <g className={kind && `labdl-diff-edge labdl-diff-${kind}`}>
      <DataEdge {...props} />
    </g>
  );
});

export const DIFF_NODES = { layer: DiffLayer, block: DiffBlock };
export const DIFF_EDGES = { data: DiffEdge };
