// The graph editor: palette, canvas, inspector and status line around one document.
import { ReactFlowProvider } from '@xyflow/react';
import {
  ReactNode,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore
} from 'react';

import { EditorActions } from './actions';
import { Canvas } from './Canvas';
import { CheckStore } from './checkStore';
import { CodePanel } from './CodePanel';
import { EditorContextProvider, huesOf } from './context';
import { GraphDocument } from './document';
import { EditorHost } from './host';
import { IconButton } from './Icon';
import { Inspector } from './Inspector';
import { LiveCheck } from './liveCheck';
import { EMPTY_GRAPH } from './model';
import { NODE_NAME_ID } from './NodeDetails';
import { Palette } from './Palette';
import { PaletteMemory } from './paletteMemory';
import { directionOf, placeAll } from './placement';
import { SelectionStore } from './selection';
import { StatusBar } from './StatusBar';
import { Toolbar } from './Toolbar';
import { Translator } from './translator';
import { useActions } from './useActions';
import { useLayers } from './useLayers';
import { useQuickMenu } from './useQuickMenu';

export type { EditorActions } from './actions';

export interface EditorProps {
  document: GraphDocument;
  host: EditorHost;
  trans: Translator;
  /** Receives what the editor can be told to do, once. */
  actions?: (api: EditorActions) => void;
  /** Further buttons for the bar over the canvas. */
  toolbar?: ReactNode;
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
  host,
  trans,
  actions: tell,
  toolbar
}: EditorProps) {
  const graph = useSyncExternalStore(document.subscribe, document.snapshot);
  const [selection] = useState(() => new SelectionStore());
  const selected = useSyncExternalStore(selection.subscribe, selection.state);
  const [direction, setDirection] = useState(() => directionOf(graph));
  const [panes, setPanes] = useState({ palette: true, inspector: true });
  const [isCodeOpen, setCodeOpen] = useState(false);
  const [notice, say] = useNotice();
  const canvas = useRef<HTMLDivElement>(null);
  const [memory] = useState(() => new PaletteMemory());
  useEffect(memory.start, [memory]);

  const { layers, failure, isLoading, reload } = useLayers(host);
  const checks = useMemo(() => new CheckStore(), []);
  const liveCheck = useMemo(
    () => new LiveCheck(document, host, checks),
    [document, host, checks]
  );
  useEffect(() => liveCheck.start(), [liveCheck]);

  // A graph that was loaded into an empty document brings its own direction.
  const isEmpty = Object.keys(graph.nodes).length === 0;
  useEffect(
    () => setDirection(directionOf(document.snapshot())),
    [document, isEmpty]
  );

  const places = useMemo(() => placeAll(graph, direction), [graph, direction]);
  const view = useMemo(
    () => ({
      // Without the layers' ports there is nothing to draw the edges to.
      graph: isLoading ? EMPTY_GRAPH : graph,
      places,
      layers,
      selected,
      direction
    }),
    [graph, isLoading, places, layers, selected, direction]
  );

  const menu = useQuickMenu({ layers, memory, direction, canvas });
  const actions = useActions({
    document,
    layers,
    selection,
    direction,
    places,
    trans,
    setDirection,
    say,
    canvas,
    reloadLayers: reload,
    check: () => liveCheck.retry(),
    showCode: () => setCodeOpen(true),
    openMenu: menu.open,
    used: memory.use
  });
  useEffect(() => tell?.(actions), [actions, tell]);

  const context = useMemo(() => {
    const hues = huesOf(layers);
    const hueOf = (category: string | undefined) => hues.get(category ?? '');
    return { trans, checks, hueOf };
  }, [trans, checks, layers]);

  return (
    <EditorContextProvider value={context}>
      <div className="labdl-editor">
        <div className="labdl-panes">
          {panes.palette ? (
            <Palette
              layers={layers}
              memory={memory}
              failure={failure}
              isLoading={isLoading}
              onAdd={actions.addLayer}
              onRetry={reload}
              onClose={() => setPanes({ ...panes, palette: false })}
            />
          ) : (
            <IconButton
              icon="chevron"
              className="labdl-pane-opener"
              label={trans.__('Show the layers')}
              onClick={() => setPanes({ ...panes, palette: true })}
            />
          )}
          <div className="labdl-middle">
            <Canvas
              document={document}
              selection={selection}
              view={view}
              actions={actions}
              element={canvas}
              say={say}
              onRename={() => focusName(canvas.current)}
            >
              <Toolbar
                document={document}
                actions={actions}
                direction={direction}
              >
                {toolbar}
              </Toolbar>
            </Canvas>
            {menu.show(actions)}
            {isEmpty && (
              <p className="labdl-empty">
                {trans.__(
                  'Drag a layer here, double-click one in the list, or press Shift+A.'
                )}
              </p>
            )}
            {isCodeOpen && (
              <CodePanel
                host={host}
                graph={graph}
                onClose={() => setCodeOpen(false)}
              />
            )}
          </div>
          {panes.inspector ? (
            <Inspector
              document={document}
              graph={graph}
              layers={layers}
              selected={selected}
              actions={actions}
              onClose={() => setPanes({ ...panes, inspector: false })}
            />
          ) : (
            <IconButton
              icon="back"
              className="labdl-pane-opener"
              label={trans.__('Show the properties')}
              onClick={() => setPanes({ ...panes, inspector: true })}
            />
          )}
        </div>
        <StatusBar
          nodes={Object.keys(graph.nodes).length}
          notice={notice}
          actions={actions}
        />
      </div>
    </EditorContextProvider>
  );
}

/** Puts the cursor into the name field of the node that was double-clicked. */
function focusName(canvas: HTMLElement | null): void {
  const editor = canvas?.closest('.labdl-editor');
  const field = editor?.querySelector<HTMLInputElement>(`#${NODE_NAME_ID}`);
  field?.focus();
  field?.select();
}

const NOTICE_TIME = 5000;

/** A sentence in the status line that goes away by itself. */
function useNotice(): [string, (notice: string) => void] {
  const [notice, setNotice] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setNotice(''), NOTICE_TIME);
    return () => clearTimeout(timer);
  }, [notice]);
  return [notice, setNotice];
}
