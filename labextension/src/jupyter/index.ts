// The JupyterLab plugins of LabDL.

import { JupyterFrontEndPlugin } from '@jupyterlab/application';

import { classPlugin } from './code/class-plugin';
import { codePlugin } from './code/code-plugin';
import { commandPlugin } from './commands/command-plugin';
import { dataPlugin } from './data/data-plugin';
import { diffPlugin } from './diff/diff-plugin';
import { documentPlugin } from './documents/document-plugin';
import { exportPlugin } from './commands/export-plugin';
import { inputMethodsPlugin } from './input-methods-plugin';
import { newMenuPlugin } from './commands/new-menu-plugin';
import { onnxPlugin } from './documents/onnx-plugin';
import { outputPlugin } from './runs/output-plugin';
import { palettePlugin } from './commands/palette-plugin';
import { runControlPlugin } from './runs/run-control-plugin';
import { runPlugin } from './runs/run-plugin';
import { runsPlugin } from './runs/runs-plugin';
import { statusPlugin } from './documents/status-plugin';
import { trainPlugin } from './training/train-plugin';
import { zooPlugin } from './zoo/zoo-plugin';

export * from './tokens';

const plugins: JupyterFrontEndPlugin<unknown>[] = [
  documentPlugin,
  inputMethodsPlugin,
  statusPlugin,
  commandPlugin,
  codePlugin,
  classPlugin,
  newMenuPlugin,
  palettePlugin,
  exportPlugin,
  onnxPlugin,
  zooPlugin,
  diffPlugin,
  trainPlugin,
  dataPlugin,
  runPlugin,
  runsPlugin,
  runControlPlugin,
  outputPlugin
];

export default plugins;
