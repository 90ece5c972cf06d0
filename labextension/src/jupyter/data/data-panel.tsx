// JupyterLab panel of a data set.

import { PathExt } from '@jupyterlab/coreutils';
import { ReactWidget } from '@jupyterlab/ui-components';
import * as React from 'react';

import { DataView } from '../../data/DataView';
import type { Translator } from '../../editor';
import { dataIcon } from '../icons';
import type { LabDataHost } from './lab-data-host';

export class DataPanel extends ReactWidget {
  constructor(
    readonly host: LabDataHost,
    private readonly trans: Translator
  ) {
    super();
    this.addClass('labdl-DataPanel');
    this.title.icon = dataIcon;
    this.title.label = trans.__('Data: %1', PathExt.basename(host.path) || '/');
    this.title.caption = host.path || '/';
  }

  render(): React.JSX.Element {
    return <DataView host={this.host} trans={this.trans} />;
  }
}
