// Last epoch in one line, and a folded table of all epochs, newest first.

import { memo } from 'react';
import { formatCount, formatNumber } from '../../ui/number-format';
import type { Best, EpochRow } from '../store/epochs';
import type { Translator } from '../../ui/translator';

/** Maximum number of rows; exports of a run contain all. */
const SHOWN = 200;

export const Epochs = memo(function Epochs({
  rows,
  best,
  trans
}: {
  rows: readonly EpochRow[];
  best: Best;
  trans: Translator;
}): JSX.Element | null {
  if (!rows.length) {
    return null;
  }
  const last = rows[rows.length - 1];
  const names = [...new Set(rows.flatMap(row => Object.keys(row.figures)))];
  return (
    <details className="labdl-dashboard-epochs">
      <summary>
        <span className="labdl-dashboard-summary">
          {trans.__('Epoch %1:', formatCount(last.epoch))}
          {Object.entries(last.figures).map(([name, value]) => (
            <span key={name}>
              {name} <b>{formatNumber(value)}</b>
            </span>
          ))}
        </span>
      </summary>
      <div className="labdl-dashboard-table">
        <table>
          <thead>
            <tr>
              {[trans.__('epoch'), ...names, trans.__('samples/s')].map(
                name => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                )
              )}
            </tr>
          </thead>
          <tbody>
            {[...rows]
              .slice(-SHOWN)
              .reverse()
              .map(row => (
                <tr key={row.epoch}>
                  <th scope="row">{row.epoch}</th>
                  {names.map(name => (
                    <td
                      key={name}
                      data-best={best[name]?.epoch === row.epoch || undefined}
                      title={
                        best[name]?.epoch === row.epoch
                          ? trans.__('Best so far')
                          : undefined
                      }
                    >
                      {formatNumber(row.figures[name])}
                    </td>
                  ))}
                  <td>
                    {row.samplesPerSecond === null
                      ? '–'
                      : formatNumber(row.samplesPerSecond)}
                  </td>
                </tr>
              ))}
          </tbody>
        </table>
      </div>
    </details>
  );
});
