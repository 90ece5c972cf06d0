// How the samples are split into a training and a validation part.

import type { SplitCount } from '../../api/data';
import type { ParamSchema } from '../../api/graph';
import { useId, useMemo } from 'react';
import { SettingsForm, type Settings } from '../../forms/SettingsForm';
import type { Translator } from '../../ui/translator';
import type { Edit, Pipeline } from './pipeline-edits';

interface SplitSettingsProps {
  split: Pipeline['split'];
  /** Parts that the data set has; a validation part among them is not split off the training part. */
  splits: readonly SplitCount[];
  onEdit: (edit: Edit) => void;
  trans: Translator;
}

export function SplitSettings(props: SplitSettingsProps): JSX.Element {
  const { split, splits, onEdit, trans } = props;
  const id = useId();
  const schema = useMemo<ParamSchema>(
    () => ({
      properties: {
        fraction: {
          title: trans.__('Training part'),
          description: trans.__('Share of the samples that train, 0 to 1'),
          type: 'number',
          exclusiveMinimum: 0,
          exclusiveMaximum: 1,
          default: 0.8
        },
        seed: {
          title: trans.__('Seed'),
          type: 'integer',
          minimum: 0,
          default: 0
        },
        stratify: {
          title: trans.__('Same shares of the classes in both parts'),
          type: 'boolean',
          default: true
        }
      }
    }),
    [trans]
  );
  if (splits.some(({ name }) => name === 'validation')) {
    return (
      <p className="labdl-data-split labdl-data-quiet">
        {trans.__('The data set has its own validation part: it is not split.')}
      </p>
    );
  }
  return (
    <details className="labdl-data-split">
      <summary>
        {trans.__('Split: %1 % for training', Math.round(split.fraction * 100))}
      </summary>
      <SettingsForm
        id={`${id}-split`}
        schema={schema}
        values={split as unknown as Settings}
        trans={trans}
        onChange={values =>
          onEdit({
            kind: 'split',
            split: { fraction: 0.8, seed: 0, stratify: true, ...values }
          })
        }
      />
    </details>
  );
}
