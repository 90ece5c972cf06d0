// Live preview: one sample, and what the steps make of it several times.

import { useCallback, useEffect, useState } from 'react';
import type { SampleView, StepProblem } from '../../api/data';
import { Icon } from '../../ui/Icon';
import type { Translator } from '../../ui/translator';
import type { DataHost, MediaQuery, PreviewQuery } from '../host';
import { mainPart, Part } from '../parts/Part';
import type { LoadPart } from '../parts/Sound';
import { Segments } from '../Segments';
import { indexOf, plain, type Pipeline } from './pipeline-edits';
import { usePreview } from './usePreview';
import { problemText } from '../problem-text';

const COUNT = 8;
const SIZE = 224;
const NONE: readonly StepProblem[] = [];

interface PreviewGridProps {
  pipeline: Pipeline;
  /** Step after which the sample is shown; null for the whole pipeline. */
  selected: number | null;
  /** Number of the sample. */
  index: number;
  samples: number;
  onIndex: (index: number) => void;
  /** Takes the steps that are wrong or fail. */
  onProblems?: (problems: readonly StepProblem[]) => void;
  host: DataHost;
  isShown: boolean;
  classes: readonly string[];
  trans: Translator;
}

export function PreviewGrid(props: PreviewGridProps): JSX.Element {
  const { pipeline, selected, index, samples, host, trans } = props;
  const [seed, setSeed] = useState(0);
  const [phase, setPhase] = useState<'training' | 'evaluation'>('training');
  const at = indexOf(pipeline, selected);
  const step = at < 0 ? pipeline.steps.length : at + 1;
  const { answer, query, problem, isWaiting } = usePreview(
    host,
    props.isShown
      ? {
          index,
          pipeline: plain(pipeline),
          step,
          count: COUNT,
          seed,
          size: SIZE,
          phase
        }
      : null
  );
  const { onProblems } = props;
  useEffect(() => {
    if (answer) {
      onProblems?.(answer.problems ?? NONE);
    }
  }, [answer, onProblems]);
  const own = pipeline.steps[at];
  const isLeftOut = own && own.phase !== 'always' && own.phase !== phase;
  const draw = (
    sample: SampleView,
    alt: string,
    words: string,
    number: number | null
  ) => (
    <Result
      sample={sample}
      words={words}
      alt={alt}
      host={host}
      query={props.isShown ? query : null}
      number={number}
      classes={props.classes}
      trans={trans}
    />
  );
  return (
    <section
      className="labdl-data-preview"
      aria-label={trans.__('Preview')}
      aria-busy={isWaiting}
    >
      <div className="labdl-data-bar">
        <h3>
          {own
            ? trans.__('After step %1: %2', step, own.type)
            : trans.__('Preview')}
        </h3>
        <span className="labdl-data-buttons">
          <Segments
            label={trans.__('Phase of the preview')}
            choices={[
              { id: 'training', label: trans.__('Training') },
              { id: 'evaluation', label: trans.__('Evaluation') }
            ]}
            chosen={phase}
            onChoose={setPhase}
          />
          <button
            type="button"
            title={trans.__('Other random numbers for the same sample')}
            onClick={() => setSeed(seed + 1)}
          >
            {trans.__('Again')}
          </button>
          <button
            type="button"
            disabled={samples < 2}
            onClick={() => props.onIndex(otherIndex(index, samples))}
          >
            <Icon name="shuffle" />
            {trans.__('Another sample')}
          </button>
        </span>
      </div>
      {isLeftOut && (
        <p className="labdl-data-quiet">
          {trans.__('This step is left out in this phase.')}
        </p>
      )}
      {problem && (
        <p className="labdl-data-problem" role="alert">
          {problem}
        </p>
      )}
      {answer?.results.length === 0 &&
        answer.problems?.map(({ step: numbers, message }) => (
          <p
            key={numbers.join('.')}
            className="labdl-data-problem"
            role="alert"
          >
            {trans.__('Step %1: %2', numbers.join('.'), message)}
          </p>
        ))}
      {answer && (
        <div className="labdl-data-results" data-stale={isWaiting || !!problem}>
          <figure className="labdl-data-original">
            {draw(
              answer.original,
              trans.__('The sample %1', answer.original.name),
              answer.original.label,
              null
            )}
            <figcaption title={answer.original.name}>
              {trans.__('Original: %1', answer.original.name)}
            </figcaption>
          </figure>
          <ol aria-label={trans.__('Transformed samples')}>
            {answer.results.map((result, i) => (
              <li key={i} data-result={i}>
                {draw(
                  result,
                  trans.__('Result %1', i + 1),
                  result.label === answer.original.label ? '' : result.label,
                  i
                )}
              </li>
            ))}
          </ol>
        </div>
      )}
    </section>
  );
}

interface ResultProps {
  sample: SampleView;
  alt: string;
  /** The label, where it is of interest. */
  words: string;
  host: DataHost;
  /** What the preview was asked; null while it is out of view. */
  query: PreviewQuery | null;
  /** Position among the results; null for the original. */
  number: number | null;
  classes: readonly string[];
  trans: Translator;
}

function Result(props: ResultProps): JSX.Element {
  const { sample, alt, host, query, number, classes, trans } = props;
  const part = mainPart(sample.parts);
  const load = useCallback<LoadPart>(
    (entry, signal) => host.media(mediaQuery(query, number, entry), signal),
    [host, query, number]
  );
  return (
    <div className="labdl-data-result" data-tile="">
      <div className="labdl-data-tile-face">
        {sample.problem ? (
          <span className="labdl-data-tile-problem" title={sample.problem}>
            <Icon name="warning" />
            <span>{problemText(trans, sample.problem)}</span>
          </span>
        ) : (
          part && (
            <Part
              part={part}
              alt={alt}
              load={query ? load : undefined}
              classes={classes}
              isTile
              showsLabels={false}
              trans={trans}
            />
          )
        )}
      </div>
      <small title={part?.description}>
        {[props.words, part?.description].filter(Boolean).join(' · ')}
      </small>
    </div>
  );
}

/** The part of the result that a preview shows. */
function mediaQuery(
  query: PreviewQuery | null,
  number: number | null,
  entry: string
): MediaQuery {
  const { index = 0, pipeline, step = 0, seed, phase } = query ?? {};
  return number === null || !pipeline
    ? { index, entry }
    : { index, entry, variant: { pipeline, step, seed, phase, number } };
}

/** Another sample by chance. */
function otherIndex(index: number, samples: number): number {
  const other = Math.floor(Math.random() * (samples - 1));
  return other >= index ? other + 1 : other;
}
