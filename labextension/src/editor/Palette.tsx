// The list of layers to choose from: search, categories, drag or Enter.
import { CSSProperties, KeyboardEvent, memo, useRef, useState } from 'react';

import { useEditorContext } from './context';
import { Icon, IconButton } from './Icon';
import { LayerSchema, LayerTable } from './model';
import { paletteGroups } from './paletteGroups';

/** The kind of data a dragged layer carries. */
export const LAYER_MIME = 'application/x-labdl-layer';

export interface PaletteProps {
  layers: LayerTable;
  /** Why the layers could not be loaded; null while all is well. */
  failure: string | null;
  isLoading: boolean;
  onAdd: (type: string) => void;
  onRetry: () => void;
  onClose: () => void;
}

export const Palette = memo(function Palette(props: PaletteProps) {
  const { trans } = useEditorContext();
  const [query, setQuery] = useState('');
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const list = useRef<HTMLDivElement>(null);
  const groups = paletteGroups(props.layers.values(), query);
  const isSearching = query.trim() !== '';

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
    const at = all.indexOf(document.activeElement as HTMLElement);
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
          label={trans.__('Hide the layers')}
          onClick={props.onClose}
        />
      </div>
      <div className="labdl-palette-list" ref={list} onKeyDown={walk}>
        {groups.map(({ category, layers }) => {
          const isOpen = isSearching || !closed.has(category);
          return (
            <div key={category} className="labdl-palette-group">
              <button
                type="button"
                className="labdl-palette-category"
                aria-expanded={isOpen}
                onClick={() => toggle(category)}
              >
                <Icon name="chevron" />
                {category}
              </button>
              {isOpen &&
                layers.map(layer => (
                  <PaletteItem
                    key={layer.type}
                    layer={layer}
                    onAdd={props.onAdd}
                  />
                ))}
            </div>
          );
        })}
        <PaletteMessage {...props} query={query} isEmpty={!groups.length} />
      </div>
    </section>
  );
});

interface PaletteItemProps {
  layer: LayerSchema;
  onAdd: (type: string) => void;
}

function PaletteItem({ layer, onAdd }: PaletteItemProps) {
  const { hueOf } = useEditorContext();
  const style = { '--labdl-hue': hueOf(layer.category) } as CSSProperties;
  return (
    // Not a <button>: Firefox does not drag those.
    <div
      role="button"
      tabIndex={0}
      draggable
      data-layer={layer.type}
      className="labdl-palette-item"
      style={style}
      title={layer.summary}
      onDoubleClick={() => onAdd(layer.type)}
      onKeyDown={event => {
        if (event.key === 'Enter' || event.key === ' ') {
          event.preventDefault();
          onAdd(layer.type);
        }
      }}
      onDragStart={event => {
        event.dataTransfer.setData(LAYER_MIME, layer.type);
        event.dataTransfer.effectAllowed = 'copy';
      }}
    >
      {layer.label}
    </div>
  );
}

function PaletteMessage(
  props: PaletteProps & { query: string; isEmpty: boolean }
) {
  const { trans } = useEditorContext();
  if (props.failure !== null) {
    return (
      <div className="labdl-palette-message" role="alert">
        <p>{trans.__('The layers could not be loaded: %1', props.failure)}</p>
        <button type="button" className="labdl-button" onClick={props.onRetry}>
          {trans.__('Try again')}
        </button>
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
