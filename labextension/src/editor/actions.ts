// Everything the editor can be told to do, by a key, a button or a command of the host.
import { makeAdding } from './adding';
import { aligned, Alignment } from './alignment';
import { readClipboard, writeClipboard } from './clipboard';
import { GraphDocument } from './document';
import {
  Fragment,
  fragmentFromText,
  fragmentOf,
  fragmentToText
} from './fragment';
import { Spot } from './insertion';
import { Direction, layout, Size } from './layout';
import { Fix, Json, LayerTable, Position } from './model';
import { READABLE } from './openView';
import { centred } from './placement';
import { SelectionStore } from './selection';
import { Translator } from './translator';

export interface EditorActions {
  undo(): void;
  redo(): void;
  cut(): Promise<void>;
  copy(): Promise<void>;
  paste(): Promise<void>;
  duplicate(): void;
  deleteSelection(): void;
  selectAll(): void;
  clearSelection(): void;
  /** Selects nodes and brings them into view. */
  selectNodes(ids: string[]): void;
  /** The ids of the selected nodes. */
  selectedNodes(): string[];
  /** Calls back when the selection changed. */
  onSelection(listener: () => void): () => void;
  /** Arranges all nodes; without a direction, in the present one. */
  autoLayout(direction?: Direction): void;
  fit(): void;
  /** The view as on opening: all of the graph if that is readable, else its beginning. */
  openView(): void;
  zoomIn(): void;
  zoomOut(): void;
  /** Adds a layer after the selection, or into the selected edge, and connects it; returns the node's id. */
  addLayer(type: string): string | null;
  /** Adds a layer where a person pointed, connected as the place in the graph asks. */
  addLayerAt(
    type: string,
    point: Position,
    spot?: Spot,
    params?: { [key: string]: Json }
  ): string | null;
  /** Puts the selected nodes in a line, or at equal distances. */
  align(how: Alignment): void;
  /** Makes a change that mends a problem. */
  mend(fix: Fix): void;
  /** Opens the menu of layers; without a request, for a layer after the selection. */
  openMenu(request?: MenuRequest): void;
  /** Asks the host for the layers again. */
  reloadLayers(): void;
  /** Checks the graph again. */
  check(): void;
  /** Shows the model as Python source. */
  showCode(): void;
  /** Puts the keyboard's focus on the canvas. */
  focus(): void;
}

/** What the menu of layers is opened for. */
export interface MenuRequest {
  /** The point of the graph at which it opens. */
  at: Position;
  /** What the layer is connected to there; without it, the selection. */
  spot?: Spot;
  /** Where the link begins that was drawn to that point. */
  from?: Position;
}

/** What the actions work on, as it is at the moment of the call. */
export interface Surroundings {
  document: GraphDocument;
  layers: LayerTable;
  selection: SelectionStore;
  direction: Direction;
  trans: Translator;
  /** Where every node is drawn. */
  places: { [id: string]: Position };
  sizeOf(id: string): Size;
  /** The middle of the visible part of the canvas. */
  middle(): Position;
  isVisible(position: Position): boolean;
  setDirection(direction: Direction): void;
  say(notice: string): void;
  fit(): void;
  /** Brings a graph that was arranged anew into view, whole down to a zoom. */
  openAgain(leastZoom?: number): void;
  show(ids: string[]): void;
  zoomIn(): void;
  zoomOut(): void;
  reloadLayers(): void;
  check(): void;
  showCode(): void;
  openMenu(request: MenuRequest): void;
  /** Notes that a layer was chosen. */
  used(type: string): void;
  focus(): void;
}

const PASTE_SHIFT = 40;

export function makeActions(now: () => Surroundings): EditorActions {
  const selected = () => {
    const { document, selection } = now();
    const { nodes } = document.snapshot();
    return Object.keys(nodes).filter(id => selection.state().nodes.has(id));
  };

  const piece = (): Fragment | null => {
    const { document, places } = now();
    const ids = selected();
    return ids.length ? fragmentOf(document.snapshot(), ids, places) : null;
  };

  const insert = (fragment: Fragment) => {
    const { document, selection, places, show, isVisible } = now();
    const offset = pasteOffset(fragment, places, now());
    const ids = document.paste(fragment, offset);
    selection.set(ids);
    const at = document.snapshot().positions;
    if (!ids.some(id => isVisible(at[id]))) {
      show(ids);
    }
  };

  const actions: EditorActions = {
    undo: () => now().document.undo(),
    redo: () => now().document.redo(),

    async copy() {
      const fragment = piece();
      if (fragment) {
        await writeClipboard(fragmentToText(fragment));
      }
    },

    async cut() {
      const fragment = piece();
      if (fragment) {
        now().document.remove(Object.keys(fragment.nodes));
        await writeClipboard(fragmentToText(fragment));
      }
    },

    async paste() {
      for (const text of await readClipboard()) {
        const fragment = fragmentFromText(text);
        if (fragment) {
          insert(fragment);
          return;
        }
      }
      const { say, trans } = now();
      say(trans.__('There are no copied layers to paste.'));
    },

    duplicate() {
      const fragment = piece();
      if (fragment) {
        insert(fragment);
      }
    },

    deleteSelection() {
      const { document, selection } = now();
      const { nodes, edges } = selection.state();
      if (nodes.size || edges.size) {
        document.remove(nodes, edges);
        selection.clear();
      }
    },

    selectAll() {
      const { document, selection } = now();
      const { nodes, edges } = document.snapshot();
      selection.set(Object.keys(nodes), Object.keys(edges));
    },

    clearSelection: () => now().selection.clear(),

    selectNodes(ids) {
      now().selection.set(ids);
      now().show(ids);
    },

    selectedNodes: selected,

    onSelection: listener => now().selection.subscribe(listener),

    autoLayout(wanted) {
      const { document, sizeOf, openAgain, setDirection } = now();
      const direction = wanted ?? now().direction;
      setDirection(direction);
      document.move(layout(document.snapshot(), direction, sizeOf));
      openAgain();
    },

    align(how) {
      const { document, places, sizeOf } = now();
      const ids = selected();
      const nodes = Object.fromEntries(
        ids.map(id => [id, { position: places[id], size: sizeOf(id) }])
      );
      if (ids.length > 1) {
        // Nodes that had no position keep the place they were shown at.
        document.move({ ...places, ...aligned(nodes, how) });
      }
    },

    ...makeAdding(now, selected),

    fit: () => now().fit(),
    openView: () => now().openAgain(READABLE),
    zoomIn: () => now().zoomIn(),
    zoomOut: () => now().zoomOut(),
    reloadLayers: () => now().reloadLayers(),
    check: () => now().check(),
    showCode: () => now().showCode(),
    focus: () => now().focus()
  };
  return actions;
}

/** Beside the original; in the middle of the view if that is elsewhere. */
function pasteOffset(
  fragment: Fragment,
  places: { [id: string]: Position },
  { isVisible, middle }: Surroundings
): Position {
  const corners = Object.values(fragment.positions);
  const [left, top] = corners.reduce(
    (least, [x, y]) => [Math.min(least[0], x), Math.min(least[1], y)],
    [Infinity, Infinity]
  );
  if (!Number.isFinite(left)) {
    return middle();
  }
  if (!corners.some(isVisible)) {
    const [x, y] = centred(middle());
    return [x - left, y - top];
  }
  const taken = Object.values(places);
  for (let shift = PASTE_SHIFT; ; shift += PASTE_SHIFT) {
    const isHidden = taken.some(
      ([x, y]) =>
        Math.abs(x - left - shift) < 10 && Math.abs(y - top - shift) < 10
    );
    if (!isHidden) {
      return [shift, shift];
    }
  }
}
