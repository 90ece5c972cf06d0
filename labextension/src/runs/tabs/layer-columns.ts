// Columns of the table of layers: names, number formats and sparklines.

import {
  formatCount,
  formatSignificant,
  formatPercent
} from '../../ui/number-format';
import type { HealthFigure } from '../store/health-figures';
import type { LayerMoment } from '../store/layers';
import type { Translator } from '../../ui/translator';

/** Maximum number of points of a sparkline. */
const POINTS = 40;

export interface Column {
  readonly figure: HealthFigure;
  readonly label: string;
  readonly hint: string;
  readonly write: (value: number) => string;
  /** Whether it has a sparkline, on a logarithmic axis. */
  readonly isDrawn?: boolean;
}

/** Last values of a layer's statistic, oldest first; NaN where it was not finite. */
export function history(
  moments: readonly LayerMoment[],
  name: string,
  figure: HealthFigure
): number[] {
  const step = Math.ceil(moments.length / POINTS);
  const found: number[] = [];
  for (let at = (moments.length - 1) % step; at < moments.length; at += step) {
    const value = moments[at].figure(name, figure);
    if (value !== undefined) {
      found.push(value ?? NaN);
    }
  }
  return found;
}

export function formatFigure(
  moment: LayerMoment | undefined,
  name: string,
  { figure, write }: Column,
  trans: Translator
): string {
  const value = moment?.figure(name, figure);
  return value === undefined
    ? '–'
    : value === null
      ? trans.__('not finite')
      : write(value);
}

export function figureColumns(trans: Translator): readonly Column[] {
  const number = (value: number) => formatSignificant(value);
  return [
    {
      figure: 'gradient',
      label: trans.__('Gradient'),
      hint: trans.__(
        'Norm of the gradient of the loss with respect to the parameters'
      ),
      write: number,
      isDrawn: true
    },
    {
      figure: 'update',
      label: trans.__('Update'),
      hint: trans.__(
        'Norm of the update of a step relative to the norm of the weights'
      ),
      write: value => `${formatSignificant(value * 100, 2)} %`,
      isDrawn: true
    },
    {
      figure: 'weights',
      label: trans.__('Weights'),
      hint: trans.__('Norm of the parameters'),
      write: number
    },
    {
      figure: 'mean',
      label: trans.__('Mean'),
      hint: trans.__('Mean of the output'),
      write: number
    },
    {
      figure: 'std',
      label: trans.__('Std'),
      hint: trans.__('Standard deviation of the output'),
      write: number
    },
    {
      figure: 'zeros',
      label: trans.__('Zeros'),
      hint: trans.__('Fraction of zeros in the output'),
      write: formatPercent
    },
    {
      figure: 'notFinite',
      label: trans.__('Not finite'),
      hint: trans.__('Infinite or NaN values'),
      write: formatCount
    }
  ];
}
