// Statistics of a data set: class balance, sizes and lengths, broken files.

import { formatCount } from '../../ui/number-format';
import type { Translator } from '../../ui/translator';
import type { DataHost } from '../host';
import { BrokenSamples } from './BrokenSamples';
import { ClassBalance } from './ClassBalance';
import { HistogramPlot } from './HistogramPlot';
import { useStatistics } from './useStatistics';

interface StatisticsTabProps {
  host: DataHost;
  isShown: boolean;
  /** Shows the samples of a class. */
  onClass: (name: string) => void;
  trans: Translator;
}

export function StatisticsTab(props: StatisticsTabProps): JSX.Element {
  const { host, isShown, onClass, trans } = props;
  const { statistics, problem, retry } = useStatistics(host, isShown);
  const failure = problem && (
    <div className="labdl-data-notice" role="alert">
      <span>{problem}</span>
      <button type="button" onClick={retry}>
        {trans.__('Try again')}
      </button>
    </div>
  );
  if (!statistics) {
    return (
      <div className="labdl-data-statistics">
        {failure || (
          <p className="labdl-data-empty">{trans.__('Reading the samples…')}</p>
        )}
      </div>
    );
  }
  const { read, samples, complete, classes, histograms, broken } = statistics;
  const { broken_count: count } = statistics;
  const words = complete
    ? trans._n('%2 sample read', '%2 samples read', read, formatCount(read))
    : trans.__(
        '%1 of %2 samples read',
        formatCount(read),
        formatCount(samples)
      );
  return (
    <div className="labdl-data-statistics" data-complete={complete}>
      {failure}
      <div className="labdl-data-read">
        {!complete && (
          <progress
            aria-label={trans.__('Samples read')}
            value={read}
            max={Math.max(1, samples)}
          />
        )}
        <span className="labdl-data-quiet">{words}</span>
      </div>
      {samples === 0 && (
        <p className="labdl-data-empty">
          {trans.__('This data set has no samples.')}
        </p>
      )}
      <div className="labdl-data-charts">
        {classes.length > 0 && (
          <ClassBalance classes={classes} onClass={onClass} trans={trans} />
        )}
        <div className="labdl-data-histograms">
          {histograms.map(histogram => (
            <HistogramPlot
              key={histogram.name}
              histogram={histogram}
              trans={trans}
            />
          ))}
        </div>
      </div>
      {(count > 0 || (complete && samples > 0)) && (
        <BrokenSamples
          broken={broken}
          count={count}
          host={host}
          trans={trans}
        />
      )}
    </div>
  );
}
