// Searchable menu of layers on the canvas.
import {
  CSSProperties,
  KeyboardEvent,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState
} from 'react';

import { useEditorContext } from '../context';
import { Icon } from '../../ui/Icon';
import { Size } from '../canvas/node-size';
import { LayerSchema } from '../model/graph-data';

/** Same size as in the style sheet. */
const MENU: Size = { width: 264, height: 300 };
const MARGIN = 8;

export interface QuickMenuProps {
  /** Position in pixels of the canvas. */
  at: { x: number; y: number };
  /** Size of the canvas, which limits the menu. */
  room: Size;
  /** Matching layers, the best match first. */
  search: (query: string) => LayerSchema[];
  /** Whether there are no layers yet; Enter then takes effect when they come. */
  isLoading: boolean;
  onChoose: (type: string) => void;
  /** Closes the menu; `toCanvas` returns the focus to the canvas. */
  onClose: (toCanvas: boolean) => void;
}

export function QuickMenu(props: QuickMenuProps) {
  const { at, room, search, isLoading, onChoose, onClose } = props;
  const { trans, hueOf } = useEditorContext();
  const [query, setQuery] = useState('');
  const [active, setActive] = useState(0);
  const [isConfirmed, confirm] = useState(false);
  const menu = useRef<HTMLDivElement>(null);
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  const layers = search(query);
  const optionId = (index: number) => `${id}-${index}`;

  useLayoutEffect(() => input.current?.focus({ preventScroll: true }), []);

  // A click or scroll outside the menu closes it; a click moves the focus itself.
  const close = useRef(onClose);
  useEffect(() => {
    close.current = onClose;
  });
  useEffect(() => {
    const outside = (event: Event) => {
      if (!menu.current?.contains(event.target as Node)) {
        close.current(event.type === 'wheel');
      }
    };
    const kinds = ['pointerdown', 'wheel'];
    const how = { capture: true, passive: true };
    kinds.forEach(kind => document.addEventListener(kind, outside, how));
    return () =>
      kinds.forEach(kind => document.removeEventListener(kind, outside, how));
  }, []);

  useEffect(() => {
    const layer = isConfirmed && !isLoading ? layers[active] : undefined;
    if (layer) {
      onChoose(layer.type);
    }
  });

  useEffect(() => {
    const option = menu.current?.querySelector('[aria-selected="true"]');
    option?.scrollIntoView({ block: 'nearest' });
  }, [active, query]);

  const keyDown = (event: KeyboardEvent) => {
    // Keys must not reach the shortcuts of the page.
    event.stopPropagation();
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      setActive((active + step + layers.length) % Math.max(1, layers.length));
    } else if (event.key === 'Enter') {
      if (layers[active]) {
        onChoose(layers[active].type);
      } else if (isLoading) {
        confirm(true);
      }
    } else if (event.key === 'Escape' || event.key === 'Tab') {
      onClose(true);
    } else {
      return;
    }
    event.preventDefault();
  };

  return (
    <div
      ref={menu}
      className="labdl-quick-menu"
      role="dialog"
      aria-label={trans.__('Add a layer')}
      style={placeIn(room, at)}
      onBlur={event => {
        const next = event.relatedTarget;
        if (next && !event.currentTarget.contains(next)) {
          onClose(false);
        }
      }}
    >
      <div className="labdl-search">
        <Icon name="search" />
        <input
          ref={input}
          role="combobox"
          value={query}
          placeholder={trans.__('Add a layer')}
          aria-label={trans.__('Search layers that fit here')}
          aria-autocomplete="list"
          aria-expanded={layers.length > 0}
          aria-controls={id}
          aria-activedescendant={layers[active] && optionId(active)}
          autoComplete="off"
          spellCheck={false}
          onChange={event => {
            setQuery(event.target.value);
            setActive(0);
            confirm(false);
          }}
          onKeyDown={keyDown}
        />
      </div>
      <ul id={id} role="listbox" aria-label={trans.__('Layers that fit here')}>
        {layers.map((layer, index) => (
          <li
            key={layer.type}
            id={optionId(index)}
            role="option"
            aria-selected={index === active}
            data-layer={layer.type}
            title={layer.description ?? layer.summary}
            style={{ '--labdl-hue': hueOf(layer.category) } as CSSProperties}
            onPointerMove={() => setActive(index)}
            // Keeps the focus in the search field.
            onMouseDown={event => event.preventDefault()}
            onClick={() => onChoose(layer.type)}
          >
            <span className="labdl-quick-menu-name">{layer.label}</span>
            <span className="labdl-quick-menu-category">{layer.category}</span>
          </li>
        ))}
      </ul>
      {layers.length === 0 && (
        <p role="status">
          {isLoading
            ? trans.__('Loading the layers…')
            : query.trim()
              ? trans.__('No layer matches “%1”.', query.trim())
              : trans.__('No layer fits here.')}
        </p>
      )}
    </div>
  );
}

/** Position beside the point, within the canvas. */
function placeIn(room: Size, at: { x: number; y: number }): CSSProperties {
  const inside = (wanted: number, size: number, whole: number) =>
    Math.max(MARGIN, Math.min(wanted, whole - size - MARGIN));
  const height = Math.min(MENU.height, room.height - 2 * MARGIN);
  return {
    left: inside(at.x, MENU.width, room.width),
    top: inside(at.y, height, room.height),
    maxHeight: height
  };
}
