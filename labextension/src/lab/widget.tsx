// The editor as a JupyterLab document widget, and the factory that makes one for a model file.

import {
  ABCWidgetFactory,
  DocumentRegistry,
  DocumentWidget
} from '@jupyterlab/docregistry';
import { ReactWidget } from '@jupyterlab/ui-components';
import { Message } from '@lumino/messaging';
import { ISignal, Signal } from '@lumino/signaling';
import * as React from 'react';

import { Editor } from '../editor';
import type { EditorActions, EditorHost, Translator } from '../editor';
import { LabDLModel } from './document';
import { graphIcon } from './icons';

export class GraphPanel extends ReactWidget {
  constructor(
    private readonly context: DocumentRegistry.IContext<LabDLModel>,
    private readonly host: EditorHost,
    private readonly trans: Translator,
    restored: Promise<unknown>
  ) {
    super();
    this.addClass('labdl-GraphPanel');
    // The editor fits its view to the graph once, when it is drawn: the file must have come by then,
    // and the panels of a refreshed page must have their places.
    void Promise.all([context.ready, restored]).then(() => {
      this._isReady = true;
      this.update();
    });
  }

  /** What can be done to the graph now; null until the editor is drawn. */
  get actions(): EditorActions | null {
    return this._actions;
  }

  /** Emitted when `actions` has come. */
  get actionsChanged(): ISignal<this, void> {
    return this._actionsChanged;
  }

  render(): React.JSX.Element | null {
    if (!this._isReady) {
      return null;
    }
    return (
      <Editor
        document={this.context.model.graph}
        host={this.host}
        trans={this.trans}
        actions={this._setActions}
      />
    );
  }

  protected override onActivateRequest(msg: Message): void {
    super.onActivateRequest(msg);
    this._actions?.focus();
  }

  private readonly _setActions = (actions: EditorActions): void => {
    this._actions = actions;
    this._actionsChanged.emit();
  };

  private _isReady = false;
  private _actions: EditorActions | null = null;
  private _actionsChanged = new Signal<this, void>(this);
}

export class GraphWidget extends DocumentWidget<GraphPanel, LabDLModel> {}

export class GraphWidgetFactory extends ABCWidgetFactory<
  GraphWidget,
  LabDLModel
> {
  constructor(
    options: DocumentRegistry.IWidgetFactoryOptions<GraphWidget>,
    private readonly host: EditorHost,
    private readonly trans: Translator,
    private readonly restored: Promise<unknown>
  ) {
    super(options);
  }

  protected createNewWidget(
    context: DocumentRegistry.IContext<LabDLModel>
  ): GraphWidget {
    const content = new GraphPanel(
      context,
      this.host,
      this.trans,
      this.restored
    );
    const widget = new GraphWidget({ content, context });
    widget.title.icon = graphIcon;
    return widget;
  }
}
