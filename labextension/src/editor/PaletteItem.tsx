// One layer of the palette, to drag or to choose, and the star that makes it a favourite.
import { CSSProperties } from 'react';

import { useEditorContext } from './context';
import { carryLayer } from './dragged';
import { Icon } from './Icon';
import { LayerSchema } from './model';

interface PaletteItemProps {
  layer: LayerSchema;
  isFavourite: boolean;
  onAdd: (type: string) => void;
  onMark: (type: string) => void;
  /** Takes a block that was kept out of the palette; layers stay. */
  onForget?: () => void;
}

export function PaletteItem(props: PaletteItemProps) {
  const { layer, isFavourite, onAdd, onMark } = props;
  const { hueOf, trans } = useEditorContext();
  const style = { '--labdl-hue': hueOf(layer.category) } as CSSProperties;
  return (
    <div className="labdl-palette-row">
      {/* Not a <button>: Firefox does not drag those. */}
      <div
        role="button"
        tabIndex={0}
        draggable
        data-layer={layer.type}
        className="labdl-palette-item"
        style={style}
        title={layer.description ?? layer.summary}
        onDoubleClick={() => onAdd(layer.type)}
        onKeyDown={event => {
          if (event.key === 'Enter' || event.key === ' ') {
            event.preventDefault();
            onAdd(layer.type);
          }
        }}
        onDragStart={event => carryLayer(event.dataTransfer, layer)}
      >
        {layer.label}
      </div>
      {props.onForget ? (
        <button
          type="button"
          className="labdl-palette-star"
          aria-label={trans.__('Remove %1 from the list', layer.label)}
          title={trans.__('Remove from the list')}
          onClick={props.onForget}
        >
          <Icon name="remove" />
        </button>
      ) : (
        <button
          type="button"
          className="labdl-palette-star"
          aria-pressed={isFavourite}
          aria-label={trans.__('%1 is a favourite', layer.label)}
          title={
            isFavourite
              ? trans.__('Remove from the favourites')
              : trans.__('Add to the favourites')
          }
          onClick={() => onMark(layer.type)}
        >
          <Icon name="star" />
        </button>
      )}
    </div>
  );
}
