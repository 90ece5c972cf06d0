// Asks a kernel that the person chooses for its model classes.

import { InputDialog } from '@jupyterlab/apputils';
import { PathExt } from '@jupyterlab/coreutils';
import type { ServiceManager, Session } from '@jupyterlab/services';

import type { KernelClasses, Translator } from '../../editor';
import { execute, isPython, SESSION_TYPE } from '../training/kernel';

const MIME = 'application/vnd.labdl.classes+json';
/** Imports within an expression, so that no name is left in the notebook. */
const CODE =
  "__import__('labdl.lab.editor.kernel_classes', fromlist=['show_classes']).show_classes()";

/** Resolves to null if no kernel was chosen; throws an error with a message for the person. */
export async function askKernel(
  services: ServiceManager.IManager,
  trans: Translator
): Promise<KernelClasses | null> {
  await services.kernelspecs.ready;
  await services.sessions.refreshRunning();
  const running = [...services.sessions.running()].filter(
    ({ kernel, type }) =>
      kernel && type !== SESSION_TYPE && isPython(services, kernel.name)
  );
  if (running.length === 0) {
    throw new Error(
      trans.__(
        'No notebook is running: open one and run the cell that defines the class.'
      )
    );
  }
  const labels = running.map(labelOf);
  const { button, value } = await InputDialog.getItem({
    title: trans.__('Class from a Kernel'),
    label: trans.__('Notebook that defines the classes:'),
    items: labels,
    okLabel: trans.__('List Classes')
  });
  const chosen = running[labels.indexOf(value ?? '')];
  if (!button.accept || !chosen?.kernel) {
    return null;
  }
  const from = labelOf(chosen);
  await services.sessions.refreshRunning();
  const { kernel } =
    [...services.sessions.running()].find(({ id }) => id === chosen.id) ??
    chosen;
  if (!kernel || kernel.execution_state === 'busy') {
    throw new Error(trans.__('%1 is busy: try again when it is idle.', from));
  }
  const connection = services.kernels.connectTo({ model: kernel });
  try {
    let found: KernelClasses | undefined;
    const problem = await execute(connection, CODE, data => {
      found = (data[MIME] as unknown as KernelClasses | undefined) ?? found;
    });
    if (problem) {
      throw new Error(problem.message);
    }
    if (!found) {
      throw new Error(trans.__('The kernel did not answer: try again.'));
    }
    return { ...found, from };
  } finally {
    connection.dispose();
  }
}

/** Label of a session. The path of a console is a generated one, so its name is used. */
function labelOf({ path, name, type }: Session.IModel): string {
  return type === 'notebook' ? path : name || PathExt.basename(path);
}
