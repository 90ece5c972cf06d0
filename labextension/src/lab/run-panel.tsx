// A run's dashboard as a panel of its own, for runs that no open document started.

import { PathExt } from '@jupyterlab/coreutils';
import { ReactWidget } from '@jupyterlab/ui-components';
import * as React from 'react';

import { Dashboard } from '../dashboard/Dashboard';
import type { Translator } from '../editor';
import { runsIcon } from './icons';
import { LabRunSource } from './run-source';

export class RunPanel extends ReactWidget {
  constructor(
    readonly source: LabRunSource,
    private readonly trans: Translator
  ) {
    super();
    this.addClass('labdl-RunPanel');
    this.title.icon = runsIcon;
    this.title.label = trans.__('Run %1', PathExt.basename(source.path));
    this.title.caption = source.path;
  }

  override dispose(): void {
    if (!this.isDisposed) {
      super.dispose();
      this.source.dispose();
    }
  }

  render(): React.JSX.Element {
    return <Dashboard source={this.source} trans={this.trans} />;
  }
}
