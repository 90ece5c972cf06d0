// State of the quick menu: visibility, position, offered layers and the pending link.
import { useStoreApi } from '@xyflow/react';
import { ReactNode, RefObject, useState } from 'react';
import { flushSync } from 'react-dom';

import { EditorActions, MenuRequest } from './actions';
import { fits } from '../model/insertion';
import { Direction, Size } from '../canvas/node-size';
import { LayerSchema, LayerTable } from '../model/graph-data';
import { PendingLink } from '../canvas/PendingLink';
import { chosenLayers, matching } from '../palette/palette-groups';
import { PaletteStorage } from '../palette/palette-storage';
import { QuickMenu } from './QuickMenu';

interface QuickMenuProps {
  layers: LayerTable;
  isLoading: boolean;
  memory: PaletteStorage;
  direction: Direction;
  /** Whether there are no layers yet: an input comes first. */
  isEmpty: boolean;
  canvas: RefObject<HTMLDivElement | null>;
}

interface Opened extends MenuRequest {
  /** Position on the canvas, in pixels. */
  corner: { x: number; y: number };
  room: Size;
}

interface OpenMenu {
  open: (request: MenuRequest) => void;
  show: (actions: EditorActions) => ReactNode;
}

export function useQuickMenu(props: QuickMenuProps): OpenMenu {
  const { layers, isLoading, memory, direction, isEmpty, canvas } = props;
  const store = useStoreApi();
  const [opened, setOpened] = useState<Opened | null>(null);

  const open = (request: MenuRequest) => {
    const { width, height, transform } = store.getState();
    const [x, y, zoom] = transform;
    const [left, top] = request.at;
    const corner = { x: left * zoom + x, y: top * zoom + y };
    // The search field has the focus before the next key: what a person types at once would go to the canvas.
    flushSync(() => setOpened({ ...request, corner, room: { width, height } }));
  };

  const search = (query: string): LayerSchema[] => {
    const { favorites, recent } = memory.state();
    const start = isEmpty ? ['Input'] : [];
    const offered = query.trim() ? [] : [...start, ...favorites, ...recent];
    const found = new Set([
      ...chosenLayers(offered, layers),
      ...matching(layers.values(), query)
    ]);
    return [...found].filter(layer => fits(layer, opened?.spot));
  };

  const show = (actions: EditorActions) => {
    if (!opened) {
      return null;
    }
    const { at, spot, from, corner, room } = opened;
    const close = (toCanvas: boolean) => {
      setOpened(null);
      if (toCanvas) {
        canvas.current?.focus({ preventScroll: true });
      }
    };
    return (
      <>
        {from && spot && (
          <PendingLink from={from} to={at} spot={spot} direction={direction} />
        )}
        <QuickMenu
          // A new position resets the menu.
          key={`${corner.x} ${corner.y}`}
          at={corner}
          room={room}
          search={search}
          isLoading={isLoading}
          onClose={close}
          onChoose={type => {
            close(true);
            if (spot) {
              actions.addLayerAt(type, at, spot);
            } else {
              actions.addLayer(type);
            }
          }}
        />
      </>
    );
  };

  return { open, show };
}
