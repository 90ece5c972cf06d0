// Tab of the confusion matrix.

import { useMemo, useState } from 'react';
import { formatCount, formatPercent } from '../../ui/number-format';
import type { Confusion } from '../store/validation';
import type { Translator } from '../../ui/translator';
import type { TabProps } from '.';
import { ConfusionMatrix } from './ConfusionMatrix';
import { accuracy, mistakes, mostConfused } from './confusion';
import { EmptyState } from '../../ui/EmptyState';
import { className } from './correctness';
import { MomentSlider, useMoment } from './MomentSlider';

const LISTED = 20;

export function ConfusionTab({ view, trans }: TabProps): JSX.Element {
  const { confusions, classes, task } = view.validation;
  const { moment, at, choose } = useMoment(confusions);
  const [isShare, setIsShare] = useState(false);
  const [isSorted, setIsSorted] = useState(false);
  const counts = moment?.counts ?? null;
  const order = useMemo(
    () =>
      counts &&
      (isSorted ? mostConfused(counts) : counts.map((_, place) => place)),
    [counts, isSorted]
  );
  if (!moment) {
    return (
      <EmptyState>
        {task === 'regression'
          ? trans.__(
              'No confusion matrix: this model predicts numbers, not classes.'
            )
          : trans.__(
              'The confusion matrix of the validation data appears here after the first epoch of a classifier.'
            )}
      </EmptyState>
    );
  }
  const right = counts && accuracy(counts);
  return (
    <div className="labdl-confusion">
      <div className="labdl-tab-tools">
        <MomentSlider
          moments={confusions}
          at={at}
          choose={choose}
          trans={trans}
        />
        {counts && (
          <>
            <label>
              <input
                type="checkbox"
                checked={isShare}
                onChange={event => setIsShare(event.target.checked)}
              />{' '}
              {trans.__('Normalize by true class')}
            </label>
            <label>
              <input
                type="checkbox"
                checked={isSorted}
                onChange={event => setIsSorted(event.target.checked)}
              />{' '}
              {trans.__('Most confused first')}
            </label>
          </>
        )}
        {right !== null && (
          <span className="labdl-tab-note">
            {trans.__('%1 right', formatPercent(right))}
          </span>
        )}
      </div>
      <div className="labdl-confusion-body">
        {counts && order && (
          <ConfusionMatrix
            counts={counts}
            order={order}
            isShare={isShare}
            classes={classes}
            trans={trans}
          />
        )}
        <Mistakes confusion={moment} classes={classes} trans={trans} />
      </div>
    </div>
  );
}

function Mistakes({
  confusion,
  classes,
  trans
}: {
  confusion: Confusion;
  classes: readonly string[] | null;
  trans: Translator;
}): JSX.Element {
  const found = useMemo(() => mistakes(confusion, LISTED), [confusion]);
  return (
    <section className="labdl-mistakes">
      <h3>{trans.__('Most frequent mistakes')}</h3>
      {!found.length && (
        <p className="labdl-tab-note">{trans.__('No mistakes.')}</p>
      )}
      <ol>
        {found.map(({ truth, predicted, count: times, share }) => (
          <li key={`${truth}-${predicted}`}>
            <bdi title={className(classes, truth)}>
              {className(classes, truth)}
            </bdi>
            <span role="img" aria-label={trans.__('predicted as')}>
              →
            </span>
            <bdi title={className(classes, predicted)}>
              {className(classes, predicted)}
            </bdi>
            <span className="labdl-mistake-count">
              {formatCount(times)}
              {share !== null && (
                <small
                  title={trans.__('Fraction of the true class')}
                >{` ${formatPercent(share)}`}</small>
              )}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}
