// List of differences with descriptions, in the order of the canvas.
import { Difference, DiffSideName, MarkKind, Pair } from './diff-data';
import { DiffLayout } from './diff-layout';
import { formatValue } from '../../forms/field-text';
import { GraphData } from '../model/graph-data';
import { isBlock } from '../model/paths';
import { Translator } from '../../ui/translator';

export interface ChangeEntry {
  kind: MarkKind;
  /** Name of the layer, block or connection. */
  title: string;
  /** Description of the change. */
  words: string;
  /** Id of the drawn node; null if it is not drawn. */
  drawn: string | null;
}

/** Mark above a node. */
export interface Mark {
  kind: MarkKind;
  words: string;
}

export interface Marks {
  nodes: ReadonlyMap<string, Mark>;
  edges: ReadonlyMap<string, MarkKind>;
}

/** "kernel_size: 3 → 5". */
function pairWords(name: string, [was, is]: Pair, trans: Translator): string {
  const text = (value: Pair[0]) =>
    value === null ? trans.__('nothing') : formatValue(value);
  return trans.__('%1: %2 → %3', name, text(was), text(is));
}

function settingWords(
  settings: { [name: string]: Pair },
  trans: Translator
): string {
  return Object.entries(settings)
    .map(([name, pair]) => pairWords(name, pair, trans))
    .join(', ');
}

/** Marks of the nodes and edges of one side, by their ids there. */
export function marksOf(
  side: DiffSideName,
  old: GraphData,
  next: GraphData,
  difference: Difference,
  trans: Translator
): Marks {
  const isOld = side === 'old';
  const nodes = new Map<string, Mark>();
  const edges = new Map<string, MarkKind>();
  for (const [was, is] of difference.renamed) {
    const words = isOld
      ? trans.__('now %1', next.nodes[is].name)
      : trans.__('was %1', old.nodes[was].name);
    nodes.set(isOld ? was : is, { kind: 'renamed', words });
  }
  for (const change of difference.changed) {
    const id = isOld ? change.old : change.new;
    const words = [settingWords(change.settings, trans)];
    const renamed = nodes.get(id)?.words;
    nodes.set(id, {
      kind: 'changed',
      words: words.concat(renamed ?? []).join(', ')
    });
  }
  const kind = isOld ? 'removed' : 'added';
  const words = isOld ? trans.__('removed') : trans.__('added');
  for (const id of isOld ? difference.removed : difference.added) {
    nodes.set(id, { kind, words });
  }
  const ids = isOld ? difference.removed_edges : difference.added_edges;
  ids.forEach(id => edges.set(id, kind));
  return { nodes, edges };
}

export function changesOf(
  old: GraphData,
  next: GraphData,
  difference: Difference,
  layout: DiffLayout,
  trans: Translator
): ChangeEntry[] {
  const { scene, union, places } = layout;
  const onNew = marksOf('new', old, next, difference, trans).nodes;
  const entries: ChangeEntry[] = [];
  const boxes = new Map<string, number>();
  for (const [id, kind] of union.marks) {
    const drawn = scene.drawnAs(id) ?? null;
    if (drawn !== null && isBlock(drawn)) {
      boxes.set(drawn, (boxes.get(drawn) ?? 0) + 1);
      continue; // listed as part of the block
    }
    const words =
      kind === 'removed' ? trans.__('removed') : (onNew.get(id)?.words ?? '');
    entries.push({ kind, title: union.graph.nodes[id].name, words, drawn });
  }
  for (const [drawn, count] of boxes) {
    entries.push(blockEntry(drawn, count, layout, trans));
  }
  const shared = new Set(Object.values(difference.same));
  const known = new Set<string>();
  const addEdge = (kind: MarkKind, from: string, to: string) => {
    if (!shared.has(from) || !shared.has(to)) {
      return; // added or removed together with a layer
    }
    const [source, target] = [from, to].map(id => scene.drawnAs(id) ?? id);
    const key = `${kind} ${source} ${target}`;
    if (known.has(key)) {
      return; // several edges that are drawn as one
    }
    known.add(key);
    const nameOf = (id: string) => scene.graph.nodes[id]?.name ?? id;
    entries.push({
      kind,
      title: `${nameOf(source)} → ${nameOf(target)}`,
      words:
        kind === 'removed'
          ? trans.__('connection removed')
          : trans.__('connection added'),
      drawn: target
    });
  };
  for (const id of difference.removed_edges) {
    const { source, target } = old.edges[id];
    addEdge('removed', union.idOf(source), union.idOf(target));
  }
  for (const id of difference.added_edges) {
    addEdge('added', next.edges[id].source, next.edges[id].target);
  }

  const placeOf = ({ drawn }: ChangeEntry) => places[drawn ?? ''] ?? [0, 0];
  entries.sort((a, b) => {
    const [[ax, ay], [bx, by]] = [placeOf(a), placeOf(b)];
    return ay - by || ax - bx;
  });
  return [...aboutTheModel(difference, trans), ...entries];
}

/** Differences that are not visible on the canvas. */
function aboutTheModel(
  { name, classes, ties }: Difference,
  trans: Translator
): ChangeEntry[] {
  const entry = (title: string, words: string): ChangeEntry => ({
    kind: 'changed',
    title,
    words,
    drawn: null
  });
  return [
    ...(name
      ? [entry(trans.__('Model'), pairWords(trans.__('name'), name, trans))]
      : []),
    ...Object.entries(classes).map(([path, pair]) =>
      entry(path, pairWords(trans.__('class'), pair, trans))
    ),
    ...Object.entries(ties).map(([path, pair]) =>
      entry(path, pairWords(trans.__('tied to'), pair, trans))
    )
  ];
}

function blockEntry(
  drawn: string,
  count: number,
  { scene, union }: DiffLayout,
  trans: Translator
): ChangeEntry {
  const members = scene.blocks.get(drawn)?.members ?? [];
  const kinds = new Set(members.map(id => union.marks.get(id)));
  const [kind] = kinds;
  const title = scene.graph.nodes[drawn].name;
  if (kinds.size === 1 && kind === 'added') {
    const words = trans._n('%1 layer added', '%1 layers added', count);
    return { kind, title, words, drawn };
  }
  if (kinds.size === 1 && kind === 'removed') {
    const words = trans._n('%1 layer removed', '%1 layers removed', count);
    return { kind, title, words, drawn };
  }
  const words = trans._n(
    '%1 layer in this block differs',
    '%1 layers in this block differ',
    count
  );
  return { kind: 'changed', title, words, drawn };
}
