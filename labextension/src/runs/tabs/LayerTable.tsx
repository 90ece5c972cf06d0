// Table of layers; only visible rows are rendered, since a model may have a thousand.

import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, type KeyboardEvent } from 'react';
import { stateText, stateLabel } from '../dashboard/health-text';
import type { LayerMoment } from '../store/layers';
import { Sparkline } from '../charts/Sparkline';
import type { Translator } from '../../ui/translator';
import { figureColumns, history, formatFigure } from './layer-columns';
import type { LayerRow, Sorting, SortKey } from './layer-rows';

const ROW = 28;

export interface LayerTableProps {
  rows: readonly LayerRow[];
  moments: readonly LayerMoment[];
  chosen: string | null;
  choose: (layer: string) => void;
  sorting: Sorting;
  sort: (sorting: Sorting) => void;
  trans: Translator;
}

export function LayerTable(props: LayerTableProps): JSX.Element {
  const { rows, moments, chosen, choose, sorting, sort, trans } = props;
  const frame = useRef<HTMLDivElement>(null);
  const focusNext = useRef(false);
  const sight = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW,
    overscan: 8,
    scrollPaddingStart: ROW
  });
  const items = sight.getVirtualItems();
  const before = items[0]?.start ?? 0;
  const after = sight.getTotalSize() - (items[items.length - 1]?.end ?? 0);
  const columns = figureColumns(trans);
  const last = moments[moments.length - 1];

  const onKeyDown = (event: KeyboardEvent) => {
    const at = rows.findIndex(({ name }) => name === chosen);
    const next = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      Home: 0,
      End: rows.length - 1
    }[event.key];
    if (next !== undefined && rows[next]) {
      event.preventDefault();
      focusNext.current = true;
      sight.scrollToIndex(next);
      choose(rows[next].name);
    }
  };
  useEffect(() => {
    const button = frame.current?.querySelector<HTMLElement>(
      '[aria-pressed="true"]'
    );
    if (focusNext.current && button) {
      focusNext.current = false;
      button.focus({ preventScroll: true });
    }
  });

  const head = (by: SortKey, label: string, hint?: string) => (
    <th
      key={by}
      scope="col"
      aria-sort={
        sorting.by === by
          ? sorting.isDown
            ? 'descending'
            : 'ascending'
          : 'none'
      }
    >
      <button
        type="button"
        title={hint ?? label}
        onClick={() => sort(nextSorting(sorting, by))}
      >
        {label}
        <span aria-hidden="true">
          {sorting.by === by ? (sorting.isDown ? ' ▼' : ' ▲') : ''}
        </span>
      </button>
    </th>
  );
  const isInSight = items.some(({ index }) => rows[index]?.name === chosen);
  return (
    <div className="labdl-layers-frame" ref={frame}>
      <table aria-rowcount={rows.length + 1} onKeyDown={onKeyDown}>
        <thead>
          <tr>
            {head('name', trans.__('Layer'))}
            {head('state', trans.__('State'))}
            {columns.map(({ figure, label, hint }) =>
              head(figure, label, hint)
            )}
          </tr>
        </thead>
        <tbody>
          {before > 0 && <tr style={{ height: before }} aria-hidden="true" />}
          {items.map(({ index }) => {
            const { name, label, state } = rows[index];
            const isChosen = name === chosen;
            return (
              <tr
                key={name}
                aria-rowindex={index + 2}
                data-chosen={isChosen || undefined}
                data-state={state ?? undefined}
                style={{ height: ROW }}
                onClick={() => choose(name)}
              >
                <th scope="row">
                  <button
                    type="button"
                    aria-pressed={isChosen}
                    // one tab stop; arrow keys move to the other rows
                    tabIndex={
                      isChosen || (!isInSight && index === items[0].index)
                        ? 0
                        : -1
                    }
                    title={label}
                    onClick={() => choose(name)}
                  >
                    <bdi dir="ltr">{label}</bdi>
                  </button>
                </th>
                <td>
                  {state && (
                    <span
                      className="labdl-state"
                      data-state={state}
                      title={stateText(state, trans)}
                    >
                      {stateLabel(state, trans)}
                    </span>
                  )}
                </td>
                {columns.map(column => (
                  <td key={column.figure} data-figure={column.figure}>
                    {column.isDrawn && (
                      <Sparkline
                        values={history(moments, name, column.figure)}
                        isLogarithmic
                      />
                    )}
                    <span>{formatFigure(last, name, column, trans)}</span>
                  </td>
                ))}
              </tr>
            );
          })}
          {after > 0 && <tr style={{ height: after }} aria-hidden="true" />}
        </tbody>
      </table>
      {!rows.length && (
        <p className="labdl-tab-note">
          {trans.__('No layer name contains this text.')}
        </p>
      )}
    </div>
  );
}

/** Sorting after a click on a heading. Numbers start with the largest; a third click restores the model's order. */
function nextSorting(now: Sorting, by: SortKey): Sorting {
  const isDown = by !== 'name';
  if (now.by !== by) {
    return { by, isDown };
  }
  return now.isDown === isDown
    ? { by, isDown: !isDown }
    : { by: 'model', isDown: false };
}
