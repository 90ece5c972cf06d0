// One layer over time: statistics as curves, and histograms.

import { useMemo } from 'react';
import {
  formatCount,
  formatSignificant,
  formatPercent
} from '../../ui/number-format';
import type { HealthFigure, HealthState } from '../store/health-figures';
import { stateText } from '../dashboard/health-text';
import type { SpreadMoment } from '../store/histograms';
import type { LayerMoment } from '../store/layers';
import type { Translator } from '../../ui/translator';
import { STEPS } from '../charts/x-axis';
import { LineChart, useChartView } from './LineChart';
import { Distributions } from './Distributions';

export interface LayerDetailsProps {
  name: string;
  /** Name for people. */
  label: string;
  state: HealthState | null;
  moments: readonly LayerMoment[];
  histograms: readonly SpreadMoment[];
  trans: Translator;
  onShow?: (layer: string) => void;
}

interface Drawing {
  readonly title: string;
  readonly hint?: string;
  readonly figures: readonly (readonly [figure: HealthFigure, name: string])[];
  readonly write: (value: number) => string;
  readonly isLogarithmic?: boolean;
  /** Whether it is drawn only if it is not always 0. */
  readonly isRare?: boolean;
  readonly range?: readonly [number, number];
}

export function LayerDetails(props: LayerDetailsProps): JSX.Element {
  const { name, label, state, moments, histograms, trans, onShow } = props;
  const charted = useChartView(STEPS);
  const x = useMemo(() => moments.map(({ step }) => step), [moments]);
  const charts = useMemo(
    () =>
      drawings(trans).flatMap(drawing => {
        const lines = drawing.figures.flatMap(([figure, label]) => {
          const values = moments.map(moment => moment.figure(name, figure));
          return values.some(value => value !== undefined)
            ? [{ name: label, values }]
            : [];
        });
        const isTold =
          !drawing.isRare ||
          lines.some(({ values }) => values.some(value => value !== 0));
        return lines.length && isTold ? [{ ...drawing, lines }] : [];
      }),
    [moments, name, trans]
  );
  return (
    <section className="labdl-layer" aria-label={trans.__('Layer %1', label)}>
      <div className="labdl-tab-tools">
        <h3 className="labdl-layer-name" title={label}>
          <bdi>{label}</bdi>
        </h3>
        {onShow && (
          <button
            type="button"
            className="labdl-dashboard-small"
            onClick={() => onShow(name)}
          >
            {trans.__('Show in the graph')}
          </button>
        )}
      </div>
      {state && state !== 'fine' && (
        <p className="labdl-layer-state" data-state={state}>
          {stateText(state, trans)}
        </p>
      )}
      <div className="labdl-line-charts">
        {charts.map(({ title, hint, lines, write, ...how }) => (
          <LineChart
            key={title}
            title={title}
            hint={hint}
            x={x}
            lines={lines}
            isLogarithmic={how.isLogarithmic}
            range={how.range}
            view={charted}
            write={write}
            writeX={step => trans.__('step %1', formatCount(step))}
            trans={trans}
          />
        ))}
      </div>
      <Distributions name={name} moments={histograms} trans={trans} />
    </section>
  );
}

function drawings(trans: Translator): readonly Drawing[] {
  const number = (value: number) => formatSignificant(value);
  return [
    {
      title: trans.__('Gradient'),
      hint: trans.__(
        'Norm of the gradient of the loss with respect to the parameters'
      ),
      figures: [['gradient', trans.__('Gradient')]],
      write: number,
      isLogarithmic: true
    },
    {
      title: trans.__('Update'),
      hint: trans.__(
        'Norm of the update of a step relative to the norm of the weights'
      ),
      figures: [['update', trans.__('Update')]],
      write: value => `${formatSignificant(value * 100, 2)} %`,
      isLogarithmic: true
    },
    {
      title: trans.__('Weights'),
      hint: trans.__('Norm of the parameters'),
      figures: [['weights', trans.__('Weights')]],
      write: number
    },
    {
      title: trans.__('Output'),
      hint: trans.__('Mean and standard deviation of the output'),
      figures: [
        ['mean', trans.__('Mean')],
        ['std', trans.__('Std')]
      ],
      write: number
    },
    {
      title: trans.__('Zeros'),
      hint: trans.__('Fraction of zeros in the output'),
      figures: [['zeros', trans.__('Zeros')]],
      write: formatPercent,
      range: [0, 1]
    },
    {
      title: trans.__('Not finite'),
      hint: trans.__('Infinite or NaN values'),
      figures: [['notFinite', trans.__('Not finite')]],
      write: formatCount,
      isRare: true
    }
  ];
}
