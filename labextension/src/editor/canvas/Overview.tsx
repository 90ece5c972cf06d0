// Overview of the graph in a corner of the canvas, while it is of use and in nobody's way.
// React Flow's own map has an element and a subscription for each node, which all work at every step of a movement.
import { Panel, useReactFlow, useStore } from '@xyflow/react';
import {
  memo,
  PointerEvent,
  useDeferredValue,
  useEffect,
  useMemo,
  useRef,
  useState
} from 'react';

import { useEditorContext } from '../context';
import { CanvasNode } from '../notes/react-flow-notes';
import {
  boundsOf,
  isUseful,
  pathOf,
  Rect,
  rectOf,
  scaleFor,
  unionOf
} from './overview-geometry';

const SIZE = { width: 150, height: 100 };
/** Distance from the corner, and from the layers, in pixels. */
const MARGIN = 10;
/** A smaller canvas has no room for it. */
const LEAST = { width: 600, height: 320 };
/** Binary logarithm of the zoom for each pixel of the wheel, as on the canvas. */
const WHEEL = 0.002;

interface OverviewProps {
  nodes: CanvasNode[];
}

export const Overview = memo(function Overview(props: OverviewProps) {
  // The canvas does not wait for the overview while nodes are dragged.
  const nodes = useDeferredValue(props.nodes);
  const { trans } = useEditorContext();
  const flow = useReactFlow();
  const width = useStore(state => state.width);
  const height = useStore(state => state.height);
  const transform = useStore(state => state.transform);
  const map = useRef<SVGSVGElement>(null);
  /** Position of the pointer that holds the map; null while none does. */
  const held = useRef<{ x: number; y: number } | null>(null);
  const [isHeld, setHeld] = useState(false);

  const rects = useMemo(() => nodes.map(rectOf), [nodes]);
  const bounds = useMemo(() => boundsOf(rects), [rects]);
  const corner = {
    x: width - SIZE.width - 2 * MARGIN,
    y: height - SIZE.height - 2 * MARGIN,
    width: SIZE.width + 2 * MARGIN,
    height: SIZE.height + 2 * MARGIN
  };
  const hasRoom = width >= LEAST.width && height >= LEAST.height;
  // While it is dragged it stays, although layers come under it.
  const isShown =
    bounds !== null &&
    (isHeld ||
      (hasRoom && isUseful(rects, transform, { width, height }, corner)));

  const [left, top, zoom] = transform;
  const view = {
    x: -left / zoom,
    y: -top / zoom,
    width: width / zoom,
    height: height / zoom
  };
  const { x, y, units } = scaleFor(bounds ? unionOf(bounds, view) : view, SIZE);
  const paths = useMemo(() => {
    const scale = { x, y, units };
    const byKind = new Map(KINDS.map(kind => [kind, [] as Rect[]]));
    if (isShown) {
      nodes.forEach((node, at) => byKind.get(kindOf(node))?.push(rects[at]));
    }
    return [...byKind].map(([kind, some]) => ({
      kind,
      path: pathOf(some, scale)
    }));
  }, [nodes, rects, isShown, x, y, units]);

  // React's own listener for the wheel cannot keep the page from scrolling.
  useEffect(() => {
    const turn = (event: WheelEvent) => {
      event.preventDefault();
      event.stopPropagation();
      void flow.zoomTo(flow.getZoom() * 2 ** (-event.deltaY * WHEEL));
    };
    const element = map.current;
    element?.addEventListener('wheel', turn, { passive: false });
    return () => element?.removeEventListener('wheel', turn);
  }, [flow, isShown]);

  if (!isShown) {
    return null;
  }

  const hold = (event: PointerEvent<SVGSVGElement>) => {
    if (event.button === 0) {
      event.currentTarget.setPointerCapture(event.pointerId);
      held.current = { x: event.clientX, y: event.clientY };
      setHeld(true);
    }
  };
  const drag = (event: PointerEvent<SVGSVGElement>) => {
    if (!held.current) {
      return;
    }
    const now = flow.getViewport();
    const along = units * now.zoom;
    void flow.setViewport({
      ...now,
      x: now.x - (event.clientX - held.current.x) * along,
      y: now.y - (event.clientY - held.current.y) * along
    });
    held.current = { x: event.clientX, y: event.clientY };
  };
  const release = () => {
    held.current = null;
    setHeld(false);
  };

  const pixels = {
    x: (view.x - x) / units,
    y: (view.y - y) / units,
    width: view.width / units,
    height: view.height / units
  };
  return (
    <Panel position="bottom-right" className="react-flow__minimap">
      <svg
        ref={map}
        className="react-flow__minimap-svg"
        {...SIZE}
        role="img"
        aria-label={trans.__('Overview')}
        onPointerDown={hold}
        onPointerMove={drag}
        onPointerUp={release}
        onPointerCancel={release}
      >
        {paths.map(({ kind, path }) => (
          <path
            key={kind}
            className={`react-flow__minimap-node ${kind}`}
            shapeRendering="crispEdges"
            d={path}
          />
        ))}
        <path
          className="react-flow__minimap-mask"
          fillRule="evenodd"
          pointerEvents="none"
          d={`M0 0h${SIZE.width}v${SIZE.height}h${-SIZE.width}zM${pixels.x} ${pixels.y}h${pixels.width}v${pixels.height}h${-pixels.width}z`}
        />
      </svg>
    </Panel>
  );
});

/** Classes of nodes, in the order in which they are drawn. */
const KINDS = ['labdl-mod-note', 'labdl-mod-layer', 'labdl-mod-selected'];

function kindOf({ selected, type }: CanvasNode): string {
  const [note, layer, selection] = KINDS;
  return type === 'note' ? note : selected ? selection : layer;
}
