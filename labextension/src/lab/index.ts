// LabDL in JupyterLab: the plugins.

import { JupyterFrontEndPlugin } from '@jupyterlab/application';

import { classPlugin } from './class-plugin';
import { codePlugin } from './code-plugin';
import { commandPlugin } from './command-plugin';
import { diffPlugin } from './diff-plugin';
import { documentPlugin } from './document-plugin';
import { exportPlugin } from './export-plugin';
import { onnxPlugin } from './onnx-plugin';
import { outputPlugin } from './output-plugin';
import { palettePlugin } from './palette-plugin';
import { runControlPlugin } from './run-control-plugin';
import { runPlugin } from './run-plugin';
import { runsPlugin } from './runs-plugin';
import { statusPlugin } from './status-plugin';
import { trainPlugin } from './train-plugin';
import { zooPlugin } from './zoo-plugin';

export * from './tokens';

const plugins: JupyterFrontEndPlugin<unknown>[] = [
  documentPlugin,
  statusPlugin,
  commandPlugin,
  codePlugin,
  classPlugin,
  palettePlugin,
  exportPlugin,
  onnxPlugin,
  zooPlugin,
  diffPlugin,
  trainPlugin,
  runPlugin,
  runsPlugin,
  runControlPlugin,
  outputPlugin
];

export default plugins;
