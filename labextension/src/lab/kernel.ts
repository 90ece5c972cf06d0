// The kernel in which a model trains: one for each document and backend, started when it is first wanted.

import { PathExt } from '@jupyterlab/coreutils';
import {
  Kernel,
  KernelMessage,
  ServiceManager,
  Session
} from '@jupyterlab/services';
import type { PartialJSONObject } from '@lumino/coreutils';

/** What went wrong in the kernel, in one sentence and at length. */
export interface ExecutionProblem {
  message: string;
  traceback: string;
}

export function sessionPath(path: string, backend: string): string {
  return `${path} (${backend})`;
}

/** Connect to the kernel that trains this document on this backend; its working folder is the document's. */
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
    type: 'labdl',
    kernel: { name: await pythonKernel(services) }
  });
}

/** The default kernel if it speaks Python, otherwise the first that does. */
async function pythonKernel(
  services: ServiceManager.IManager
): Promise<string> {
  await services.kernelspecs.ready;
  const specs = services.kernelspecs.specs;
  const names = [
    specs?.default ?? '',
    ...Object.keys(specs?.kernelspecs ?? {})
  ];
  return (
    names.find(name => specs?.kernelspecs[name]?.language === 'python') ??
    names[0]
  );
}

/** Run `code` to its end, showing what it displays; null when all went well. */
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
    // a kernel that dies or is restarted cancels what it was asked
    return {
      message: error instanceof Error ? error.message : String(error),
      traceback: ''
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

/** A traceback without the terminal's colour codes. */
function plainText(lines: string[]): string {
  return lines.join('\n').replace(/\u001b\[[0-9;]*m/g, '');
}
