// Tokens of LabDL's plugins, also for other extensions.

import { IWidgetTracker } from '@jupyterlab/apputils';
import { Token } from '@lumino/coreutils';

import type { LabDLApi } from './requests';
import type { TrainingRuns } from './training/training-runs';
import type { GraphWidget } from './documents/document-widget';

/** Name of the document widget factory and its toolbar, which is displayed as the kind of the file. */
export const FACTORY = 'Model graph';

/** Category of the commands in the palette, where a search for it finds them, and of the cards in the launcher. */
export const CATEGORY = 'LabDL';

/** File type of model graphs. */
export const FILE_TYPE = 'labdl';

export interface ILabDL {
  readonly api: LabDLApi;
  /** Open model graphs. */
  readonly tracker: IWidgetTracker<GraphWidget>;
  /** Runs by document. */
  readonly runs: TrainingRuns;
}

export const ILabDL = new Token<ILabDL>(
  'labdl:ILabDL',
  'The open model graphs, and the server behind them.'
);
