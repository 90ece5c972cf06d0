// Frames around open blocks, behind the nodes; the title folds, selects and moves the block.
import { useReactFlow, ViewportPortal } from '@xyflow/react';
import { memo, PointerEvent, useMemo, useRef } from 'react';

import { EditorActions } from '../commands/actions';
import { useEditorContext } from '../context';
import { LayerFlowNode, View } from '../canvas/react-flow';
import { framesOf } from './frame-geometry';
import { Icon } from '../../ui/Icon';
import { NODE_SIZE } from '../canvas/node-size';
import { Position } from '../model/graph-data';
import { NoteFlowNode } from '../notes/NoteNode';
import { isInside, wordOf } from '../model/paths';
import { drawnInFrames } from '../canvas/scene';

export interface BlockFramesProps {
  nodes: LayerFlowNode[];
  notes: NoteFlowNode[];
  view: View;
  actions: EditorActions;
  /** Shows nodes at other positions during a drag. */
  onDrag: (positions: { [id: string]: Position }) => void;
  /** Writes the positions at the end of a drag. */
  onDrop: (positions: { [id: string]: Position }) => void;
}

export const BlockFrames = memo(function BlockFrames(props: BlockFramesProps) {
  const { nodes, notes, view, actions } = props;
  const { trans } = useEditorContext();
  const { scene } = view;
  const held = useMemo(() => drawnInFrames(scene), [scene]);
  if (scene.frames.length === 0) {
    return null;
  }
  const placed = nodes
    .filter(node => !scene.outside.has(node.id))
    .map(({ data, measured, position }) => ({
      name: data.node.name,
      at: [position.x, position.y] as Position,
      size: {
        width: measured?.width ?? NODE_SIZE.width,
        height: measured?.height ?? NODE_SIZE.height
      }
    }));
  for (const { data, position, width = 0, height = 0 } of notes) {
    const at: Position = [position.x, position.y];
    placed.push({ name: `${data.note.home}/_`, at, size: { width, height } });
  }
  const frames = framesOf(scene.frames, placed);
  return (
    <ViewportPortal>
      {scene.frames.map(path => {
        const rect = frames.get(path);
        if (!rect) {
          return null;
        }
        const { x, y, width, height } = rect;
        const inside = held.get(path) ?? [];
        const isSelected =
          inside.length > 0 && inside.every(id => view.selected.nodes.has(id));
        return (
          <div
            key={path}
            className={`labdl-frame ${isSelected ? 'labdl-mod-selected' : ''}`}
            style={{
              transform: `translate(${x}px, ${y}px)`,
              width,
              height
            }}
          >
            <Heading {...props} path={path} inside={inside}>
              <button
                type="button"
                className="labdl-frame-fold nodrag"
                title={trans.__('Collapse')}
                aria-label={trans.__('Collapse %1', path)}
                onPointerDown={event => event.stopPropagation()}
                onClick={() => actions.fold(path)}
              >
                <Icon name="chevron" />
              </button>
              <span className="labdl-frame-name" title={path}>
                {wordOf(path)}
              </span>
              <span className="labdl-frame-class">
                {view.whole.groups?.[path]}
              </span>
            </Heading>
          </div>
        );
      })}
    </ViewportPortal>
  );
});

interface HeadingProps extends BlockFramesProps {
  path: string;
  inside: string[];
  children: React.ReactNode;
}

/** Title of a frame; dragging it moves the nodes inside. */
function Heading(props: HeadingProps) {
  const { path, inside, nodes, notes, actions, onDrag, onDrop } = props;
  const flow = useReactFlow();
  const drag = useRef<{
    from: { x: number; y: number };
    places: { [id: string]: Position };
    moved: { [id: string]: Position } | null;
  } | null>(null);

  const down = (event: PointerEvent<HTMLDivElement>) => {
    if (event.button !== 0) {
      return;
    }
    event.currentTarget.setPointerCapture(event.pointerId);
    const held = new Set(inside);
    drag.current = {
      from: flow.screenToFlowPosition({ x: event.clientX, y: event.clientY }),
      places: Object.fromEntries(
        [
          ...nodes.filter(node => held.has(node.id)),
          ...notes.filter(({ data }) => isInside(`${data.note.home}/`, path))
        ].map(({ id, position }) => [id, [position.x, position.y]])
      ),
      moved: null
    };
    actions.selectBlock(path);
  };
  const move = (event: PointerEvent<HTMLDivElement>) => {
    if (!drag.current) {
      return;
    }
    const { from, places } = drag.current;
    const to = flow.screenToFlowPosition({
      x: event.clientX,
      y: event.clientY
    });
    const [dx, dy] = [Math.round(to.x - from.x), Math.round(to.y - from.y)];
    if (drag.current.moved || Math.hypot(dx, dy) > 2) {
      drag.current.moved = Object.fromEntries(
        Object.entries(places).map(([id, [x, y]]) => [id, [x + dx, y + dy]])
      );
      onDrag(drag.current.moved);
    }
  };
  const up = () => {
    if (drag.current?.moved) {
      onDrop(drag.current.moved);
    }
    drag.current = null;
  };
  return (
    <div
      className="labdl-frame-heading"
      onPointerDown={down}
      onPointerMove={move}
      onPointerUp={up}
      onPointerCancel={up}
      onDoubleClick={() => actions.enter(path)}
    >
      {props.children}
    </div>
  );
}
