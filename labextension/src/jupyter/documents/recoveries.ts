// Recoveries of the open documents, one for each, however many views show it.

import { Notification } from '@jupyterlab/apputils';
import { DocumentRegistry } from '@jupyterlab/docregistry';

import type { Translator } from '../../editor';
import type { LabDLModel } from './document';
import { livingPages, PAGE } from '../page-identity';
import { Recovery } from './recovery';
import { databaseStore } from './recovery-store';

type Context = DocumentRegistry.IContext<LabDLModel>;

export class Recoveries {
  constructor(
    private readonly _server: string,
    private readonly _isOn: () => boolean,
    private readonly _trans: Translator
  ) {}

  of(context: Context): Recovery {
    let recovery = this._open.get(context);
    if (!recovery) {
      recovery = new Recovery({
        context,
        store: this._store,
        server: this._server,
        page: PAGE,
        livingPages,
        isOn: this._isOn,
        failed: this._warnOnce
      });
      this._open.set(context, recovery);
    }
    return recovery;
  }

  private readonly _warnOnce = (error: unknown): void => {
    if (!this._hasFailed) {
      this._hasFailed = true;
      Notification.warning(
        this._trans.__(
          'Unsaved changes of model graphs cannot be stored in this browser, so save often: %1',
          error instanceof Error ? error.message : String(error)
        )
      );
    }
  };

  private readonly _store = databaseStore();
  private readonly _open = new WeakMap<Context, Recovery>();
  private _hasFailed = false;
}
