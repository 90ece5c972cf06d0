// Panel with two models side by side, which follows edits of their documents.

import { ReactWidget } from '@jupyterlab/ui-components';
import { Message } from '@lumino/messaging';
import { Debouncer } from '@lumino/polling';
import * as React from 'react';

import { Banner, DiffView } from '../../editor';
import type { ComparedModel, DiffHost, Translator } from '../../editor';
import type { DiffPlace, DiffSource } from './diff-source';
import { graphIcon } from '../icons';

/** Milliseconds without a change before the models are compared. */
const REST = 400;

export interface DiffPlaces {
  old: DiffPlace;
  new: DiffPlace;
}

export class DiffPanel extends ReactWidget {
  constructor(
    readonly places: DiffPlaces,
    private readonly sources: { old: DiffSource; new: DiffSource },
    private readonly host: DiffHost,
    private readonly trans: Translator
  ) {
    super();
    this.addClass('labdl-DiffPanel');
    this.node.tabIndex = -1;
    this.title.icon = graphIcon;
    this.title.label = trans.__(
      '%1 ↔ %2',
      sources.old.title,
      sources.new.title
    );
    this.title.caption = trans.__(
      '%1 compared with %2',
      sources.new.caption,
      sources.old.caption
    );
    this._reading = new Debouncer(() => this._read(), REST);
    const changed = () => void this._reading.invoke().catch(() => undefined);
    this._stops = [sources.old.watch(changed), sources.new.watch(changed)];
    void this._read();
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this._reading.dispose();
      this._stops.forEach(stop => stop());
      super.dispose();
    }
  }

  render(): React.JSX.Element {
    const { host, trans } = this;
    if (this._failure !== null) {
      return (
        <div className="labdl-editor">
          <Banner icon="warning">
            {trans.__('The models could not be read: %1', this._failure)}
          </Banner>
        </div>
      );
    }
    return this._models ? (
      <DiffView {...this._models} host={host} trans={trans} takesFocus />
    ) : (
      <></>
    );
  }

  protected override onActivateRequest(msg: Message): void {
    super.onActivateRequest(msg);
    const list = this.node.querySelector<HTMLElement>('.labdl-diff-list ul');
    (list ?? this.node).focus({ preventScroll: true });
  }

  private async _read(): Promise<void> {
    const model = async (source: DiffSource): Promise<ComparedModel> => ({
      title: source.title,
      caption: source.caption,
      graph: await source.read()
    });
    try {
      const { sources } = this;
      const [before, after] = await Promise.all([
        model(sources.old),
        model(sources.new)
      ]);
      this._models = { old: before, new: after };
      this._failure = null;
    } catch (error) {
      this._failure = error instanceof Error ? error.message : `${error}`;
    }
    this.update();
  }

  private readonly _reading: Debouncer;
  private readonly _stops: (() => void)[];
  private _models: { old: ComparedModel; new: ComparedModel } | null = null;
  private _failure: string | null = null;
}
