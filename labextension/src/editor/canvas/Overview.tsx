// Overview of the graph in a corner of the canvas, while it is of use and in nobody's way.
import { MiniMap, ReactFlowState, useStore } from '@xyflow/react';
import { useEffect, useReducer, useRef } from 'react';

import { useEditorContext } from '../context';
import { CanvasNode } from '../notes/react-flow-notes';

const SIZE = { width: 150, height: 100 };
/** Distance from the corner, and from the layers, in pixels. */
const MARGIN = 10;
/** A smaller canvas has no room for it. */
const LEAST = { width: 600, height: 320 };

const mapClass = ({ selected, type }: CanvasNode) =>
  type === 'note' ? 'labdl-mod-note' : selected ? 'labdl-mod-selected' : '';

export function Overview() {
  const { trans } = useEditorContext();
  const isHeld = useRef(false);
  const [, look] = useReducer((times: number) => times + 1, 0);
  // While it is dragged it stays, although layers come under it.
  const isShown = useStore(state => isHeld.current || isUseful(state));
  useEffect(() => {
    const release = () => {
      if (isHeld.current) {
        isHeld.current = false;
        look();
      }
    };
    window.addEventListener('pointerup', release);
    window.addEventListener('pointercancel', release);
    return () => {
      window.removeEventListener('pointerup', release);
      window.removeEventListener('pointercancel', release);
    };
  }, []);
  return (
    <div
      className="labdl-overview"
      data-hidden={isShown ? undefined : ''}
      onPointerDown={() => {
        isHeld.current = true;
      }}
    >
      <MiniMap
        pannable
        zoomable
        style={SIZE}
        nodeClassName={mapClass}
        ariaLabel={trans.__('Overview')}
      />
    </div>
  );
}

/** Whether layers are out of view, and none is where the overview would lie. */
function isUseful(state: ReactFlowState): boolean {
  const { width, height, nodeLookup } = state;
  const [x, y, zoom] = state.transform;
  if (width < LEAST.width || height < LEAST.height) {
    return false;
  }
  const left = width - SIZE.width - 2 * MARGIN;
  const top = height - SIZE.height - 2 * MARGIN;
  let isBeyond = false;
  for (const { internals, measured } of nodeLookup.values()) {
    const at = internals.positionAbsolute;
    const start = [at.x * zoom + x, at.y * zoom + y];
    const end = [
      start[0] + (measured.width ?? 0) * zoom,
      start[1] + (measured.height ?? 0) * zoom
    ];
    if (start[0] < 0 || start[1] < 0 || end[0] > width || end[1] > height) {
      isBeyond = true;
    }
    const isUnder =
      end[0] > left && end[1] > top && start[0] < width && start[1] < height;
    if (isUnder) {
      return false;
    }
  }
  return isBeyond;
}
