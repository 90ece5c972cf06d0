// LabDL in JupyterLab: the plugins.

import { JupyterFrontEndPlugin } from '@jupyterlab/application';

import { codePlugin } from './code-plugin';
import { commandPlugin } from './command-plugin';
import { documentPlugin } from './document-plugin';
import { exportPlugin } from './export-plugin';
import { onnxPlugin } from './onnx-plugin';
import { runControlPlugin } from './run-control-plugin';
import { runPlugin } from './run-plugin';
import { trainPlugin } from './train-plugin';

export * from './tokens';

const plugins: JupyterFrontEndPlugin<unknown>[] = [
  documentPlugin,
  commandPlugin,
  codePlugin,
  exportPlugin,
  onnxPlugin,
  trainPlugin,
  runPlugin,
  runControlPlugin
];

export default plugins;
