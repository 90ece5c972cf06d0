// A run's dashboard as a panel of its own, for runs that no open document started.

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
    // The first answer is on its way while the page makes room.
    this._leave = storeOf(source).follow(source);
    this.addClass('labdl-RunPanel');
    this.title.icon = runsIcon;
    this.title.label = trans.__('Run %1', PathExt.basename(source.path));
    this.title.caption = source.path;
  }

  override dispose(): void {
    if (!this.isDisposed) {
      super.dispose();
      this._leave();
      this.source.dispose();
    }
  }

  render(): React.JSX.Element {
    return <Dashboard source={this.source} trans={this.trans} />;
  }
  private readonly _leave: () => void;
}
