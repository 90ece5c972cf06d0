// Everything the editor can be told to do, by a key, a button or a command of the host.
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
  /** Selects nodes and brings them into view. */
  selectNodes(ids: string[]): void;
  /** The ids of the selected nodes. */
  selectedNodes(): string[];
  /** The ids of the selected notes. */
  selectedNotes(): string[];
  /** Adds a note at the pointer, or in the middle of the view, and begins to write it. */
  addNote(): void;
  /** Adds a note around what is selected. */
  frameSelection(): void;
  /** Adds what Python source describes, at a point of the page or in the middle of the view. */
  addSource(source: string, point?: { x: number; y: number }): Promise<void>;
  /** Adds a class of models that a kernel has, or a layer that only the kernel knows. */
  addClass(chosen: KernelClass): Promise<void>;
  /** Asks for the classes of a kernel and offers them. */
  offerClasses(): Promise<void>;
  /** Shows a sentence for a while. */
  say(notice: string): void;
  /** Calls back when the selection changed. */
  onSelection(listener: () => void): () => void;
  /** Arranges all nodes; without a direction, in the present one. */
  autoLayout(direction?: Direction): Promise<void>;
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
  /** Makes one block of the selected nodes. */
  group(): void;
  /** Takes the selected blocks apart, or this one. */
  ungroup(path?: string): Promise<void>;
  /** Draws an open block as one box; without a path, the blocks of the selected nodes. */
  fold(path?: string): void;
  /** Shows what stands in a folded block; without a path, in those that are selected. */
  unfold(path?: string): Promise<void>;
  /** Shows only the inside of a block; of the model, if it is empty. */
  enter(path: string): void;
  /** Shows what is around the block that was entered. */
  leave(): void;
  /** Selects a block. */
  selectBlock(path: string): void;
  /** The block that is selected as a whole; null if there is none. */
  selectedBlock(): string | null;
  /** Puts a block several times in a row. */
  repeat(path: string, times: number): void;
  /** Keeps a block in the palette. */
  keepBlock(path: string): void;
  /** Connects each selected layer with the next, in the order in which they were selected. */
  link(): void;
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
  /** What is drawn. */
  scene: Scene;
  /** Where every node is drawn. */
  places: { [id: string]: Position };
  /** Shows the inside of a block. */
  setWithin(path: string): void;
  /** Keeps a piece of a graph in the palette; false if there is no room. */
  keep(name: string, fragment: Fragment): boolean;
  /** The piece that is kept under a type of the palette. */
  kept(type: string): Fragment | undefined;
  sizeOf(id: string): Size;
  /** The middle of the visible part of the canvas. */
  middle(): Position;
  /** Where the pointer is, if it is on the canvas. */
  pointer(): Position | null;
  /** The point of the graph at a point of the page. */
  at(point: { x: number; y: number }): Position;
  /** Asks for the classes of a kernel and offers them. */
  offerClasses(): Promise<void>;
  pad: NoteEditing;
  isVisible(position: Position): boolean;
  /** Asks the host for positions; says why if there are none, and returns null. */
  arrange(request: LayoutRequest): Promise<Places | null>;
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
  /** What Python source describes, as a piece of a graph. */
  readPiece(source: string): Promise<Reading>;
  showCode(): void;
  openMenu(request: MenuRequest): void;
  /** Notes that a layer was chosen. */
  used(type: string): void;
  focus(): void;
}

export function makeActions(now: () => Surroundings): EditorActions {
  /** As they are drawn. */
  const drawn = () => {
    const { scene, selection } = now();
    const chosen = selection.state().nodes;
    return Object.keys(scene.graph.nodes).filter(id => chosen.has(id));
  };

  const selected = () => nodesOf(now().scene, drawn());

  const piece = (): Fragment | null => {
    const { document, places } = now();
    const ids = [...selected(), ...actions.selectedNotes()];
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
      const texts = await readClipboard();
      const { say, trans } = now();
      for (const text of texts) {
        const fragment = fragmentFromText(text);
        if (fragment) {
          insert(fragment);
          return;
        }
        if (looksLikePython(text)) {
          await actions.addSource(text);
          return;
        }
      }
      say(trans.__('The clipboard has no layers to paste.'));
    },

    duplicate() {
      const fragment = piece();
      if (fragment) {
        insert(fragment);
      }
    },

    deleteSelection() {
      const { document, scene, selection } = now();
      const nodes = [...selected(), ...actions.selectedNotes()];
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

    selectNodes(ids) {
      const { document, scene, selection, setWithin, show } = now();
      const { nodes } = document.snapshot();
      const drawn = ids.map(id => scene.drawnAs(id));
      if (drawn.includes(undefined) && nodes[ids[0]]) {
        // it stands beyond what is shown
        setWithin('');
        setTimeout(() => actions.selectNodes(ids));
        return;
      }
      const known = drawn.filter(id => id !== undefined);
      selection.set(known);
      show(known);
    },

    selectedNodes: selected,

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
          // what was deleted or unfolded meanwhile stays so
          Object.entries(places).filter(([id]) => scene.graph.nodes[id])
        )
      );
      openAgain();
    },

    align(how) {
      const { document, places: drawnAt, sizeOf } = now();
      const ids = [...drawn(), ...actions.selectedNotes()];
      const places = {
        ...drawnAt,
        ...placesOf(document.snapshot().notes ?? {})
      };
      const nodes = Object.fromEntries(
        ids.map(id => [id, { position: places[id], size: sizeOf(id) }])
      );
      if (ids.length > 1) {
        // Nodes that had no position keep the place they were shown at.
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

    ...makeNoteActions(now, drawn),
    ...makeSourceActions(now, insert),
    ...makeAdding(now, drawn),
    ...makeBlockActions(now, drawn),

    fit: () => now().fit(),
    openView: () => now().openAgain(READABLE),
    zoomIn: () => now().zoomIn(),
    zoomOut: () => now().zoomOut(),
    reloadLayers: () => now().reloadLayers(),
    check: () => now().check(),
    say: notice => now().say(notice),
    offerClasses: () => now().offerClasses(),
    showCode: () => now().showCode(),
    focus: () => now().focus()
  };
  return actions;
}
