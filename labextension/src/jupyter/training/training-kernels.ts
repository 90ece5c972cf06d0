// Kernels of a document's training: one for each backend, chosen as in a notebook.

import {
  Dialog,
  ISessionContext,
  SessionContext,
  SessionContextDialogs,
  showDialog,
  showErrorMessage
} from '@jupyterlab/apputils';
import { PathExt } from '@jupyterlab/coreutils';
import { Kernel, ServiceManager } from '@jupyterlab/services';
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';

import type { Translator } from '../../editor';
import { pythonKernel, SESSION_TYPE, sessionPath, unfitReason } from './kernel';

export interface TrainingKernelsOptions {
  services: ServiceManager.IManager;
  /** Dialogs for the choice of a kernel and the confirmation of a restart. */
  dialogs?: ISessionContext.IDialogs;
  path: string;
  /** Whether a training of the document is active. */
  isTraining: () => boolean;
  /** Previously chosen kernels by backend. */
  names: { [backend: string]: string };
  trans: Translator;
}

/**
 * A framework that crashes ends its kernel, so each backend of a document has one of its own. It starts when it is
 * chosen or needed for a training.
 */
export class TrainingKernels implements IDisposable {
  constructor(private readonly _options: TrainingKernelsOptions) {
    this._path = _options.path;
    this._names = { ..._options.names };
    this._dialogs = _options.dialogs ?? new SessionContextDialogs();
    void pythonKernel(_options.services).then(name => {
      this._usual = name;
      this._changed.emit();
    });
  }

  /** Emitted when another kernel is shown, or its status has changed. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get names(): { [backend: string]: string } {
    return this._names;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Kernel that is shown, if it is running. */
  get kernel(): Kernel.IKernelConnection | null {
    return this._context?.session?.kernel ?? null;
  }

  /** Name of the kernel, also of one that a training would start. */
  get displayName(): string {
    const { services, trans } = this._options;
    if (this.kernel && this._context) {
      return this._context.kernelDisplayName;
    }
    const name = this._names[this._backend] ?? this._usual;
    const spec = name ? services.kernelspecs.specs?.kernelspecs[name] : null;
    return spec?.display_name ?? trans.__('No kernel');
  }

  /** Status as in JupyterLab; empty while no kernel is running. */
  get status(): ISessionContext.KernelDisplayStatus {
    const context = this._context;
    const isBusyWithout = context?.kernelDisplayStatus === 'starting';
    return context && (this.kernel || isBusyWithout)
      ? context.kernelDisplayStatus
      : '';
  }

  /** Shows the kernel of a backend. */
  use(backend: string): void {
    if (backend !== this._backend && !this._isDisposed) {
      this._backend = backend;
      this._contextOf(backend);
      this._changed.emit();
    }
  }

  select(): void {
    if (this._context) {
      void this._dialogs.selectKernel(this._context);
    }
  }

  /** Restarts the kernel after a question, which says whether a training runs. */
  restart(): void {
    const context = this._context;
    if (!context) {
      return;
    }
    if (!this._options.isTraining()) {
      void this._dialogs.restart(context);
      return;
    }
    const { trans } = this._options;
    const ask = async () => {
      const answer = await showDialog({
        title: trans.__('Restart Kernel?'),
        body: trans.__(
          'A training is running in this kernel and ends with it. Its state is kept, and its dashboard says how to resume it.'
        ),
        buttons: [
          Dialog.cancelButton(),
          Dialog.warnButton({ label: trans.__('Restart') })
        ]
      });
      if (answer.button.accept && !context.isDisposed) {
        await context.restartKernel();
      }
    };
    this._reportFailure(ask());
  }

  interrupt(): void {
    this._reportFailure(this.kernel?.interrupt());
  }

  shutdown(): void {
    this._reportFailure(this._context?.shutdown());
  }

  /** Kernel of a backend, started if necessary. Throws an error with a message if it cannot train the document. */
  async connect(backend: string): Promise<Kernel.IKernelConnection> {
    const { services, trans } = this._options;
    this.use(backend);
    let context = this._contextOf(backend);
    await context.initialize();
    if (!context.session?.kernel) {
      await services.sessions.refreshRunning();
      const isElsewhere = await services.sessions.findByPath(context.path);
      if (isElsewhere) {
        // a sample or another page has started it in the meantime
        context = this._contextOf(backend, true);
        await context.initialize();
      }
    }
    const found = context.session?.kernel;
    if (!found || found.status === 'dead') {
      const name = await this._nameFor(backend);
      await context.changeKernel({ name });
    }
    const kernel = context.session?.kernel;
    if (!kernel) {
      throw new Error(
        trans.__('The kernel could not be started: choose another one above.')
      );
    }
    const unfit = unfitReason(services, kernel, context.path, trans);
    if (unfit) {
      throw new Error(unfit);
    }
    return kernel;
  }

  /** Follows the document to its new name. */
  move(path: string): void {
    this._path = path;
    this._contexts.forEach((context, backend) => {
      const { session } = context;
      const name = sessionPath(path, backend);
      if (session) {
        void session
          .setPath(name)
          .then(() => session.setName(PathExt.basename(name)));
      } else {
        context.dispose();
        this._contexts.delete(backend);
      }
    });
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      // the kernels keep running: a run does not end because its panel was closed
      this._contexts.forEach(context => context.dispose());
      this._contexts.clear();
      Signal.clearData(this);
    }
  }

  private _reportFailure(done: Promise<void> | undefined): void {
    const { trans } = this._options;
    done?.catch((error: unknown) =>
      showErrorMessage(
        trans.__('The kernel did not carry out the command'),
        `${error}`
      )
    );
  }

  private get _context(): SessionContext | undefined {
    return this._contexts.get(this._backend);
  }

  private _contextOf(backend: string, anew = false): SessionContext {
    const present = this._contexts.get(backend);
    if (present && !present.isDisposed && !anew) {
      return present;
    }
    present?.dispose();
    const { services } = this._options;
    const path = sessionPath(this._path, backend);
    const context = new SessionContext({
      kernelManager: services.kernels,
      sessionManager: services.sessions,
      specsManager: services.kernelspecs,
      path,
      name: PathExt.basename(path),
      type: SESSION_TYPE,
      kernelPreference: {
        language: 'python',
        name: this._names[backend],
        shouldStart: false
      }
    });
    this._contexts.set(backend, context);
    const emit = () => this._changed.emit();
    context.statusChanged.connect(emit);
    context.connectionStatusChanged.connect(emit);
    context.kernelChanged.connect((_sender, { newValue }) => {
      if (newValue) {
        this._names = { ...this._names, [backend]: newValue.name };
      }
      emit();
    });
    context.initialize().then(emit, () => {
      // the server did not list its sessions: a training tries again and reports the error
      this._contexts.delete(backend);
    });
    return context;
  }

  /** Name of the chosen kernel of a backend if it still exists, else of the default one. */
  private async _nameFor(backend: string): Promise<string> {
    const { services, trans } = this._options;
    await services.kernelspecs.ready;
    const chosen = this._names[backend];
    const specs = services.kernelspecs.specs?.kernelspecs;
    const name = specs?.[chosen] ? chosen : await pythonKernel(services);
    if (!name) {
      throw new Error(
        trans.__(
          'There is no Python kernel here. Choose a kernel above, or install one: pip install ipykernel'
        )
      );
    }
    return name;
  }

  private readonly _changed = new Signal<this, void>(this);
  private readonly _contexts = new Map<string, SessionContext>();
  private readonly _dialogs: ISessionContext.IDialogs;
  private _path: string;
  private _names: { [backend: string]: string };
  private _usual: string | null = null;
  private _backend = '';
  private _isDisposed = false;
}
