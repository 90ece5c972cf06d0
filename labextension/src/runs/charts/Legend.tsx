// Legend of a metric's chart: names of the lines, current values and the best value.

import { formatCount, formatNumber } from '../../ui/number-format';
import type { Best } from '../store/epochs';
import type { MetricCurves } from '../store/metrics';
import type { Smoothing } from '../store/smoothing';
import type { Translator } from '../../ui/translator';

export interface LegendProps {
  metric: MetricCurves;
  smoothing: Smoothing;
  best: Best;
  trans: Translator;
}

export function Legend(props: LegendProps): JSX.Element {
  const { metric, smoothing, best, trans } = props;
  const { name, train, validation } = metric;
  return (
    <span className="labdl-chart-legend">
      <span
        className="labdl-legend-entry"
        data-curve="train"
        title={
          smoothing === 'none'
            ? trans.__('Training')
            : trans.__('Training, smoothed')
        }
      >
        {trans.__('train')}{' '}
        <span className="labdl-metric" data-metric={name}>
          {formatNumber(train.last(smoothing))}
        </span>
        {validation.length === 0 && (
          <TrainEpochs metric={metric} best={best} trans={trans} />
        )}
      </span>
      {validation.length > 0 && (
        <span
          className="labdl-legend-entry"
          data-curve="validation"
          title={trans.__('Validation, end of epoch')}
        >
          {trans.__('validation')}{' '}
          <span className="labdl-metric" data-metric={`val_${name}`}>
            {formatNumber(validation.last())}
          </span>
          <BestOf name={`val_${name}`} best={best} trans={trans} />
        </span>
      )}
    </span>
  );
}

/**
 * Mean of the last epoch before the best one: the value of the steps beside it is of another kind, which may be better
 * than every epoch.
 */
function TrainEpochs({
  metric: { name, train, epochs },
  best,
  trans
}: Pick<LegendProps, 'metric' | 'best' | 'trans'>): JSX.Element | null {
  return epochs.length > 0 ? (
    <>
      {train !== epochs && best[name] && (
        <span
          className="labdl-chart-best"
          title={trans.__('Mean of the last epoch')}
        >
          {' '}
          {trans.__('last epoch %1', formatNumber(epochs.last()))}
        </span>
      )}
      <BestOf name={name} best={best} trans={trans} />
    </>
  ) : null;
}

function BestOf({
  name,
  best,
  trans
}: {
  name: string;
  best: Best;
  trans: Translator;
}): JSX.Element | null {
  const found = best[name];
  return found ? (
    <span
      className="labdl-chart-best"
      data-best={name}
      title={trans.__(
        'Best epoch mean: %1, in epoch %2',
        formatNumber(found.value),
        formatCount(found.epoch ?? 0)
      )}
    >
      {' '}
      {trans.__('best %1', formatNumber(found.value))}{' '}
      <span className="labdl-chart-best-epoch">
        {trans.__('(epoch %1)', formatCount(found.epoch ?? 0))}
      </span>
    </span>
  ) : null;
}
