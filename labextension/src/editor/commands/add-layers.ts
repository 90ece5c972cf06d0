// Adds layers: behind the selection, at a position, or into an edge.
import type { EditorActions, Surroundings } from './actions';
import { edgesInto } from '../model/connect';
import { Around, Change } from '../model/document';
import { applyFix } from './fixes';
import { pasteFragment } from '../model/fragment';
import { framesOf } from '../blocks/frame-geometry';
import {
  cornerAt,
  edgesAt,
  middleOf,
  roomInside,
  Spot
} from '../model/insertion';
import { Direction, Size } from '../canvas/node-size';
import { GraphData, Json, Position } from '../model/graph-data';
import { newId } from '../model/naming';
import { blockId, commonPath, isInside, parentOf } from '../model/paths';
import { centerAt, freePlace, GAP, placeAfter } from '../canvas/placement';
import { edgesBehind, endIn } from '../canvas/scene';

type Adding = Pick<
  EditorActions,
  'addLayer' | 'addLayerAt' | 'applyFix' | 'openMenu'
>;

export function makeAdding(
  now: () => Surroundings,
  selected: () => string[]
): Adding {
  /** The selected edge, if nothing else is selected. */
  const selectedEdge = (): string | undefined => {
    const { scene, selection } = now();
    const { nodes, edges } = selection.state();
    const [edge] = edges;
    const isOnly = nodes.size === 0 && edges.size === 1;
    return isOnly && scene.graph.edges[edge] ? edge : undefined;
  };

  /** Position of a layer that was added without one. */
  const nextPlace = (): Position => {
    const { places, direction, middle, sizeOf } = now();
    // A node that was just added may not be drawn yet.
    const last = selected()
      .filter(id => places[id])
      .pop();
    return last
      ? placeAfter(places[last], direction, sizeOf(last))
      : centerAt(middle());
  };

  /** Maps the edges between drawn nodes to edges of the graph. */
  const behind = ({
    incoming,
    outgoing,
    replaced,
    ...rest
  }: Around): Around => {
    const { document, scene } = now();
    const graph = document.snapshot();
    return {
      ...rest,
      incoming: incoming?.map(edge => {
        const [source, source_port] = endIn(edge.source, edge.source_port);
        return { ...edge, source, source_port };
      }),
      outgoing: outgoing?.flatMap(edge =>
        edgesBehind({ ...edge, source: '' }, graph)
      ),
      replaced: replaced?.flatMap(scene.edgesOf)
    };
  };

  /** Adds a layer or a saved block; returns the id under which it is drawn. */
  const put = (
    type: string,
    params: { [key: string]: Json } | undefined,
    position: Position,
    home: string,
    around: Around
  ): string => {
    const { document, kept } = now();
    const fragment = kept(type);
    if (!fragment) {
      return document.addNode({ type, position, params, home }, behind(around));
    }
    const graph = document.snapshot();
    const { change, ids, root } = pasteFragment(fragment, graph, home, [0, 0]);
    const real = behind(around);
    const end = (port: string): [string, string] => {
      const [id, name] = endIn('/', port);
      return [ids.get(id) ?? id, name];
    };
    const links = [
      ...(real.incoming ?? []).map(edge => {
        const [target, target_port] = end(edge.target_port);
        return { ...edge, target, target_port };
      }),
      ...(real.outgoing ?? []).map(edge => {
        const [source, source_port] = end(edge.source_port);
        return { ...edge, source, source_port };
      })
    ];
    const edges: Change['edges'] = { ...change.edges };
    real.replaced?.forEach(id => (edges[id] = null));
    links.forEach(link => {
      edges[newId('e', { has: id => id in graph.edges || id in edges })] = link;
    });
    const box = blockId(root ?? '');
    document.patch({
      ...change,
      edges,
      positions: { ...real.moved, [box]: position }
    });
    return box;
  };

  /** Block for a new layer: that of its connected nodes, else the one at the point. */
  const homeOf = (spot: Spot | undefined, point: Position): string => {
    const { scene } = now();
    const { nodes, edges } = scene.graph;
    if (spot) {
      const edge = 'edge' in spot ? edges[spot.edge] : undefined;
      const ends = edge
        ? [edge.source, edge.target]
        : [
            'after' in spot
              ? spot.after.node
              : 'before' in spot
                ? spot.before.node
                : ''
          ];
      const names = ends.flatMap(id => nodes[id]?.name ?? []);
      const home = names.length ? commonPath(names) : scene.within;
      return isInside(`${home}/`, scene.within) ? home : scene.within;
    }
    return homeAt(point, now());
  };

  const adding: Adding = {
    addLayer(type) {
      const { layers, scene, selection, places, direction } = now();
      const schema = layers.get(type);
      if (!schema) {
        return null;
      }
      const graph: GraphData = scene.graph;
      const edge = selectedEdge();
      if (edge && schema.inputs.length && schema.outputs.length) {
        return adding.addLayerAt(type, middleOf(edge, graph, now()), { edge });
      }
      const { sizeOf } = now();
      const position = freePlace(nextPlace(), places, direction, sizeOf);
      const [first] = selected();
      const before = first && parentOf(graph.nodes[first].name);
      const home =
        before && isInside(before, scene.within) ? before : scene.within;
      const id = put(type, schema.initial, position, home, {
        incoming: edgesInto(schema, selected(), graph, scene.layers)
      });
      now().used(type);
      selection.set([id]);
      if (!now().isVisible(position)) {
        now().show([id]);
      }
      return id;
    },

    addLayerAt(type, point, spot, params = {}) {
      const { layers, scene, selection, direction } = now();
      const schema = layers.get(type);
      if (!schema) {
        return null;
      }
      const graph = scene.graph;
      const around = spot ? edgesAt(schema, spot, graph, scene.layers) : {};
      let position = cornerAt(point, spot, direction);
      if (spot && 'edge' in spot && around.incoming) {
        const room = roomInside(spot.edge, position, graph, now());
        position = room.position;
        around.moved = room.moved;
      }
      const id = put(
        type,
        { ...schema.initial, ...params },
        position,
        homeOf(spot, point),
        around
      );
      now().used(type);
      selection.set([id]);
      return id;
    },

    applyFix(fix) {
      const { document, layers, scene, places, sizeOf } = now();
      if (fix.kind !== 'insert' && fix.kind !== 'add') {
        applyFix(fix, document);
        return;
      }
      const { type, params } = fix;
      const spot: Spot =
        fix.kind === 'insert'
          ? { edge: fix.edge }
          : { before: { node: fix.node, port: fix.port } };
      if ('edge' in spot && scene.graph.edges[spot.edge]) {
        const at = middleOf(spot.edge, scene.graph, now());
        adding.addLayerAt(type, at, spot, params);
      } else if ('before' in spot && places[spot.before.node]) {
        const { node } = spot.before;
        const at = beforeNode(places[node], sizeOf(node), now().direction);
        adding.addLayerAt(type, at, spot, params);
      } else {
        // The node is inside a folded block.
        const schema = layers.get(type);
        const graph = document.snapshot();
        if (schema) {
          const around = edgesAt(schema, spot, graph, layers);
          const ends = [
            ...(around.incoming ?? []).map(edge => edge.source),
            ...(around.outgoing ?? []).map(edge => edge.target)
          ];
          const home = commonPath(ends.map(id => graph.nodes[id].name));
          document.addNode(
            { type, params: { ...schema.initial, ...params }, home },
            around
          );
        }
      }
    },

    openMenu(request) {
      if (request) {
        now().openMenu(request);
        return;
      }
      const { scene, isVisible, middle } = now();
      const edge = selectedEdge();
      const at = edge ? middleOf(edge, scene.graph, now()) : nextPlace();
      now().openMenu({ at: isVisible(at) ? at : centerAt(middle()) });
    }
  };
  return adding;
}

/** The innermost open block at a point. */
export function homeAt(
  [x, y]: Position,
  { scene, places, sizeOf }: Pick<Surroundings, 'scene' | 'places' | 'sizeOf'>
): string {
  const { nodes } = scene.graph;
  const placed = Object.keys(nodes)
    .filter(id => places[id] && !scene.outside.has(id))
    .map(id => ({ name: nodes[id].name, at: places[id], size: sizeOf(id) }));
  const holding = [...framesOf(scene.frames, placed)]
    .filter(
      ([, rect]) =>
        x >= rect.x &&
        x <= rect.x + rect.width &&
        y >= rect.y &&
        y <= rect.y + rect.height
    )
    .map(([path]) => path)
    .sort((a, b) => b.length - a.length);
  return holding[0] ?? scene.within;
}

/** Start of a straight link into a node. */
function beforeNode(
  [left, top]: Position,
  { width, height }: Size,
  direction: Direction
): Position {
  return direction === 'down'
    ? [left + width / 2, top - GAP]
    : [left - GAP, top + height / 2];
}
