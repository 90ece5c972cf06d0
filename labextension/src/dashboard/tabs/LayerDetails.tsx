// One layer over time: its figures as curves, and how its values are spread.

import { useMemo } from 'react';
import { count, numberText, shareText } from '../format';
import type { HealthFigure, HealthState } from '../health-figures';
import { stateText } from '../health-words';
import type { SpreadMoment } from '../parts/histograms';
import type { LayerMoment } from '../parts/layers';
import type { Translator } from '../translator';
import { STEPS } from '../x-axis';
import { LineChart, useChartView } from './LineChart';
import { Spreads } from './Spreads';

export interface LayerDetailsProps {
  name: string;
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
  /** Drawn only where it is not 0 all the time. */
  readonly isRare?: boolean;
  readonly range?: readonly [number, number];
}

export function LayerDetails(props: LayerDetailsProps): JSX.Element {
  const { name, state, moments, histograms, trans, onShow } = props;
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
    <section className="labdl-layer" aria-label={trans.__('Layer %1', name)}>
      <div className="labdl-tab-tools">
        <h3 className="labdl-layer-name" title={name}>
          <bdi>{name}</bdi>
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
            writeX={step => trans.__('step %1', count(step))}
            trans={trans}
          />
        ))}
      </div>
      <Spreads name={name} moments={histograms} trans={trans} />
    </section>
  );
}

function drawings(trans: Translator): readonly Drawing[] {
  const number = (value: number) => numberText(value);
  return [
    {
      title: trans.__('Gradient'),
      hint: trans.__('Norm of the gradient of the loss for the parameters'),
      figures: [['gradient', trans.__('Gradient')]],
      write: number,
      isLogarithmic: true
    },
    {
      title: trans.__('Update'),
      hint: trans.__('Norm of the update of a step, as a part of the weights’'),
      figures: [['update', trans.__('Update')]],
      write: value => `${numberText(value * 100, 2)} %`,
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
      hint: trans.__('Share of the output’s values that are 0'),
      figures: [['zeros', trans.__('Zeros')]],
      write: shareText,
      range: [0, 1]
    },
    {
      title: trans.__('Not finite'),
      hint: trans.__('Values that are infinite or not a number (NaN)'),
      figures: [['notFinite', trans.__('Not finite')]],
      write: count,
      isRare: true
    }
  ];
}
