// Steps that the samples have passed already, by Dataset.map of the notebook.

import type { StepData } from '../../api/data';
import type { Translator } from '../../ui/translator';
import { objectText, stepName } from './step-text';
import { fromData, rowsOf } from './step-tree';

interface AppliedStepsProps {
  applied: readonly StepData[];
  trans: Translator;
}

export function AppliedSteps(props: AppliedStepsProps): JSX.Element | null {
  const { applied, trans } = props;
  if (!applied.length) {
    return null;
  }
  return (
    <details className="labdl-data-applied" open>
      <summary>
        {trans._n(
          'Dataset.map has applied %1 step already',
          'Dataset.map has applied %1 steps already',
          applied.length
        )}
      </summary>
      <ul>
        {rowsOf(fromData(applied)).map(({ step, path }) => (
          <li
            key={step.id}
            style={{ paddingInlineStart: 16 * (path.length - 1) }}
          >
            {stepName(step)}{' '}
            {step.object && <small>{objectText(step.object, trans)}</small>}
          </li>
        ))}
      </ul>
    </details>
  );
}
