// Kernel that trains a model: one for each document and backend, started on first use.

import { PathExt } from '@jupyterlab/coreutils';
import {
  Kernel,
  KernelMessage,
  ServiceManager,
  Session
} from '@jupyterlab/services';
import type { PartialJSONObject } from '@lumino/coreutils';

import type { Translator } from '../../editor';

/** Error in the kernel: message and traceback. */
export interface ExecutionProblem {
  message: string;
  traceback: string;
  /** Whether the kernel ended or was restarted during the execution. */
  lost?: boolean;
}

export const SESSION_TYPE = 'labdl';

export function sessionPath(path: string, backend: string): string {
  return `${path} (${backend})`;
}

/** Connects to the kernel that trains this document on this backend; its working directory is the document's folder. */
export async function connectKernel(
  services: ServiceManager.IManager,
  path: string,
  backend: string
): Promise<Session.ISessionConnection> {
  await services.ready;
  const name = sessionPath(path, backend);
  await services.sessions.refreshRunning();
  const model = await services.sessions.findByPath(name);
  if (model) {
    return services.sessions.connectTo({ model });
  }
  return services.sessions.startNew({
    path: name,
    name: PathExt.basename(name),
    type: SESSION_TYPE,
    kernel: { name: (await pythonKernel(services)) ?? undefined }
  });
}

/** Default kernel if it speaks Python, otherwise the first that does; null if none does. */
export async function pythonKernel(
  services: ServiceManager.IManager
): Promise<string | null> {
  await services.kernelspecs.ready;
  const specs = services.kernelspecs.specs;
  const names = [
    specs?.default ?? '',
    ...Object.keys(specs?.kernelspecs ?? {})
  ];
  return names.find(name => isPython(services, name)) ?? null;
}

/** Whether a kernel speaks Python, according to its specification. */
export function isPython(
  services: ServiceManager.IManager,
  name: string
): boolean {
  const spec = services.kernelspecs.specs?.kernelspecs[name];
  return spec?.language.toLowerCase() === 'python';
}

/** Reason why a running kernel cannot train the document of a session; null if it can. */
export function unfitReason(
  services: ServiceManager.IManager,
  kernel: Kernel.IKernelConnection,
  session: string,
  trans: Translator
): string | null {
  if (!isPython(services, kernel.name)) {
    return trans.__(
      'The kernel %1 is not a Python kernel. Choose another one above.',
      kernel.name
    );
  }
  // code and document use paths relative to the document's folder
  const folder = PathExt.dirname(session);
  const others = [...services.sessions.running()].filter(
    other => other.kernel?.id === kernel.id && other.path !== session
  );
  if (!others.length) {
    return null;
  }
  return others.some(other => PathExt.dirname(other.path) === folder)
    ? null
    : trans.__(
        'The kernel of %1 runs in a different folder than the model. Choose a kernel in the model’s folder or a new one.',
        others[0].path
      );
}

/** Runs `code` and shows its output; null on success. */
export async function execute(
  kernel: Kernel.IKernelConnection,
  code: string,
  show?: (data: PartialJSONObject) => void
): Promise<ExecutionProblem | null> {
  const future = kernel.requestExecute({
    code,
    stop_on_error: true,
    store_history: false
  });
  future.onIOPub = message => {
    if (show && KernelMessage.isDisplayDataMsg(message)) {
      show(message.content.data);
    }
  };
  let reply: KernelMessage.IExecuteReplyMsg;
  try {
    reply = await future.done;
  } catch (error) {
    // the future is canceled if the kernel dies or is restarted
    return {
      message: error instanceof Error ? error.message : String(error),
      traceback: '',
      lost: true
    };
  }
  const content = reply.content;
  if (content.status !== 'error') {
    return null;
  }
  const { ename, evalue, traceback } = content;
  return {
    message: evalue ? `${ename}: ${evalue}` : ename,
    traceback: plainText(traceback)
  };
}

/** A traceback without the terminal's color codes. */
function plainText(lines: string[]): string {
  return lines.join('\n').replace(/\u001b\[[0-9;]*m/g, '');
}
