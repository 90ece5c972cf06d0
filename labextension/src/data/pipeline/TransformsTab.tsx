// Transforms of a data set: the steps with their settings, beside a live preview.

import { useRef, useState } from 'react';
import type { DatasetSummary, StepProblem } from '../../api/data';
import { Icon, IconButton } from '../../ui/Icon';
import type { Translator } from '../../ui/translator';
import type { DataHost } from '../host';
import { AddTransform } from './AddTransform';
import { AppliedSteps } from './AppliedSteps';
import type { Edit, PipelineState } from './pipeline-edits';
import { undoOf } from './undo-keys';
import { PreviewGrid } from './PreviewGrid';
import { SplitSettings } from './SplitSettings';
import { infoOf, placeBehind } from './step-places';
import { stepName } from './step-text';
import { findStep, rowsOf, type Place } from './step-tree';
import { StepList } from './StepList';
import { StepSettings } from './StepSettings';
import { useTransforms } from './useTransforms';

interface TransformsTabProps {
  summary: DatasetSummary;
  state: PipelineState;
  onEdit: (edit: Edit) => void;
  /** Number of the sample in the preview. */
  index: number;
  onIndex: (index: number) => void;
  host: DataHost;
  isShown: boolean;
  trans: Translator;
}

export function TransformsTab(props: TransformsTabProps): JSX.Element {
  const { summary, state, onEdit, host, isShown, trans } = props;
  const { now, selected } = state;
  const { transforms, problem, retry } = useTransforms(host, isShown);
  const [adding, setAdding] = useState<Place | null>(null);
  const [problems, setProblems] = useState<readonly StepProblem[]>([]);
  const addButton = useRef<HTMLButtonElement>(null);
  const rows = rowsOf(now.steps);
  const row = rows.find(({ step }) => step.id === selected);
  const owner = findStep(now.steps, adding?.parent ?? null);
  const close = () => {
    setAdding(null);
    requestAnimationFrame(() => addButton.current?.focus());
  };
  return (
    <div className="labdl-data-transforms">
      <div
        className="labdl-data-pipeline"
        onKeyDown={event => {
          const kind = undoOf(event.nativeEvent);
          if (kind) {
            event.preventDefault();
            event.stopPropagation();
            onEdit({ kind });
          }
        }}
      >
        {adding && transforms ? (
          <AddTransform
            transforms={
              owner ? transforms.filter(({ mixes }) => !mixes) : transforms
            }
            entries={summary.entries}
            owner={owner ? stepName(owner) : null}
            onAdd={({ name, random, initial = {} }) => {
              const phase = random && !owner ? 'training' : 'always';
              const step = { type: name, settings: initial, phase } as const;
              onEdit({ kind: 'add', step, place: adding });
              close();
            }}
            onClose={close}
            trans={trans}
          />
        ) : (
          <>
            <div className="labdl-data-bar">
              <button
                ref={addButton}
                type="button"
                disabled={!transforms}
                onClick={() =>
                  setAdding(placeBehind(now.steps, selected, transforms))
                }
              >
                <Icon name="plus" />
                {trans.__('Add a transform')}
              </button>
              <span className="labdl-data-buttons">
                <IconButton
                  icon="undo"
                  label={trans.__('Undo')}
                  disabled={state.past.length === 0}
                  onClick={() => onEdit({ kind: 'undo' })}
                />
                <IconButton
                  icon="redo"
                  label={trans.__('Redo')}
                  disabled={state.future.length === 0}
                  onClick={() => onEdit({ kind: 'redo' })}
                />
              </span>
            </div>
            {problem && (
              <div className="labdl-data-notice" role="alert">
                <span>{problem}</span>
                <button type="button" onClick={retry}>
                  {trans.__('Try again')}
                </button>
              </div>
            )}
            <AppliedSteps applied={summary.applied ?? []} trans={trans} />
            {now.steps.length === 0 ? (
              <p className="labdl-data-empty">
                {trans.__(
                  'No steps: the samples train as they are. Add a transform, such as a size that all pictures get.'
                )}
              </p>
            ) : (
              <StepList
                pipeline={now}
                selected={selected}
                infos={transforms}
                problems={problems}
                onEdit={onEdit}
                onAddInside={setAdding}
                trans={trans}
              />
            )}
            {row && transforms && (
              <StepSettings
                key={row.step.id}
                step={row.step}
                path={row.path}
                info={infoOf(transforms, row.step.type)}
                onEdit={onEdit}
                trans={trans}
              />
            )}
            <SplitSettings
              split={now.split}
              splits={summary.splits ?? []}
              onEdit={onEdit}
              trans={trans}
            />
          </>
        )}
      </div>
      {summary.samples > 0 && (
        <PreviewGrid
          key={summary.split}
          pipeline={now}
          selected={selected}
          index={props.index}
          samples={summary.samples}
          onIndex={props.onIndex}
          onProblems={setProblems}
          host={host}
          isShown={isShown}
          classes={summary.classes ?? []}
          trans={trans}
        />
      )}
    </div>
  );
}
