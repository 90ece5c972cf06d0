// Actions of the editor, called by keys, buttons and the commands of a host.
import { makeAdding } from './add-layers';
import { alignNodes, Alignment } from './alignment';
import { makeBlockActions } from '../blocks/block-actions';
import { KernelClass } from '../code/kernel-classes';
import { readClipboard, writeClipboard } from '../../ui/clipboard';
import { GraphDocument } from '../model/document';
import {
  Fragment,
  fragmentFromText,
  fragmentOf,
  fragmentToText,
  pasteFragment
} from '../model/fragment';
import { Spot } from '../model/insertion';
import { Direction, Size } from '../canvas/node-size';
import { Fix, Json, LayerTable, Position } from '../model/graph-data';
import { linksBetween } from './link-layers';
import { LayoutRequest, layoutRequest, Places } from '../canvas/layout-request';
import { READABLE } from '../canvas/initial-view';
import { NoteEditing } from '../notes/note-editing';
import { placesOf } from '../notes/notes';
import { makeNoteActions } from '../notes/note-actions';
import { isBlock } from '../model/paths';
import { Reading } from '../code/source-editor';
import { pasteOffset } from './paste-position';
import { looksLikePython } from './paste-python';
import { makeSourceActions } from '../code/source-actions';
import { edgesBehind, nodesOf, Scene } from '../canvas/scene';
import { SelectionCommand } from './selection-commands';
import { SelectionStore } from '../model/selection';
import { Translator } from '../../ui/translator';

export interface EditorActions {
  undo(): void;
  redo(): void;
  cut(): Promise<void>;
  copy(): Promise<void>;
  paste(): Promise<void>;
  duplicate(): void;
  deleteSelection(): void;
  /** Selects what a command selects. */
  select(command: SelectionCommand): void;
  clearSelection(): void;
  /** Clears the selection; without one, leaves the entered block. */
  escape(): void;
  /** Selects nodes and scrolls them into view. */
  selectNodes(ids: string[]): void;
  /** Ids of the selected nodes. */
  selectedNodes(): string[];
  /** Ids of the selected notes. */
  selectedNotes(): string[];
  /** Adds a note at the pointer, or in the center of the view, and starts editing it. */
  addNote(): void;
  /** Adds a note around the selection. */
  frameSelection(): void;
  /** Adds the layers of Python source at a point of the page, or in the center of the view. */
  addSource(source: string, point?: { x: number; y: number }): Promise<void>;
  /** Adds a model class of a kernel, or a layer that only the kernel knows. */
  addClass(chosen: KernelClass): Promise<void>;
  /** Asks for the classes of a kernel and shows them as a menu. */
  offerClasses(): Promise<void>;
  /** Shows a message in the status bar for a few seconds. */
  say(notice: string): void;
  /** Calls the listener when the selection changes. */
  onSelection(listener: () => void): () => void;
  /** Arranges all nodes; by default in the current direction. */
  autoLayout(direction?: Direction): Promise<void>;
  fit(): void;
  /** Resets the view: the whole graph if it is readable, else its start. */
  openView(): void;
  zoomIn(): void;
  zoomOut(): void;
  /** Adds a layer behind the selection or into the selected edge, and connects it; returns the node's id. */
  addLayer(type: string): string | null;
  /** Adds a layer at a position, connected according to `spot`. */
  addLayerAt(
    type: string,
    point: Position,
    spot?: Spot,
    params?: { [key: string]: Json }
  ): string | null;
  /** Aligns or distributes the selected nodes. */
  align(how: Alignment): void;
  /** Groups the selected nodes into a block. */
  group(): void;
  /** Ungroups a block; by default the selected ones. */
  ungroup(path?: string): Promise<void>;
  /** Folds a block into one node; by default the blocks of the selected nodes. */
  fold(path?: string): void;
  /** Opens a folded block; by default the selected ones. */
  unfold(path?: string): Promise<void>;
  /** Shows only the inside of a block; the whole model for an empty path. */
  enter(path: string): void;
  /** Returns from the entered block to the one around it. */
  leave(): void;
  /** Selects a block. */
  selectBlock(path: string): void;
  /** Path of the completely selected block; null if there is none. */
  selectedBlock(): string | null;
  /** Repeats a block in sequence. */
  repeat(path: string, times: number): void;
  /** Adds a block to the palette. */
  keepBlock(path: string): void;
  /** Connects each selected layer with the next, in the order of selection. */
  link(): void;
  /** Applies a fix. */
  applyFix(fix: Fix): void;
  /** Opens the quick menu; without a request, for a layer behind the selection. */
  openMenu(request?: MenuRequest): void;
  /** Reloads the layers from the host. */
  reloadLayers(): void;
  /** Checks the graph again. */
  check(): void;
  /** Shows the model as Python source. */
  showCode(): void;
  /** Shows the keys of the canvas, or hides them. */
  showShortcuts(): void;
  /** Opens the search field. */
  find(): void;
  /** Moves the focus to the canvas. */
  focus(): void;
}

/** Position and connection for a layer from the quick menu. */
export interface MenuRequest {
  /** Position in the graph. */
  at: Position;
  /** Connection of the layer; without it, the layer follows the selection. */
  spot?: Spot;
  /** Start of the link that was drawn to the position. */
  from?: Position;
}

/** State and services for the actions, read at each call. */
export interface Surroundings {
  document: GraphDocument;
  layers: LayerTable;
  selection: SelectionStore;
  direction: Direction;
  trans: Translator;
  /** The drawn part of the graph. */
  scene: Scene;
  /** Positions of all drawn nodes. */
  places: { [id: string]: Position };
  /** Enters a block. */
  setWithin(path: string): void;
  /** Adds a graph fragment to the palette; false if the storage is full. */
  keep(name: string, fragment: Fragment): boolean;
  /** The fragment of a saved block; undefined for a layer. */
  kept(type: string): Fragment | undefined;
  sizeOf(id: string): Size;
  /** Center of the visible part of the canvas. */
  middle(): Position;
  /** Pointer position in the graph; null if the pointer is not on the canvas. */
  pointer(): Position | null;
  /** Position in the graph for a point of the page. */
  at(point: { x: number; y: number }): Position;
  /** Asks for the classes of a kernel and shows them as a menu. */
  offerClasses(): Promise<void>;
  pad: NoteEditing;
  isVisible(position: Position): boolean;
  /** Positions from the host; null after reporting a failure. */
  arrange(request: LayoutRequest): Promise<Places | null>;
  setDirection(direction: Direction): void;
  say(notice: string): void;
  fit(): void;
  /** Fits the graph into the view, at `leastZoom` or above. */
  openAgain(leastZoom?: number): void;
  show(ids: string[]): void;
  zoomIn(): void;
  zoomOut(): void;
  reloadLayers(): void;
  check(): void;
  /** Parses Python source into a graph fragment. */
  readPiece(source: string): Promise<Reading>;
  showCode(): void;
  showShortcuts(): void;
  find(): void;
  openMenu(request: MenuRequest): void;
  /** Records a layer as recently used. */
  used(type: string): void;
  focus(): void;
}

export function makeActions(now: () => Surroundings): EditorActions {
  /** The selected nodes in drawing order. */
  const selectedDrawnNodes = () => {
    const { scene, selection } = now();
    const chosen = selection.state().nodes;
    return Object.keys(scene.graph.nodes).filter(id => chosen.has(id));
  };

  const selectedNodes = () => nodesOf(now().scene, selectedDrawnNodes());

  const piece = (): Fragment | null => {
    const { document, places } = now();
    const ids = [...selectedNodes(), ...actions.selectedNotes()];
    return ids.length ? fragmentOf(document.snapshot(), ids, places) : null;
  };

  const insert = (fragment: Fragment, given?: Position) => {
    const { document, scene, selection, places, show, isVisible } = now();
    const offset = given ?? pasteOffset(fragment, places, now());
    const { change, ids } = pasteFragment(
      fragment,
      document.snapshot(),
      scene.within,
      offset
    );
    document.patch(change);
    const folded = Object.keys(change.positions ?? {}).filter(isBlock);
    const shown = [...ids.values(), ...folded];
    selection.set(shown);
    const { positions, notes = {} } = document.snapshot();
    const at = { ...positions, ...placesOf(notes) };
    if (!shown.some(id => at[id] && isVisible(at[id]))) {
      show(shown);
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
        const { nodes, notes } = fragment;
        now().document.remove(Object.keys({ ...nodes, ...notes }));
        await writeClipboard(fragmentToText(fragment));
      }
    },

    async paste() {
      const { texts, isOwn } = await readClipboard();
      const { say, trans } = now();
      for (const text of texts) {
        const fragment = fragmentFromText(text);
        if (fragment) {
          insert(fragment);
          if (isOwn) {
            say(
              trans.__(
                'Pasted what was last copied in this page: the browser does not let it read the clipboard.'
              )
            );
          }
          return;
        }
        if (looksLikePython(text)) {
          await actions.addSource(text);
          return;
        }
      }
      say(
        isOwn
          ? trans.__(
              'No layers were copied in this page, and the browser does not let it read the clipboard.'
            )
          : trans.__('The clipboard has no layers to paste.')
      );
    },

    duplicate() {
      const fragment = piece();
      if (fragment) {
        insert(fragment);
      }
    },

    deleteSelection() {
      const { document, scene, selection } = now();
      const nodes = [...selectedNodes(), ...actions.selectedNotes()];
      const edges = [...selection.state().edges].flatMap(scene.edgesOf);
      if (nodes.length || edges.length) {
        document.remove(nodes, edges);
        selection.clear();
      }
    },

    select(command) {
      const { nodes, edges } = command.select(now());
      now().selection.set(nodes, edges);
    },

    clearSelection: () => now().selection.clear(),

    escape() {
      const { nodes, edges } = now().selection.state();
      if (nodes.size || edges.size) {
        actions.clearSelection();
      } else {
        actions.leave();
      }
    },

    selectNodes(ids) {
      const { document, scene, selection, setWithin, show } = now();
      const { nodes } = document.snapshot();
      const drawn = ids.map(id => scene.drawnAs(id));
      if (drawn.includes(undefined) && nodes[ids[0]]) {
        // the node is outside the entered block
        setWithin('');
        setTimeout(() => actions.selectNodes(ids));
        return;
      }
      const known = drawn.filter(id => id !== undefined);
      selection.set(known);
      show(known);
    },

    selectedNodes,

    onSelection: listener => now().selection.subscribe(listener),

    async autoLayout(wanted) {
      const direction = wanted ?? now().direction;
      const request = layoutRequest(now().scene, direction, now().sizeOf);
      const places = await now().arrange(request);
      if (!places) {
        return;
      }
      const { document, scene, openAgain, setDirection } = now();
      setDirection(direction);
      document.move(
        Object.fromEntries(
          // skip nodes that were deleted or unfolded in the meantime
          Object.entries(places).filter(([id]) => scene.graph.nodes[id])
        )
      );
      openAgain();
    },

    align(how) {
      const { document, places: drawnAt, sizeOf } = now();
      const ids = [...selectedDrawnNodes(), ...actions.selectedNotes()];
      const places = {
        ...drawnAt,
        ...placesOf(document.snapshot().notes ?? {})
      };
      const nodes = Object.fromEntries(
        ids.map(id => [id, { position: places[id], size: sizeOf(id) }])
      );
      if (ids.length > 1) {
        // Nodes without a position keep the one they are drawn at.
        document.move({ ...places, ...alignNodes(nodes, how) });
      }
    },

    link() {
      const { document, scene, selection, say, trans } = now();
      const ids = [...selection.state().nodes].filter(
        id => scene.graph.nodes[id]
      );
      if (ids.length < 2) {
        say(
          trans.__(
            'Select two layers: the output of the first is connected to the second.'
          )
        );
        return;
      }
      const links = linksBetween(ids, scene.graph, scene.layers, trans);
      if (typeof links === 'string') {
        say(links);
        return;
      }
      const graph = document.snapshot();
      document.addEdges(
        links.edges.flatMap(edge => edgesBehind(edge, graph)),
        links.replaced.flatMap(scene.edgesOf)
      );
    },

    ...makeNoteActions(now, selectedDrawnNodes),
    ...makeSourceActions(now, insert),
    ...makeAdding(now, selectedDrawnNodes),
    ...makeBlockActions(now, selectedDrawnNodes),

    fit: () => now().fit(),
    openView: () => now().openAgain(READABLE),
    zoomIn: () => now().zoomIn(),
    zoomOut: () => now().zoomOut(),
    reloadLayers: () => now().reloadLayers(),
    check: () => now().check(),
    say: notice => now().say(notice),
    offerClasses: () => now().offerClasses(),
    showCode: () => now().showCode(),
    showShortcuts: () => now().showShortcuts(),
    find: () => now().find(),
    focus: () => now().focus()
  };
  return actions;
}
