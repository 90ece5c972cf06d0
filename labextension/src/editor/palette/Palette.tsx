// Palette of layers: search, categories, drag or Enter.
import {
  KeyboardEvent,
  memo,
  RefObject,
  useLayoutEffect,
  useRef,
  useState,
  useSyncExternalStore
} from 'react';

import { Button } from '../../ui/Button';
import { useEditorContext } from '../context';
import { Icon, IconButton } from '../../ui/Icon';
import { savedBlockName } from './saved-blocks';
import { LayerTable } from '../model/graph-data';
import { chosenLayers, PaletteGroup, paletteGroups } from './palette-groups';
import { PaletteItem } from './PaletteItem';
import { PaletteStorage, Remembered } from './palette-storage';

export interface PaletteProps {
  layers: LayerTable;
  memory: PaletteStorage;
  /** Error message if loading the layers failed; else null. */
  failure: string | null;
  isLoading: boolean;
  onAdd: (type: string) => void;
  onRetry: () => void;
  onClose: () => void;
}

export const Palette = memo(function Palette(props: PaletteProps) {
  const { memory } = props;
  const { trans } = useEditorContext();
  const [query, setQuery] = useState('');
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const list = useRef<HTMLDivElement>(null);
  const remembered = useSyncExternalStore(memory.subscribe, memory.state);
  const isSearching = query.trim() !== '';
  const groups = paletteGroups(props.layers.values(), query);
  const own = isSearching
    ? []
    : [
        {
          id: 'favorites',
          category: trans.__('Favorites'),
          layers: chosenLayers(remembered.favorites, props.layers)
        },
        {
          id: 'recent',
          category: trans.__('Recent'),
          layers: chosenLayers(remembered.recent, props.layers)
        }
      ].filter(group => group.layers.length > 0);
  const top = useRef<HTMLDivElement>(null);
  useSteadyScroll(list, top, remembered);

  const items = () => [
    ...(list.current?.querySelectorAll<HTMLElement>(
      '.labdl-palette-item, .labdl-palette-category'
    ) ?? [])
  ];

  const walk = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    const all = items();
    const row = document.activeElement?.closest('.labdl-palette-row');
    const at = all.indexOf(
      (row?.firstElementChild ?? document.activeElement) as HTMLElement
    );
    all[Math.max(0, Math.min(all.length - 1, at + step))]?.focus();
  };

  const searchKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && isSearching && groups[0]) {
      props.onAdd(groups[0].layers[0].type);
    } else if (event.key === 'Escape' && query) {
      event.stopPropagation();
      setQuery('');
    } else {
      walk(event);
    }
  };

  const toggle = (category: string) => {
    const next = new Set(closed);
    if (!next.delete(category)) {
      next.add(category);
    }
    setClosed(next);
  };

  const forget = (type: string) => {
    const name = savedBlockName(type);
    return name === undefined ? undefined : () => memory.dropBlock(name);
  };

  const show = ({ category, layers }: PaletteGroup, id = category) => {
    const isOpen = isSearching || !closed.has(id);
    return (
      <div key={id} className="labdl-palette-group">
        <button
          type="button"
          className="labdl-palette-category"
          aria-expanded={isOpen}
          onClick={() => toggle(id)}
        >
          <Icon name="chevron" />
          {category}
        </button>
        {isOpen &&
          layers.map(layer => (
            <PaletteItem
              key={layer.type}
              layer={layer}
              isFavorite={remembered.favorites.includes(layer.type)}
              onAdd={props.onAdd}
              onMark={memory.toggle}
              onForget={forget(layer.type)}
            />
          ))}
      </div>
    );
  };

  return (
    <section className="labdl-palette" aria-label={trans.__('Layers')}>
      <div className="labdl-palette-head">
        <div className="labdl-search">
          <Icon name="search" />
          <input
            type="search"
            value={query}
            placeholder={trans.__('Search')}
            aria-label={trans.__('Search layers')}
            onChange={event => setQuery(event.target.value)}
            onKeyDown={searchKey}
          />
        </div>
        <IconButton
          icon="back"
          label={trans.__('Hide the palette')}
          onClick={props.onClose}
        />
      </div>
      <div className="labdl-palette-list" ref={list} onKeyDown={walk}>
        <div ref={top}>{own.map(group => show(group, group.id))}</div>
        {groups.map(group => show(group))}
        <PaletteMessage {...props} query={query} isEmpty={!groups.length} />
      </div>
    </section>
  );
});

/** Keeps the scroll position of the list while the groups at the top grow. */
function useSteadyScroll(
  list: RefObject<HTMLElement | null>,
  top: RefObject<HTMLElement | null>,
  remembered: Remembered
): void {
  const before = useRef({ remembered, height: 0 });
  useLayoutEffect(() => {
    const height = top.current?.offsetHeight ?? 0;
    const { remembered: old, height: oldHeight } = before.current;
    if (
      old !== remembered &&
      list.current?.matches(':hover, :focus-within') &&
      !top.current?.matches(':hover, :focus-within')
    ) {
      list.current.scrollTop += height - oldHeight;
    }
    before.current = { remembered, height };
  });
}

function PaletteMessage(
  props: PaletteProps & { query: string; isEmpty: boolean }
) {
  const { trans } = useEditorContext();
  if (props.failure !== null) {
    return (
      <div className="labdl-palette-message" role="alert">
        <p>{trans.__('The layers could not be loaded: %1', props.failure)}</p>
        <Button onClick={props.onRetry}>{trans.__('Try again')}</Button>
      </div>
    );
  }
  if (!props.isEmpty) {
    return null;
  }
  return (
    <p className="labdl-palette-message" role="status">
      {props.isLoading
        ? trans.__('Loading the layers…')
        : trans.__('No layer matches “%1”.', props.query.trim())}
    </p>
  );
}
