// The selected step: what it does, its phase, and the form of its settings.

import { useId, useMemo } from 'react';
import type { TransformInfo } from '../../api/data';
import { SettingsForm } from '../../forms/SettingsForm';
import type { Translator } from '../../ui/translator';
import { Segments } from '../Segments';
import { phaseText, PHASES } from './phase-text';
import type { Edit } from './pipeline-edits';
import { withLabels } from './setting-labels';
import { objectText, stepName } from './step-text';
import type { Step } from './step-tree';

interface StepSettingsProps {
  step: Step;
  /** Numbers of the step and of those around it. */
  path: readonly number[];
  /** Undefined if this version does not know the transform. */
  info: TransformInfo | undefined;
  onEdit: (edit: Edit) => void;
  trans: Translator;
}

export function StepSettings(props: StepSettingsProps): JSX.Element {
  const { step, path, info, onEdit, trans } = props;
  const id = useId();
  const words = phaseText(trans);
  const schema = useMemo(
    () => info && withLabels(info.schema, trans),
    [info, trans]
  );
  return (
    <section className="labdl-data-settings" aria-labelledby={id}>
      <h3 id={id}>
        {path.join('.')} {stepName(step)}
      </h3>
      {step.object ? (
        <p className="labdl-data-quiet">
          {objectText(step.object, trans)}
          {': '}
          {trans.__(
            'only the kernel has it, so it has no settings here, and a file cannot hold it. To save the pipeline, write it as a class with the decorator T.transform.'
          )}
        </p>
      ) : info ? (
        <Description info={info} trans={trans} />
      ) : (
        <p className="labdl-data-problem" role="alert">
          {trans.__(
            'This version has no transform of this name. Remove the step, or install the package that has it.'
          )}
        </p>
      )}
      {path.length === 1 && (
        <div className="labdl-data-line">
          <span>{trans.__('Phase')}</span>
          <Segments
            label={trans.__('Phase')}
            choices={PHASES.map(phase => ({ id: phase, label: words[phase] }))}
            chosen={step.phase}
            onChoose={phase => onEdit({ kind: 'phase', id: step.id, phase })}
          />
        </div>
      )}
      {info && schema && (
        <SettingsForm
          key={step.id}
          id={`${id}-step`}
          schema={schema}
          values={step.settings}
          trans={trans}
          onChange={settings =>
            onEdit({ kind: 'settings', id: step.id, settings })
          }
        />
      )}
    </section>
  );
}

interface DescriptionProps {
  info: TransformInfo;
  trans: Translator;
}

function Description({ info, trans }: DescriptionProps): JSX.Element {
  const { summary, description, source } = info;
  return description || source ? (
    <details>
      <summary>{summary}</summary>
      {description && <p>{description}</p>}
      {source && (
        <p className="labdl-data-source">{trans.__('As in %1', source)}</p>
      )}
    </details>
  ) : (
    <p className="labdl-data-quiet">{summary}</p>
  );
}
