// Data set of a training: a registered one, or a file of the folder.

import * as React from 'react';

import type { Translator } from '../../editor';
import { NEW_TABLE, type Draft } from './train-draft';
import { Choice, Groups, Switch } from './train-fields';
import {
  DataFileInfo,
  DatasetInfo,
  fits,
  isDataFile,
  Shape
} from './training-settings';

export interface DataFieldsProps {
  datasets: DatasetInfo[];
  draft: Draft;
  /** Contents of the chosen file, once the server has read it. */
  file: DataFileInfo | null;
  /** Input shape of the model; undefined while it is unknown. */
  input: Shape | undefined;
  trans: Translator;
  /** Asks for a file; null if canceled. */
  pickFile?: () => Promise<string | null>;
  pickFolder?: () => Promise<string | null>;
  onChange: (change: Partial<Draft>) => void;
}

export function DataFields(props: DataFieldsProps): React.JSX.Element {
  const { datasets, draft, file, input, trans } = props;
  const isFile = isDataFile(draft.dataset);
  const chosen = datasets.find(({ name }) => name === draft.dataset);
  const summary = isFile ? file?.summary : chosen?.summary;
  const goes = (dataset: DatasetInfo) =>
    input !== undefined && fits(dataset.input_shape, input);

  const pick = async (ask: () => Promise<string | null>) => {
    const path = await ask();
    if (path) {
      props.onChange({ ...NEW_TABLE, dataset: path });
    }
  };

  return (
    <div className="labdl-TrainForm-data">
      <div className="labdl-TrainForm-line">
        <Choice
          label={trans.__('Data set')}
          value={draft.dataset}
          title={isFile ? draft.dataset : summary}
          onChange={dataset => props.onChange({ dataset, target: null })}
        >
          {isFile && <option value={draft.dataset}>{draft.dataset}</option>}
          <Groups
            fitting={datasets.filter(goes)}
            others={datasets.filter(dataset => !goes(dataset))}
            fittingLabel={trans.__('Matching the model’s input')}
            othersLabel={trans.__('With other shapes')}
          />
        </Choice>
        {[
          {
            ask: props.pickFile,
            label: trans.__('File…'),
            title: trans.__('Train on a table, arrays or another data file')
          },
          {
            ask: props.pickFolder,
            label: trans.__('Folder…'),
            title: trans.__('Train on a folder of samples by a task')
          }
        ].map(
          ({ ask, label, title }) =>
            ask && (
              <button
                key={label}
                type="button"
                className="jp-mod-styled labdl-TrainForm-file"
                title={title}
                onClick={() => void pick(ask)}
              >
                {label}
              </button>
            )
        )}
      </div>
      <p className="labdl-TrainForm-summary" title={summary}>
        {summary ?? '\u00a0'}
      </p>
      {isFile && file?.columns && (
        <div className="labdl-TrainForm-line">
          <Choice
            label={trans.__('Target')}
            value={draft.target ?? file.target ?? ''}
            title={trans.__('The column to predict')}
            onChange={target => props.onChange({ target })}
          >
            {file.columns.map(column => (
              <option key={column}>{column}</option>
            ))}
          </Choice>
          <Switch
            label={trans.__('Standardize columns')}
            title={trans.__(
              'Scale numeric columns to mean 0 and standard deviation 1 over the training samples'
            )}
            checked={draft.scale}
            onChange={scale => props.onChange({ scale })}
          />
          <Choice
            label={trans.__('Missing values')}
            value={draft.missing}
            title={trans.__(
              'What fills missing numbers is computed from the training samples'
            )}
            onChange={missing =>
              props.onChange({ missing: missing as Draft['missing'] })
            }
          >
            <option value="error">{trans.__('An error')}</option>
            <option value="drop">{trans.__('Leave the sample out')}</option>
            <option value="mean">{trans.__('Mean')}</option>
            <option value="median">{trans.__('Median')}</option>
            <option value="most_frequent">
              {trans.__('Most frequent value')}
            </option>
          </Choice>
          <Choice
            label={trans.__('Columns of text')}
            value={draft.encode}
            title={trans.__('What columns of text become')}
            onChange={encode =>
              props.onChange({ encode: encode as Draft['encode'] })
            }
          >
            <option value="none">{trans.__('An error')}</option>
            <option value="one_hot">
              {trans.__('0 or 1 for each category')}
            </option>
            <option value="ordinal">
              {trans.__('Numbers of the categories')}
            </option>
          </Choice>
        </div>
      )}
    </div>
  );
}
