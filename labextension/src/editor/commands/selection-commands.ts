// The commands that select layers: their names, their keys and what they select.
import { Scene } from '../canvas/scene';
import { GraphData } from '../model/graph-data';
import { visibleNotes } from '../notes/notes';
import { Selected } from '../model/selection';
import { Translator } from '../../ui/translator';
import type { Surroundings } from './actions';

export interface SelectionCommand {
  id: string;
  label(trans: Translator): string;
  caption(trans: Translator): string;
  /** Its keystrokes on the canvas, as in `Shortcut`. */
  keys: string[];
  select(editor: Surroundings): Selected;
}

/** The command palette and the keys of the canvas list these. */
export const SELECTION_COMMANDS: SelectionCommand[] = [
  {
    id: 'select-all',
    label: trans => trans.__('Select All'),
    caption: trans => trans.__('Select all layers'),
    keys: ['Accel A'],
    select({ document, scene }) {
      const { nodes, edges } = scene.graph;
      const notes = visibleNotes(document.snapshot(), scene);
      return {
        nodes: new Set(Object.keys({ ...nodes, ...notes })),
        edges: new Set(Object.keys(edges))
      };
    }
  },
  {
    id: 'select-downstream',
    label: trans => trans.__('Select Downstream Layers'),
    caption: trans =>
      trans.__('Select all layers that depend on the selected ones'),
    keys: ['Shift D'],
    select({ document, scene, selection }) {
      const { nodes, edges } = selection.state();
      const found = downstream(document.snapshot(), scene, nodes);
      return { nodes: new Set([...nodes, ...found]), edges };
    }
  }
];

/** The drawn nodes with a layer that depends on one of these, directly or not. */
function downstream(
  graph: GraphData,
  scene: Scene,
  chosen: Iterable<string>
): string[] {
  const targets = new Map<string, string[]>();
  for (const { source, target } of Object.values(graph.edges)) {
    targets.set(source, [...(targets.get(source) ?? []), target]);
  }
  // A set visits what is added while it is walked.
  const start = [...chosen].flatMap(
    id => scene.blocks.get(id)?.members ?? [id]
  );
  const reached = new Set(start.flatMap(id => targets.get(id) ?? []));
  for (const id of reached) {
    (targets.get(id) ?? []).forEach(target => reached.add(target));
  }
  return [...reached]
    .map(id => scene.drawnAs(id) ?? id)
    .filter(id => scene.graph.nodes[id]);
}
