// New layers: after the selection, at a place a person pointed at, or inside an edge.
import type { EditorActions, Surroundings } from './actions';
import { edgesInto } from './connect';
import { applyFix } from './fixes';
import { cornerAt, edgesAt, middleOf, roomInside } from './insertion';
import { Direction, Size } from './layout';
import { Position } from './model';
import { centred, freePlace, GAP, placeAfter } from './placement';

type Adding = Pick<
  EditorActions,
  'addLayer' | 'addLayerAt' | 'mend' | 'openMenu'
>;

export function makeAdding(
  now: () => Surroundings,
  selected: () => string[]
): Adding {
  /** The edge that is selected, if nothing else is. */
  const selectedEdge = (): string | undefined => {
    const { document, selection } = now();
    const { nodes, edges } = selection.state();
    const [edge] = edges;
    const isOnly = nodes.size === 0 && edges.size === 1;
    return isOnly && document.snapshot().edges[edge] ? edge : undefined;
  };

  /** Where a layer goes that nobody gave a place. */
  const nextPlace = (): Position => {
    const { places, direction, middle, sizeOf } = now();
    // A node that was added a moment ago may not be drawn yet.
    const last = selected()
      .filter(id => places[id])
      .pop();
    return last
      ? placeAfter(places[last], direction, sizeOf(last))
      : centred(middle());
  };

  const adding: Adding = {
    addLayer(type) {
      const { document, layers, selection, places, direction } = now();
      const schema = layers.get(type);
      if (!schema) {
        return null;
      }
      const graph = document.snapshot();
      const edge = selectedEdge();
      if (edge && schema.inputs.length && schema.outputs.length) {
        return adding.addLayerAt(type, middleOf(edge, graph, now()), { edge });
      }
      const position = freePlace(nextPlace(), places, direction);
      const id = document.addNode(
        { type, position, params: schema.initial },
        { incoming: edgesInto(schema, selected(), graph, layers) }
      );
      now().used(type);
      selection.set([id]);
      if (!now().isVisible(position)) {
        now().show([id]);
      }
      return id;
    },

    addLayerAt(type, point, spot, params = {}) {
      const { document, layers, selection, direction } = now();
      const schema = layers.get(type);
      if (!schema) {
        return null;
      }
      const graph = document.snapshot();
      const around = spot ? edgesAt(schema, spot, graph, layers) : {};
      let position = cornerAt(point, spot, direction);
      if (spot && 'edge' in spot && around.incoming) {
        const room = roomInside(spot.edge, position, graph, now());
        position = room.position;
        around.moved = room.moved;
      }
      const id = document.addNode(
        { type, position, params: { ...schema.initial, ...params } },
        around
      );
      now().used(type);
      selection.set([id]);
      return id;
    },

    mend(fix) {
      const { document, places, sizeOf } = now();
      if (fix.kind === 'insert') {
        const at = middleOf(fix.edge, document.snapshot(), now());
        adding.addLayerAt(fix.type, at, { edge: fix.edge }, fix.params);
      } else if (fix.kind === 'add') {
        const spot = { before: { node: fix.node, port: fix.port } };
        const size = sizeOf(fix.node);
        const at = beforeNode(places[fix.node], size, now().direction);
        adding.addLayerAt(fix.type, at, spot, fix.params);
      } else {
        applyFix(fix, document);
      }
    },

    openMenu(request) {
      if (request) {
        now().openMenu(request);
        return;
      }
      const { document, isVisible, middle } = now();
      const edge = selectedEdge();
      const at = edge
        ? middleOf(edge, document.snapshot(), now())
        : nextPlace();
      now().openMenu({ at: isVisible(at) ? at : centred(middle()) });
    }
  };
  return adding;
}

/** Where a link would begin that comes straight from before a node. */
function beforeNode(
  [left, top]: Position,
  { width, height }: Size,
  direction: Direction
): Position {
  return direction === 'down'
    ? [left + width / 2, top - GAP]
    : [left - GAP, top + height / 2];
}
