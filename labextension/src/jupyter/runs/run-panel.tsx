// Panel with a run's dashboard, for runs without an open document.

import { PathExt } from '@jupyterlab/coreutils';
import { ReactWidget } from '@jupyterlab/ui-components';
import * as React from 'react';

import { Dashboard } from '../../runs/dashboard/Dashboard';
import { storeOf } from '../../runs/store/store';
import type { Translator } from '../../editor';
import { runsIcon } from '../icons';
import { LabRunSource } from './run-source';

export class RunPanel extends ReactWidget {
  constructor(
    readonly source: LabRunSource,
    private readonly trans: Translator
  ) {
    super();
    // Subscribe early: the first answer arrives during the layout.
    this._unsubscribe = storeOf(source).follow(source);
    this.addClass('labdl-RunPanel');
    this.title.icon = runsIcon;
    this.title.label = trans.__('Run %1', PathExt.basename(source.path));
    this.title.caption = source.path;
  }

  override dispose(): void {
    if (!this.isDisposed) {
      super.dispose();
      this._unsubscribe();
      this.source.dispose();
    }
  }

  render(): React.JSX.Element {
    return <Dashboard source={this.source} trans={this.trans} />;
  }
  private readonly _unsubscribe: () => void;
}
