// Confusion matrix: a table for few classes, an image for many; the cell under the pointer is described in words.

import { useState } from 'react';
import { formatCount, formatPercent } from '../../ui/number-format';
import { onViridis, viridis } from '../charts/viridis';
import type { Translator } from '../../ui/translator';
import { rowSums, shade } from './confusion';
import { ConfusionPicture } from './ConfusionPicture';
import { className } from './correctness';

/** Maximum number of classes with readable numbers. */
const READABLE = 20;

export interface MatrixProps {
  counts: readonly (readonly number[])[];
  /** Indices of the classes in display order. */
  order: readonly number[];
  isShare: boolean;
  classes: readonly string[] | null;
  trans: Translator;
}

export interface Cell {
  readonly truth: number;
  readonly predicted: number;
}

export function ConfusionMatrix(props: MatrixProps): JSX.Element {
  const { counts, order, classes, trans } = props;
  const [cell, setCell] = useState<Cell | null>(null);
  const Matrix = order.length > READABLE ? ConfusionPicture : Table;
  return (
    <div className="labdl-matrix">
      <Matrix {...props} point={setCell} />
      <p className="labdl-tab-note labdl-matrix-note">
        {cell && cell.truth < counts.length && cell.predicted < counts.length
          ? cellWords(cell, counts, classes, trans)
          : trans.__(
              'Rows are true classes, columns are predicted classes. Point at a cell to read it.'
            )}
      </p>
    </div>
  );
}

function Table(
  props: MatrixProps & { point: (cell: Cell | null) => void }
): JSX.Element {
  const { counts, order, isShare, classes, point, trans } = props;
  const sums = rowSums(counts);
  const most = Math.max(1, ...counts.flat());
  return (
    <div className="labdl-matrix-frame" tabIndex={0}>
      <table
        className="labdl-matrix-table"
        aria-label={trans.__('Confusion matrix')}
        onMouseLeave={() => point(null)}
      >
        <thead>
          <tr>
            <td className="labdl-matrix-corner">
              {trans.__('true ↓ predicted →')}
            </td>
            {order.map(place => (
              <th key={place} scope="col" title={className(classes, place)}>
                <bdi>{className(classes, place)}</bdi>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {order.map(truth => (
            <tr key={truth}>
              <th scope="row" title={className(classes, truth)}>
                <bdi>{className(classes, truth)}</bdi>
              </th>
              {order.map(predicted => {
                const times = counts[truth][predicted];
                const share = times / (sums[truth] || 1);
                const part = shade(isShare ? share : times / most);
                return (
                  <td
                    key={predicted}
                    data-right={truth === predicted || undefined}
                    style={
                      times
                        ? { background: viridis(part), color: onViridis(part) }
                        : undefined
                    }
                    title={cellWords(
                      { truth, predicted },
                      counts,
                      classes,
                      trans
                    )}
                    onMouseEnter={() => point({ truth, predicted })}
                  >
                    {isShare ? shortShare(share) : formatCount(times)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Share with as many digits as fit a cell. */
function shortShare(share: number): string {
  return share === 0 ? '0' : share.toFixed(2).replace(/^0/, '');
}

function cellWords(
  { truth, predicted }: Cell,
  counts: MatrixProps['counts'],
  classes: readonly string[] | null,
  trans: Translator
): string {
  const times = counts[truth][predicted];
  const [sum] = rowSums([counts[truth]]);
  return trans.__(
    'true %1, predicted %2: %3 (%4 of %5)',
    className(classes, truth),
    className(classes, predicted),
    formatCount(times),
    formatPercent(sum ? times / sum : 0),
    formatCount(sum)
  );
}
