// Actions on blocks: group, ungroup, fold, unfold, enter, repeat, add to the palette.
import type { EditorActions, Surroundings } from '../commands/actions';
import { portsOf } from '../model/connect';
import { Drawn, collapseBlock, expandBlock, expandRequest } from './collapse';
import { fragmentOf } from '../model/fragment';
import {
  applyChange,
  groupNodes,
  groupingRefusal,
  mergeChanges,
  renamePaths,
  repeatBlock,
  repeatingRefusal,
  ungroupBlock
} from './grouping';
import { Places } from '../canvas/layout-request';
import { NODE_SIZE } from '../canvas/node-size';
import { Notes, notesAmong } from '../notes/notes';
import { Position } from '../model/graph-data';
import { blockId, isInside, nameIn, parentOf, wordOf } from '../model/paths';
import { GAP } from '../canvas/placement';
import {
  drawnInside,
  nodesOf,
  sceneOf,
  selectedBlockOf
} from '../canvas/scene';

type BlockActions = Pick<
  EditorActions,
  | 'group'
  | 'ungroup'
  | 'fold'
  | 'unfold'
  | 'enter'
  | 'leave'
  | 'selectBlock'
  | 'selectedBlock'
  | 'repeat'
  | 'keepBlock'
>;

export function makeBlockActions(
  now: () => Surroundings,
  drawn: () => string[]
): BlockActions {
  const picture = (): Drawn => ({ ...now(), graph: now().document.snapshot() });

  /** Block of the selection: the selected block, else the block around the first selected node. */
  const blockAtHand = (): string | null => {
    const whole = blocks.selectedBlock();
    if (whole !== null) {
      return whole;
    }
    const { scene } = now();
    const [first] = drawn();
    const home = first ? parentOf(scene.graph.nodes[first].name) : '';
    return home && isInside(home, scene.within) ? home : null;
  };

  /** Positions for the contents of these folded blocks, where missing; null if the host failed. */
  const arrangeInside = async (
    paths: string[]
  ): Promise<Map<string, Places> | null> => {
    const inside = new Map<string, Places>();
    const answers = await Promise.all(
      paths.map(async path => {
        const request = expandRequest(path, picture());
        const places = request ? await now().arrange(request) : {};
        return places && inside.set(path, places);
      })
    );
    return answers.includes(null) ? null : inside;
  };

  const isFoldedNow = (path: string) => now().scene.blocks.has(blockId(path));

  const sayNoBlock = () => {
    const { say, trans } = now();
    say(trans.__('Select a block or a layer in a block.'));
  };

  const blocks: BlockActions = {
    group() {
      const { document, scene, selection, say, trans } = now();
      const graph = document.snapshot();
      const ids = nodesOf(scene, drawn());
      const reason = groupingRefusal(graph, ids, trans);
      if (reason !== null) {
        say(reason);
        return;
      }
      const { path, change } = groupNodes(graph, ids);
      // Nodes without a position keep the one they are drawn at.
      const places = placesIn(now());
      const { notes = {} } = graph;
      const taken = notesAmong(graph, selection.state().nodes);
      const home = taken.map(id => [id, { ...notes[id], home: path }]);
      document.patch(
        mergeChanges(
          { positions: places },
          mergeChanges(change, { notes: Object.fromEntries(home) as Notes })
        )
      );
      const after = sceneOf(document.snapshot(), now().layers, scene.within);
      selection.set(drawnInside(after, path));
    },

    async ungroup(path = blockAtHand() ?? undefined) {
      if (path === undefined) {
        sayNoBlock();
        return;
      }
      const inside = await arrangeInside(isFoldedNow(path) ? [path] : []);
      if (!inside) {
        return;
      }
      const { document, scene, setWithin } = now();
      const graph = document.snapshot();
      const open = isFoldedNow(path)
        ? expandBlock(path, picture(), inside.get(path))
        : { positions: placesIn(now()) };
      const change = ungroupBlock(applyChange(graph, open), path);
      document.patch(mergeChanges(open, change));
      if (scene.within === path || isInside(scene.within, path)) {
        setWithin(parentOf(path));
      }
    },

    fold(path = blockAtHand() ?? undefined) {
      if (path === undefined || now().scene.blocks.has(blockId(path))) {
        sayNoBlock();
        return;
      }
      now().document.patch(collapseBlock(path, picture()));
      now().selection.set([blockId(path)]);
    },

    async unfold(path) {
      const chosen =
        path === undefined
          ? drawn().flatMap(id => now().scene.blocks.get(id)?.path ?? [])
          : [path];
      if (chosen.length === 0) {
        sayNoBlock();
        return;
      }
      const inside = await arrangeInside(chosen);
      if (!inside) {
        return;
      }
      const { document, scene, selection } = now();
      const paths = chosen.filter(isFoldedNow);
      // One undo step for all blocks.
      let drawing = picture();
      let change = {};
      for (const one of paths) {
        const next = expandBlock(one, drawing, inside.get(one));
        change = mergeChanges(change, next);
        const graph = applyChange(drawing.graph, next);
        drawing = {
          ...drawing,
          graph,
          scene: sceneOf(graph, drawing.layers, scene.within),
          places: graph.positions
        };
      }
      document.patch(change);
      selection.set(paths.flatMap(one => drawnInside(drawing.scene, one)));
    },

    enter(path) {
      now().selection.clear();
      now().setWithin(path);
    },

    leave() {
      const { within } = now().scene;
      if (within) {
        now().setWithin(parentOf(within));
        setTimeout(() => blocks.selectBlock(within));
      }
    },

    selectBlock(path) {
      const { scene, selection } = now();
      const box = blockId(path);
      selection.set(scene.blocks.has(box) ? [box] : drawnInside(scene, path));
    },

    selectedBlock: () =>
      selectedBlockOf(now().scene, now().selection.state().nodes),

    repeat(path, times) {
      const { document, layers, scene, direction, say, trans } = now();
      const graph = document.snapshot();
      const reason = repeatingRefusal(graph, path, trans);
      if (reason !== null) {
        say(reason);
        return;
      }
      // Repeated blocks are easier to read folded.
      const isFolded = scene.blocks.has(blockId(path));
      const start = isFolded
        ? { positions: placesIn(now()) }
        : collapseBlock(path, picture());
      const step: Position =
        direction === 'down'
          ? [0, NODE_SIZE.height + GAP]
          : [NODE_SIZE.width + GAP, 0];
      const outputOf = (id: string) =>
        portsOf(id, layers.get(graph.nodes[id].type), graph).outputs[0]?.name ??
        'output';
      const base = applyChange(graph, start);
      const change = repeatBlock(base, path, times, step, outputOf);
      const room = roomAfter(base, path, times - 1, step);
      document.patch(
        mergeChanges(mergeChanges(start, { positions: room }), change)
      );
      const last = now().scene;
      const boxes = Object.keys(change.groups ?? {}).map(blockId);
      now().selection.set(boxes.filter(id => last.blocks.has(id)));
    },

    keepBlock(path) {
      const { document, keep, say, trans } = now();
      const graph = document.snapshot();
      const nodes = Object.fromEntries(
        Object.entries(graph.nodes).filter(([, { name }]) =>
          isInside(name, path)
        )
      );
      // The palette keeps the block as if it were at the top level of the model.
      const alone = { ...graph, nodes, positions: {} };
      const moved = applyChange(
        alone,
        renamePaths(alone, name => nameIn(name, parentOf(path)))
      );
      const word = wordOf(path);
      say(
        keep(word, fragmentOf(moved, Object.keys(nodes)))
          ? trans.__('%1 has been added to the palette under “Blocks”.', word)
          : trans.__(
              'The palette is full: remove blocks before you add %1.',
              word
            )
      );
    }
  };
  // The clicked element may be removed, so the canvas takes the focus.
  for (const name of [
    'group',
    'ungroup',
    'fold',
    'unfold',
    'enter',
    'repeat'
  ] as const) {
    const act = blocks[name] as (...given: unknown[]) => unknown;
    (blocks as { [name: string]: typeof act })[name] = (
      ...given: unknown[]
    ) => {
      const done = act(...given);
      if (done instanceof Promise) {
        return done.then(() => now().focus());
      }
      now().focus();
      return done;
    };
  }
  return blocks;
}

/** Positions of the drawn nodes, without those outside the entered block. */
function placesIn({ places, scene }: Surroundings) {
  return Object.fromEntries(
    Object.entries(places).filter(([id]) => !scene.outside.has(id))
  );
}

/** New positions of the nodes behind a folded block that is repeated. */
function roomAfter(
  graph: Drawn['graph'],
  path: string,
  more: number,
  step: Position
): { [id: string]: Position } {
  const begin = graph.positions[blockId(path)];
  const axis = step[0] ? 0 : 1;
  const moved: { [id: string]: Position } = {};
  for (const [id, place] of Object.entries(graph.positions)) {
    if (begin && id !== blockId(path) && place[axis] > begin[axis]) {
      const next: Position = [...place];
      next[axis] += step[axis] * more;
      moved[id] = next;
    }
  }
  return moved;
}
