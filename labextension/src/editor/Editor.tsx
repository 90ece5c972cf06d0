// Graph editor: palette, canvas, inspector and status bar for one document.
import { ReactFlowProvider } from '@xyflow/react';
import {
  ReactNode,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore
} from 'react';
import { flushSync } from 'react-dom';

import { EditorActions } from './commands/actions';
import { Breadcrumbs } from './canvas/Breadcrumbs';
import { Canvas } from './canvas/Canvas';
import { CanvasOnly, showing } from './canvas/canvas-only';
import { CheckStore } from './model/check-store';
import { useClassMenu } from './code/ClassMenu';
import { keepCodePane, readCodePane } from './code/code-pane';
import { CodePanel } from './code/CodePanel';
import { EditorContextProvider, huesOf } from './context';
import { GraphDocument } from './model/document';
import { fragmentFromText, fragmentToText } from './model/fragment';
import { HealthStore } from './health/health-store';
import { EditorHost } from './host';
import { FindBar } from './commands/FindBar';
import { IconButton } from '../ui/Icon';
import { InspectorSlot } from './inspector/InspectorSlot';
import { savedBlockName, withSavedBlocks } from './palette/saved-blocks';
import { HostShortcuts, OWN_SHORTCUTS, runKey } from './commands/key-bindings';
import { ShortcutSheet } from './commands/ShortcutSheet';
import { isTyping } from '../ui/host-keys';
import { Places } from './canvas/layout-request';
import { LiveCheck } from './model/live-check';
import { EMPTY_GRAPH } from './model/graph-data';
import { useArrange } from './canvas/useArrange';
import { usePlaces } from './canvas/usePlaces';
import { NOBODY, People } from './model/collaborators';
import { NODE_NAME_ID } from './inspector/NodeDetails';
import { NoteEditing } from './notes/note-editing';
import { Palette } from './palette/Palette';
import { PaletteStorage } from './palette/palette-storage';
import { directionOf } from './canvas/placement';
import { SampleRun } from './samples/sample-run';
import { EditorPreferences, PREFERENCES } from './preferences';
import { ReadOnlyBanner } from './ReadOnlyBanner';
import { SelectionStore } from './model/selection';
import { StatusBar } from './StatusBar';
import { StatusItem } from './StatusItem';
import { Toolbar } from './Toolbar';
import { Translator } from '../ui/translator';
import { useActions } from './useActions';
import { useNotice } from './useNotice';
import { usePanes } from './usePanes';
import { useKeptFocus } from './useKeptFocus';
import { useHealth } from './health/useHealth';
import { useLayers } from './palette/useLayers';
import { useLock } from './model/useLock';
import { useQuickMenu } from './commands/useQuickMenu';
import { useScene } from './canvas/useScene';

export type { EditorActions } from './commands/actions';

const NOWHERE: Places = {};

export interface EditorProps {
  document: GraphDocument;
  /** Name of the document in the host, such as its path; without it no state is stored for it. */
  name?: string;
  host: EditorHost;
  trans: Translator;
  /** Receives the editor's actions, once. */
  actions?: (api: EditorActions) => void;
  /** Receives the `SampleRun`, once. */
  sample?: (run: SampleRun) => void;
  /** Receives the `HealthStore`, once. */
  health?: (store: HealthStore) => void;
  /** Additional buttons of the toolbar over the canvas. */
  toolbar?: ReactNode;
  /** Messages of the host about the document, above the editor. */
  notices?: ReactNode;
  preferences?: EditorPreferences;
  /** Shortcuts of a host that carries out the keys; without them the editor does. */
  shortcuts?: HostShortcuts;
  /** Shows only the canvas, for views that embed it. */
  only?: CanvasOnly;
  /** Other users who edit the document. */
  people?: People | null;
  /** Element of the host for the properties, instead of the pane beside the canvas. */
  aside?: HTMLElement | null;
  /** Element in the host's status bar for a summary of the model. */
  status?: HTMLElement | null;
}

export function Editor(props: EditorProps) {
  return (
    <ReactFlowProvider>
      <EditorBody {...props} />
    </ReactFlowProvider>
  );
}

function EditorBody({
  document,
  name,
  host,
  trans,
  actions: tell,
  sample: tellSample,
  health: tellHealth,
  toolbar,
  notices,
  preferences = PREFERENCES,
  shortcuts,
  only,
  people,
  aside,
  status
}: EditorProps) {
  const graph = useSyncExternalStore(document.subscribe, document.snapshot);
  const [selection] = useState(() => only?.selection ?? new SelectionStore());
  const selected = useSyncExternalStore(selection.subscribe, selection.state);
  useEffect(() => people?.select(selected.nodes), [people, selected]);
  const [direction, setDirection] = useState(() =>
    directionOf(graph, preferences.direction)
  );
  const editor = useRef<HTMLDivElement>(null);
  const [code, setCode] = useState(() => readCodePane(name));
  useEffect(() => keepCodePane(name, code), [name, code]);
  const [panes, setPane] = usePanes(editor, code.isOpen);
  const [codeRequests, setCodeRequests] = useState(0);
  const [notice, say] = useNotice(document);
  const canvas = useRef<HTMLDivElement>(null);
  useKeptFocus(editor, canvas);
  const [hasSheet, showSheet] = useState(false);
  /** Number of requests to search since the field was opened; 0 while it is closed. */
  const [searches, setSearches] = useState(0);
  const [memory] = useState(() => new PaletteStorage(undefined, host.palette));
  useEffect(memory.start, [memory]);

  const isLocked = useLock(document) !== null;
  const { layers, failure, isLoading, reload } = useLayers(host);
  const { blocks } = useSyncExternalStore(memory.subscribe, memory.state);
  const offered = useMemo(
    () => withSavedBlocks(layers, blocks, trans),
    [layers, blocks, trans]
  );
  const checks = useMemo(() => new CheckStore(), []);
  useEffect(
    () => checks.showFigure(preferences.figure),
    [checks, preferences.figure]
  );
  const liveCheck = useMemo(
    () => new LiveCheck(document, host, checks),
    [document, host, checks]
  );
  useEffect(() => liveCheck.start(), [liveCheck]);
  const sample = useMemo(
    () => new SampleRun(document, host, say, trans),
    [document, host, say, trans]
  );
  useEffect(() => sample.start(), [sample]);
  useEffect(() => tellSample?.(sample), [sample, tellSample]);
  const health = useHealth(document, host, tellHealth);
  const [closed] = useState(() => new Set<string>());
  const pad = useMemo(() => new NoteEditing(document), [document]);

  // A graph that is loaded into an empty document determines the direction.
  const isEmpty = Object.keys(graph.nodes).length === 0;
  useEffect(
    () => setDirection(directionOf(document.snapshot(), preferences.direction)),
    [document, isEmpty, preferences.direction]
  );

  const { scene, sceneNow, setWithin } = useScene(document, graph, layers);
  const arrange = useArrange(host, say, trans);
  const placed = usePlaces(
    scene,
    direction,
    host,
    isLoading,
    arrange.onFailure
  );
  const places = placed ?? NOWHERE;
  useEffect(() => {
    // Inside a block, the positions of the nodes outside it are unknown.
    document.shownAt = () => (scene.within ? {} : places);
    return () => {
      document.shownAt = undefined;
    };
  }, [document, scene, places]);
  const view = useMemo(
    () => ({
      whole: graph,
      // Edges cannot be drawn before the ports of the layers are known.
      graph: isLoading || !placed ? EMPTY_GRAPH : scene.graph,
      scene,
      places,
      layers: scene.layers,
      selected,
      direction
    }),
    [graph, isLoading, scene, placed, places, selected, direction]
  );

  const classes = useClassMenu(host, say, trans, canvas);
  const menu = useQuickMenu({
    layers: offered,
    isLoading,
    memory,
    direction,
    isEmpty,
    canvas
  });
  const all = useActions({
    document,
    layers: offered,
    sceneNow,
    setWithin,
    keep: (name, fragment) => memory.keepBlock(name, fragmentToText(fragment)),
    kept: type => {
      const text = blocks[savedBlockName(type) ?? ''];
      return text === undefined
        ? undefined
        : (fragmentFromText(text) ?? undefined);
    },
    pad,
    selection,
    direction,
    places,
    trans,
    arrange: arrange.arrange,
    setDirection,
    say,
    canvas,
    reloadLayers: reload,
    check: () => liveCheck.retry(),
    readPiece: source => host.read(source, null),
    showCode: () => {
      setCode(now => ({ ...now, isOpen: true }));
      setCodeRequests(times => times + 1);
    },
    showShortcuts: () => showSheet(isShown => !isShown),
    // the field has the focus before the next key
    find: () => flushSync(() => setSearches(times => times + 1)),
    openMenu: request => (isLocked ? undefined : menu.open(request)),
    offerClasses: classes.ask,
    used: memory.use
  });
  const actions = useMemo(() => (only ? showing(all, only) : all), [all, only]);
  useEffect(() => tell?.(actions), [actions, tell]);

  const context = useMemo(() => {
    const hues = huesOf(offered);
    const hueOf = (category: string | undefined) => hues.get(category ?? '');
    const others = people ?? NOBODY;
    const shown = { checks, sample, health, people: others };
    return {
      ...{ trans, host, ...shown, closed, hueOf },
      shortcuts: shortcuts ?? OWN_SHORTCUTS
    };
  }, [trans, checks, host, sample, health, people, closed, offered, shortcuts]);

  return (
    <EditorContextProvider value={context}>
      <div
        className="labdl-editor"
        ref={editor}
        onKeyDown={event => {
          if (
            !shortcuts &&
            !isTyping(event.target) &&
            runKey(event, actions, { isEverywhere: true })
          ) {
            event.preventDefault();
            event.stopPropagation();
          }
        }}
      >
        {notices}
        {!only && <ReadOnlyBanner document={document} layers={layers} />}
        <div className="labdl-panes">
          {isLocked ? null : panes.palette ? (
            <Palette
              layers={offered}
              memory={memory}
              failure={failure}
              isLoading={isLoading}
              onAdd={actions.addLayer}
              onRetry={reload}
              onClose={() => setPane('palette', false)}
            />
          ) : (
            <IconButton
              icon="chevron"
              className="labdl-pane-opener"
              label={trans.__('Show the palette')}
              onClick={() => setPane('palette', true)}
            />
          )}
          <div className="labdl-work">
            <div className="labdl-middle">
              <Canvas
                document={document}
                selection={selection}
                pad={pad}
                view={view}
                actions={actions}
                snapToGrid={preferences.snapToGrid}
                hasOverview={preferences.overview}
                element={canvas}
                say={say}
                onRename={() => focusName(canvas.current, aside)}
                only={only}
                runsKeys={!shortcuts}
              >
                {only?.children ?? (
                  <>
                    <Toolbar
                      document={document}
                      actions={actions}
                      direction={direction}
                    >
                      {toolbar}
                    </Toolbar>
                    <Breadcrumbs
                      name={graph.name}
                      within={scene.within}
                      actions={actions}
                    />
                  </>
                )}
              </Canvas>
              {menu.show(actions)}
              {classes.show(actions)}
              {searches > 0 && (
                <FindBar
                  graph={graph}
                  layers={layers}
                  requests={searches}
                  onShow={id => actions.selectNodes([id])}
                  onClose={() => {
                    setSearches(0);
                    actions.focus();
                  }}
                />
              )}
              {hasSheet && (
                <ShortcutSheet
                  onClose={() => {
                    showSheet(false);
                    actions.focus();
                  }}
                />
              )}
              {isEmpty && !isLocked && (
                <p className="labdl-empty">
                  {trans.__(
                    'Drag a layer here, double-click one in the palette, or press Shift+A.'
                  )}
                </p>
              )}
            </div>
            {code.isOpen && !only && (
              <CodePanel
                host={host}
                document={document}
                width={code.width}
                requests={codeRequests}
                onResize={width => setCode({ isOpen: true, width })}
                onClose={() => setCode({ ...code, isOpen: false })}
                onLeave={actions.focus}
              />
            )}
          </div>
          {!only && (
            <InspectorSlot
              document={document}
              graph={graph}
              layers={layers}
              scene={scene}
              selected={selected}
              actions={actions}
              isBeside={panes.inspector}
              aside={aside}
              onPlace={isBeside => setPane('inspector', isBeside)}
            />
          )}
        </div>
        {!only && (
          <StatusBar
            nodes={Object.keys(graph.nodes).length}
            notice={notice}
            actions={actions}
          />
        )}
        {status && (
          <StatusItem place={status} nodes={Object.keys(graph.nodes).length} />
        )}
      </div>
    </EditorContextProvider>
  );
}

/** Moves the focus to the name field of the node that was double-clicked. */
function focusName(
  canvas: HTMLElement | null,
  aside: HTMLElement | null | undefined
): void {
  const [field] = [canvas?.closest('.labdl-editor'), aside].flatMap(
    place => place?.querySelector<HTMLInputElement>(`#${NODE_NAME_ID}`) ?? []
  );
  field?.focus();
  field?.select();
}
