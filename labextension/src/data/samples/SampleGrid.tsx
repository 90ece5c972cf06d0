// Grid of samples, of which only the rows in view are drawn and requested.

import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { Translator } from '../../ui/translator';
import { useWidth } from '../../ui/useWidth';
import type { SamplePages } from './sample-pages';
import { SampleTile } from './SampleTile';
import { layoutOf, type TileSize } from './tile-sizes';
import { useTileKeys } from './useTileKeys';

interface SampleGridProps {
  pages: SamplePages;
  total: number;
  size: TileSize;
  classes: readonly string[];
  /** Sample that takes the focus after its large view was closed. */
  returned: number | null;
  onOpen: (position: number) => void;
  trans: Translator;
}

export function SampleGrid(props: SampleGridProps): JSX.Element {
  const { pages, total, size, classes, onOpen, trans } = props;
  const frame = useRef<HTMLDivElement>(null);
  const room = useRef<HTMLDivElement>(null);
  const width = useWidth(room);
  const [active, setActive] = useState(0);
  const { columns, side, row } = layoutOf(width, size);
  const rows = Math.ceil(total / columns);
  const activeRow = Math.floor(active / columns);

  const virtual = useVirtualizer({
    count: width ? rows : 0,
    getScrollElement: () => frame.current,
    estimateSize: () => row,
    overscan: 2,
    // the tile with the focus stays while others are in view
    rangeExtractor: range => {
      const drawn = defaultRangeExtractor(range);
      return activeRow < rows && !drawn.includes(activeRow)
        ? [...drawn, activeRow].sort((a, b) => a - b)
        : drawn;
    }
  });
  useLayoutEffect(() => virtual.measure(), [virtual, row]);

  // other pages begin at their first sample
  useEffect(() => {
    setActive(0);
    frame.current?.scrollTo?.({ top: 0 });
  }, [pages, total]);

  const { range } = virtual;
  const first = range ? range.startIndex * columns : 0;
  const last = range ? (range.endIndex + 1) * columns - 1 : 0;
  useEffect(() => {
    if (width) {
      pages.show(first, Math.min(last, total - 1));
    }
  }, [pages, first, last, total, width]);

  const keys = useTileKeys({
    frame,
    columns,
    rows: range ? range.endIndex - range.startIndex : 1,
    total,
    active,
    setActive,
    scrollTo: index => virtual.scrollToIndex(index)
  });
  const { returned } = props;
  useEffect(() => {
    if (returned !== null) {
      keys.focus(returned);
    }
  }, [returned]);

  return (
    <div className="labdl-data-grid" ref={frame}>
      <div
        ref={room}
        role="grid"
        aria-label={trans.__('Samples')}
        aria-rowcount={rows}
        aria-colcount={columns}
        style={{ height: virtual.getTotalSize() }}
        onKeyDown={keys.onKeyDown}
      >
        {virtual.getVirtualItems().map(item => (
          <div
            key={item.key}
            role="row"
            aria-rowindex={item.index + 1}
            className="labdl-data-row"
            style={{
              height: row,
              gridTemplateColumns: `repeat(${columns}, ${side}px)`,
              transform: `translateY(${item.start}px)`
            }}
          >
            {positions(item.index, columns, total).map(position => (
              <div
                key={position}
                role="gridcell"
                aria-colindex={(position % columns) + 1}
              >
                <SampleTile
                  sample={pages.at(position)}
                  position={position}
                  isFocusable={position === active}
                  showsLabels={size === 'large'}
                  classes={classes}
                  onOpen={onOpen}
                  onFocus={setActive}
                  trans={trans}
                />
              </div>
            ))}
          </div>
        ))}
      </div>
    </div>
  );
}

function positions(row: number, columns: number, total: number): number[] {
  const start = row * columns;
  const count = Math.max(0, Math.min(columns, total - start));
  return Array.from({ length: count }, (_, i) => start + i);
}
