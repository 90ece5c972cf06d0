// Row of small charts: learning rate, throughput, and time of a step.

import { useMemo } from 'react';
import {
  formatCount,
  formatSignificant,
  formatSetting
} from '../../ui/number-format';
import type { Pace } from '../store/throughput';
import type { Steps } from './plot-content';
import type { ChartView } from './PlotFrame';
import { SmallChart, type Line } from './SmallChart';
import { isGoing } from '../store/progress';
import type { RunView } from '../store/store';
import type { Translator } from '../../ui/translator';

export interface SmallChartsProps {
  run: RunView;
  view: ChartView;
  extent: Steps | null;
  trans: Translator;
}

const HEIGHT = 92;
const FROM_ZERO = [0, null] as const;
/** A step is an outlier if it takes more than this many times the 90th percentile. */
const OUTLYING = 2;

export function SmallCharts(props: SmallChartsProps): JSX.Element | null {
  const { run, view, extent, trans } = props;
  const { rate, pace, marks } = run;
  const rates = useMemo<Line[]>(
    () => [
      {
        name: trans.__('learning rate'),
        color: 'train',
        curve: rate.curve
      }
    ],
    [rate, trans]
  );
  const [speeds, times] = useMemo<[Line[], Line[]]>(() => {
    const x = pace.map(moment => moment.step);
    const line = (
      name: string,
      color: Line['color'],
      of: (moment: (typeof pace)[number]) => number
    ): Line => ({ name, color, curve: { x, y: pace.map(of) } });
    const isOne =
      pace.length > 0 && pace.every(({ update }) => update === null);
    return [
      [line(trans.__('samples/s'), 'train', each => each.throughput)],
      [
        line(trans.__('data'), 'validation', each => each.data),
        line(
          isOne ? trans.__('step') : trans.__('compute'),
          'train',
          each => each.compute
        ),
        ...(isOne
          ? []
          : [line(trans.__('update'), 'third', each => each.update ?? 0)])
      ]
    ];
  }, [pace, trans]);

  // version 1 of the events does not have these numbers
  const isRecorded = (run.start?.version ?? 1) >= 2;
  if (!isRecorded && !rate.curve.length && !pace.length) {
    return null;
  }
  const common = { view, extent, marks, height: HEIGHT, trans };
  const now = pace.length ? pace[pace.length - 1] : null;
  const isOne = now !== null && now.update === null;
  return (
    <div className="labdl-small-charts">
      <SmallChart
        {...common}
        title={trans.__('Learning rate')}
        kind="steps"
        lines={rates}
        // a run in progress has it in the field that changes it
        now={isGoing(run.status) ? undefined : currentRate(rate.now)}
        hint={
          rate.setAt === null
            ? undefined
            : trans.__('Set manually after step %1', formatCount(rate.setAt))
        }
        write={formatSetting}
        tick={rateTick}
        empty={trans.__('Available after the first steps')}
      />
      <SmallChart
        {...common}
        title={trans.__('Throughput')}
        hint={trans.__('Samples per second of step time, without validation')}
        kind="lines"
        lines={speeds}
        now={now ? trans.__('%1 samples/s', formatCount(now.throughput)) : '–'}
        write={formatCount}
        range={FROM_ZERO}
        empty={trans.__('Available after the first steps')}
      />
      <SmallChart
        {...common}
        title={trans.__('Step time')}
        hint={
          isOne
            ? trans.__(
                'Data: waiting for data. Step: forward, backward and update, compiled as one.'
              )
            : trans.__(
                'Data: waiting for data. Compute: forward and backward. Update: the optimizer.'
              )
        }
        kind="stack"
        lines={times}
        write={milliseconds}
        range={rangeOf(pace)}
        empty={trans.__('Available after the first steps')}
      />
    </div>
  );
}

function currentRate(rate: number | null): string {
  return rate === null ? '–' : formatSetting(rate);
}

function milliseconds(value: number): string {
  return value >= 1000
    ? `${formatSignificant(value / 1000)} s`
    : `${formatSignificant(value)} ms`;
}

/** Short text of a learning rate. */
function rateTick(value: number): string {
  return value !== 0 && (Math.abs(value) < 0.001 || Math.abs(value) >= 1e5)
    ? Number(value.toPrecision(3)).toExponential()
    : formatSetting(value);
}

/** Range of the axis without outliers: the first step, which compiles, may take a thousand times as long. */
function rangeOf(pace: readonly Pace[]): readonly [number, number | null] {
  const totals = pace
    .map(({ data, compute, update }) => data + compute + (update ?? 0))
    .sort((a, b) => a - b);
  const usual = OUTLYING * (totals[Math.floor(0.9 * totals.length)] ?? 0);
  const isOutlying = totals[totals.length - 1] > usual;
  return isOutlying && usual > 0 ? [0, usual] : FROM_ZERO;
}
