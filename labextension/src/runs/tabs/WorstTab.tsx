// Validation samples with the highest loss.

import { formatNumber } from '../../ui/number-format';
import type { TabProps } from '.';
import { CopyButton } from '../../ui/CopyButton';
import { EmptyState } from '../../ui/EmptyState';
import { MomentSlider, useMoment } from './MomentSlider';
import { SampleCard } from './SampleCard';

export function WorstTab({ view, trans }: TabProps): JSX.Element {
  const { worst, classes } = view.validation;
  const { moment, at, choose } = useMoment(worst);
  if (!moment) {
    return (
      <EmptyState>
        {trans.__(
          'The validation samples with the highest loss appear here after the first epoch, for losses that are defined per sample, such as cross entropy or squared error.'
        )}
      </EmptyState>
    );
  }
  return (
    <div className="labdl-worst">
      <div className="labdl-tab-tools">
        <MomentSlider moments={worst} at={at} choose={choose} trans={trans} />
        <CopyButton
          label={trans.__('Copy the indices')}
          text={() => `[${moment.samples.map(each => each.index).join(', ')}]`}
          trans={trans}
        />
      </div>
      <ol className="labdl-samples">
        {moment.samples.map((sample, place) => (
          <SampleCard
            key={place}
            sample={sample}
            output={sample.output}
            classes={classes}
            trans={trans}
          >
            <span className="labdl-sample-loss">
              {trans.__('loss %1', formatNumber(sample.loss))}
            </span>
          </SampleCard>
        ))}
      </ol>
    </div>
  );
}
