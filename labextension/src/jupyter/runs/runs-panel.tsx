// JupyterLab panel with the runs of a folder.

import { PathExt } from '@jupyterlab/coreutils';
import { ReactWidget } from '@jupyterlab/ui-components';
import { Message } from '@lumino/messaging';
import * as React from 'react';

import { RunsView } from '../../runs/compare/RunsView';
import type { Translator } from '../../editor';
import { runsIcon } from '../icons';
import { LabRunsSource } from './runs-source';

export class RunsPanel extends ReactWidget {
  constructor(
    readonly source: LabRunsSource,
    private readonly trans: Translator
  ) {
    super();
    this.addClass('labdl-RunsPanel');
    const name = PathExt.basename(source.folder);
    this.title.icon = runsIcon;
    this.title.label = name ? trans.__('Runs: %1', name) : trans.__('Runs');
    this.title.caption = source.folder || '/';
  }

  override dispose(): void {
    if (!this.isDisposed) {
      super.dispose();
      this.source.dispose();
    }
  }

  render(): React.JSX.Element {
    return <RunsView source={this.source} trans={this.trans} />;
  }

  protected override onAfterShow(msg: Message): void {
    super.onAfterShow(msg);
    this.source.setVisible(true);
  }

  protected override onAfterHide(msg: Message): void {
    super.onAfterHide(msg);
    this.source.setVisible(false);
  }
}
