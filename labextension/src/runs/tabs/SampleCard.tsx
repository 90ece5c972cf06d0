// One sample: input, target and prediction.

import type { ReactNode } from 'react';
import { formatNumber, formatPercent } from '../../ui/number-format';
import type { Sample } from '../store/validation';
import type { ShownOutput, ShownTarget } from '../store/source';
import type { Translator } from '../../ui/translator';
import { className, isRight } from './correctness';
import { ArrayView } from './ArrayView';

export interface SampleCardProps {
  sample: Sample;
  /** Undefined: no prediction for it. */
  output: ShownOutput | undefined;
  classes: readonly string[] | null;
  /** Content beside the number of the sample. */
  children?: ReactNode;
  trans: Translator;
}

export function SampleCard(props: SampleCardProps): JSX.Element {
  const { sample, output, classes, children, trans } = props;
  const { index, input, target } = sample;
  const right = isRight(target, output);
  return (
    <li className="labdl-sample" data-right={right ?? undefined}>
      <div className="labdl-sample-head">
        <span>{trans.__('Sample %1', index)}</span>
        {right !== null && (
          <span className="labdl-verdict">
            <span aria-hidden="true">{right ? '✓' : '✗'}</span>{' '}
            {right ? trans.__('right') : trans.__('wrong')}
          </span>
        )}
        {children}
      </div>
      <div className="labdl-sample-input">
        <ArrayView
          value={input}
          name={trans.__('Input of sample %1', index)}
          trans={trans}
        />
      </div>
      <dl className="labdl-sample-facts">
        <dt>{trans.__('Target')}</dt>
        <dd>
          <Target target={target} classes={classes} trans={trans} />
        </dd>
        <dt>{trans.__('Output')}</dt>
        <dd className={output?.classes ? 'labdl-mod-wide' : undefined}>
          {output ? (
            <Output
              output={output}
              target={target}
              classes={classes}
              trans={trans}
            />
          ) : (
            '–'
          )}
        </dd>
      </dl>
    </li>
  );
}

function Target({
  target,
  classes,
  trans
}: {
  target: ShownTarget;
  classes: readonly string[] | null;
  trans: Translator;
}): JSX.Element {
  if (target.class === undefined || target.class === null) {
    return <ArrayView value={target} name={trans.__('Target')} trans={trans} />;
  }
  const name = className(classes, target.class);
  return (
    <bdi className="labdl-class" title={name}>
      {name}
    </bdi>
  );
}

function Output({
  output,
  target,
  classes,
  trans
}: {
  output: ShownOutput;
  target: ShownTarget;
  classes: readonly string[] | null;
  trans: Translator;
}): JSX.Element {
  if (!output.classes) {
    return <ArrayView value={output} name={trans.__('Output')} trans={trans} />;
  }
  return (
    <ol className="labdl-scores">
      {output.classes.map((place, rank) => {
        const name = className(classes, place);
        const score = output.scores?.[rank];
        return (
          <li key={rank} data-target={place === target.class || undefined}>
            <bdi className="labdl-class" title={name}>
              {name}
            </bdi>
            {place === target.class && (
              <span className="labdl-scores-target" aria-hidden="true">
                ◀
              </span>
            )}
            {isShare(score) && (
              <span className="labdl-scores-bar" aria-hidden="true">
                <span style={{ width: `${score * 100}%` }} />
              </span>
            )}
            <span className="labdl-scores-value">{scoreText(score)}</span>
          </li>
        );
      })}
    </ol>
  );
}

/** Text of a score: probabilities in percent, other scores as they are. */
function scoreText(score: number | null | undefined): string {
  return isShare(score) ? formatPercent(score) : formatNumber(score);
}

function isShare(score: number | null | undefined): score is number {
  return typeof score === 'number' && score >= 0 && score <= 1;
}
