// What LabDL's plugins give to each other, and to other extensions.

import { IWidgetTracker } from '@jupyterlab/apputils';
import { Token } from '@lumino/coreutils';

import type { LabDLApi } from './requests';
import type { TrainingRuns } from './training/training-runs';
import type { GraphWidget } from './documents/document-widget';

/** The name of the document widget factory, of its toolbar, and what a person sees as the kind of the file. */
export const FACTORY = 'Model graph';

/** The file type of model graphs. */
export const FILE_TYPE = 'labdl';

export interface ILabDL {
  readonly api: LabDLApi;
  /** The open model graphs. */
  readonly tracker: IWidgetTracker<GraphWidget>;
  /** Which run trains which document. */
  readonly runs: TrainingRuns;
}

export const ILabDL = new Token<ILabDL>(
  'labdl:ILabDL',
  'The open model graphs, and the server behind them.'
);
