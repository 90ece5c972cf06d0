// Layer in the palette, to drag or to choose, with a button that marks it as a favorite.
import { CSSProperties } from 'react';

import { useEditorContext } from '../context';
import { setDraggedLayer } from '../canvas/drag-data';
import { Icon } from '../../ui/Icon';
import { LayerSchema } from '../model/graph-data';

interface PaletteItemProps {
  layer: LayerSchema;
  isFavorite: boolean;
  onAdd: (type: string) => void;
  onMark: (type: string) => void;
  /** Removes a saved block from the palette; undefined for layers. */
  onForget?: () => void;
}

export function PaletteItem(props: PaletteItemProps) {
  const { layer, isFavorite, onAdd, onMark } = props;
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
        onDragStart={event => setDraggedLayer(event.dataTransfer, layer)}
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
          aria-pressed={isFavorite}
          aria-label={trans.__('%1 is a favorite', layer.label)}
          title={
            isFavorite
              ? trans.__('Remove from the favorites')
              : trans.__('Add to the favorites')
          }
          onClick={() => onMark(layer.type)}
        >
          <Icon name="star" />
        </button>
      )}
    </div>
  );
}
