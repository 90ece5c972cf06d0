// Train panel beside the editor: form, errors, code, and the run.

import { ReactWidget, UseSignal } from '@jupyterlab/ui-components';
import { PathExt } from '@jupyterlab/coreutils';
import * as React from 'react';

import { Dashboard } from '../../runs/dashboard/Dashboard';
import type { Translator } from '../../editor';
import { runsIcon } from '../icons';
import { TrainingCodeView } from './train-code';
import { TrainForm } from './train-form';
import { Training } from './training';

export interface TrainPanelHost {
  /** Asks for a data file; resolves to its path from the document's folder, or null. */
  pickFile?: (document: string) => Promise<string | null>;
  /** Asks for the folder of a data set; resolves to its path from the document's folder with / at its end, or null. */
  pickFolder?: (document: string) => Promise<string | null>;
  /** Adds code to a notebook in the document's folder. */
  sendCode: (code: string, document: string) => void;
  /** Shows a layer of the document in its graph. */
  showLayer: (document: string, layer: string) => void;
  trans: Translator;
}

export class TrainPanel extends ReactWidget {
  constructor(
    readonly training: Training,
    private readonly host: TrainPanelHost
  ) {
    super();
    this.addClass('labdl-TrainPanel');
    this.title.icon = runsIcon;
    this._setTitle();
    training.stateChanged.connect(this._setTitle, this);
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this.training.dispose();
      super.dispose();
    }
  }

  render(): React.JSX.Element {
    return (
      <UseSignal signal={this.training.stateChanged}>
        {() => <TrainView training={this.training} host={this.host} />}
      </UseSignal>
    );
  }

  private _setTitle(): void {
    const name = PathExt.basename(this.training.path);
    const { trans } = this.host;
    this.title.label = trans.__('Train: %1', name);
    this.title.caption = trans.__('Train %1', this.training.path);
  }
}

function TrainView({
  training,
  host
}: {
  training: Training;
  host: TrainPanelHost;
}): React.JSX.Element {
  const { trans, pickFile, pickFolder, sendCode } = host;
  const { choices, problem, code, source, preview } = training;
  const [isCodeOpen, setCodeOpen] = React.useState(false);
  return (
    <div
      className={
        source ? 'labdl-TrainPanel-body labdl-mod-run' : 'labdl-TrainPanel-body'
      }
    >
      <div className="labdl-TrainPanel-setup">
        {choices && (
          <TrainForm
            choices={choices}
            settings={training.draft}
            preview={preview.answer}
            file={preview.file}
            problem={preview.problem}
            chosen={training.chosen}
            setInputShape={training.setInputShape}
            busy={training.busy}
            action={action(training, trans)}
            trans={trans}
            pickFile={pickFile && (() => pickFile(training.path))}
            pickFolder={pickFolder && (() => pickFolder(training.path))}
            onChange={settings => training.show(settings)}
            onTrain={settings => void training.train(settings)}
          >
            <button
              type="button"
              aria-expanded={isCodeOpen}
              onClick={() => setCodeOpen(!isCodeOpen)}
            >
              {isCodeOpen ? trans.__('Hide code') : trans.__('Show code')}
            </button>
          </TrainForm>
        )}
        {choices && isCodeOpen && (
          <TrainingCodeView
            code={code}
            trans={trans}
            onSend={source => sendCode(source, training.path)}
          />
        )}
        {problem && (
          <div className="labdl-TrainPanel-problem" role="alert">
            <p>{problem.message}</p>
            {problem.traceback && (
              <details>
                <summary>{trans.__('Details')}</summary>
                <pre>{problem.traceback}</pre>
              </details>
            )}
            {!choices && (
              <button
                className="jp-mod-styled"
                onClick={() => void training.refresh()}
              >
                {trans.__('Try again')}
              </button>
            )}
          </div>
        )}
      </div>
      {source && (
        <div className="labdl-TrainPanel-run">
          <Dashboard
            key={source.path}
            source={source}
            trans={trans}
            title={stem(training.path)}
            onShow={layer => host.showLayer(training.path, layer)}
          />
        </div>
      )}
    </div>
  );
}

function stem(path: string): string {
  return PathExt.basename(path, PathExt.extname(path));
}

function action(training: Training, trans: Translator): string {
  switch (training.phase) {
    case 'saving':
      return trans.__('Saving…');
    case 'starting':
      return trans.__('Starting a kernel…');
    case 'executing':
      return trans.__('Training…');
    case 'idle':
      return training.busy ? trans.__('Training…') : trans.__('Train');
  }
}
