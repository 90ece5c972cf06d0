// Host of a document's editor: parameters beside the file, and one sample in the document's kernel.

import type { JupyterFrontEnd } from '@jupyterlab/application';
import { MainAreaWidget } from '@jupyterlab/apputils';
import type { Contents, ServiceManager } from '@jupyterlab/services';
import type { JSONObject } from '@lumino/coreutils';

import type {
  EditorHost,
  GraphData,
  SampleAnswer,
  Translator
} from '../../editor';
import { LabDLApi } from '../requests';
import { connectKernel, execute } from '../training/kernel';
import { TrainPanel } from '../training/train-panel';
import type { TrainingRuns } from '../training/training-runs';
import { isDataFile, TrainingSettings } from '../training/training-settings';

const MIME = 'application/vnd.labdl.activations+json';

export interface DocumentHostOptions {
  api: LabDLApi;
  services: ServiceManager.IManager;
  contents: Contents.IManager;
  /** Current path of the document. */
  path: () => string;
  runs: TrainingRuns;
  /** Shell that may contain the document's Train panel. */
  shell: JupyterFrontEnd.IShell;
  trans: Translator;
}

/** The requests to the server, and those that depend on the document. */
export function documentHost(options: DocumentHostOptions): EditorHost {
  const { api, contents, path } = options;
  // requests of the API are inherited, also future ones
  const host: EditorHost = Object.create(api);
  host.weights = names => api.parameters(contents.localPath(path()), names);
  host.sample = graph => runSample(graph, options);
  host.followRun = hear => options.runs.follow(path, hear);
  return host;
}

async function runSample(
  graph: GraphData,
  { api, services, contents, path, shell, trans }: DocumentHostOptions
): Promise<SampleAnswer> {
  const { code, backend } = await api.sampleCode(
    contents.localPath(path()),
    graph,
    trainingSettings(shell, path())
  );
  const session = await connectKernel(services, path(), backend);
  try {
    const { kernel } = session;
    if (!kernel) {
      throw new Error(trans.__('The kernel could not be started: try again.'));
    }
    let answer: JSONObject | undefined;
    const problem = await execute(kernel, code, data => {
      answer = (data[MIME] as JSONObject | undefined) ?? answer;
    });
    if (problem) {
      throw new Error(problem.message);
    }
    if (!answer) {
      throw new Error(trans.__('The kernel did not answer: try again.'));
    }
    return answer as unknown as SampleAnswer;
  } finally {
    // the kernel keeps running: the next sample or training starts faster
    session.dispose();
  }
}

/** Settings of the document's last training; null before that, and for data in a file. */
function trainingSettings(
  shell: JupyterFrontEnd.IShell,
  path: string
): TrainingSettings | null {
  for (const widget of shell.widgets('main')) {
    const panel = widget instanceof MainAreaWidget ? widget.content : null;
    if (panel instanceof TrainPanel && panel.training.path === path) {
      const { settings } = panel.training;
      return settings && !isDataFile(settings.dataset) ? settings : null;
    }
  }
  return null;
}
