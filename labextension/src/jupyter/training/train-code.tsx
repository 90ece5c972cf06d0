// Code of a training, with buttons that copy it or add it to a notebook.

import { Clipboard } from '@jupyterlab/apputils';
import { copyIcon, notebookIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import type { Translator } from '../../editor';

export function TrainingCodeView(props: {
  code: string | null;
  trans: Translator;
  onSend: (code: string) => void;
}): React.JSX.Element {
  const { code, trans } = props;
  return (
    <div className="labdl-TrainPanel-code">
      <pre tabIndex={0} aria-label={trans.__('Python code')}>
        {code || trans.__('The code appears when all settings are valid.')}
      </pre>
      {code && (
        <div>
          <button
            type="button"
            title={trans.__('Copy the code')}
            aria-label={trans.__('Copy the code')}
            onClick={() => Clipboard.copyToSystem(code)}
          >
            <copyIcon.react tag="span" />
          </button>
          <button
            type="button"
            title={trans.__('Send the code to a notebook')}
            aria-label={trans.__('Send the code to a notebook')}
            onClick={() => props.onSend(code)}
          >
            <notebookIcon.react tag="span" />
          </button>
        </div>
      )}
    </div>
  );
}
