// The panel beside the editor: how to train, what went wrong, the code that ran, and the run itself.

import { Clipboard } from '@jupyterlab/apputils';
import { copyIcon, ReactWidget, UseSignal } from '@jupyterlab/ui-components';
import { PathExt } from '@jupyterlab/coreutils';
import { Message } from '@lumino/messaging';
import * as React from 'react';

import { Dashboard } from '../dashboard/Dashboard';
import type { Translator } from '../editor';
import { runsIcon } from './icons';
import { TrainForm } from './train-form';
import { Training } from './training';

export class TrainPanel extends ReactWidget {
  constructor(
    readonly training: Training,
    private readonly trans: Translator
  ) {
    super();
    this.addClass('labdl-TrainPanel');
    this.title.icon = runsIcon;
    this._name();
    training.stateChanged.connect(this._name, this);
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this.training.dispose();
      super.dispose();
    }
  }

  protected override onAfterShow(msg: Message): void {
    super.onAfterShow(msg);
    this.training.source?.setVisible(true);
  }

  protected override onAfterHide(msg: Message): void {
    super.onAfterHide(msg);
    this.training.source?.setVisible(false);
  }

  render(): React.JSX.Element {
    return (
      <UseSignal signal={this.training.stateChanged}>
        {() => <TrainView training={this.training} trans={this.trans} />}
      </UseSignal>
    );
  }

  private _name(): void {
    const name = PathExt.basename(this.training.path);
    this.title.label = this.trans.__('Train: %1', name);
    this.title.caption = this.trans.__('Train %1', this.training.path);
  }
}

function TrainView({
  training,
  trans
}: {
  training: Training;
  trans: Translator;
}): React.JSX.Element {
  const { choices, problem, code, source } = training;
  const [isCodeOpen, setCodeOpen] = React.useState(false);
  return (
    <>
      {choices && (
        <TrainForm
          choices={choices}
          settings={training.settings}
          busy={training.busy}
          action={action(training, trans)}
          trans={trans}
          onTrain={settings => void training.train(settings)}
        >
          {code && (
            <button
              type="button"
              aria-expanded={isCodeOpen}
              onClick={() => setCodeOpen(!isCodeOpen)}
            >
              {isCodeOpen ? trans.__('Hide code') : trans.__('Show code')}
            </button>
          )}
        </TrainForm>
      )}
      {code && isCodeOpen && <Code code={code} trans={trans} />}
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
      {source && (
        <div className="labdl-TrainPanel-run">
          <Dashboard
            key={source.path}
            source={source}
            trans={trans}
            title={stem(training.path)}
          />
        </div>
      )}
    </>
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

function Code({
  code,
  trans
}: {
  code: string;
  trans: Translator;
}): React.JSX.Element {
  return (
    <div className="labdl-TrainPanel-code">
      <pre>{code}</pre>
      <button
        type="button"
        title={trans.__('Copy the code')}
        aria-label={trans.__('Copy the code')}
        onClick={() => Clipboard.copyToSystem(code)}
      >
        <copyIcon.react tag="span" />
      </button>
    </div>
  );
}
