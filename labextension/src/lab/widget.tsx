// The editor as a JupyterLab document widget, and the factory that makes one for a model file.

import { ABCWidgetFactory, DocumentRegistry, DocumentWidget } from '@jupyterlab/docregistry';
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
    private readonly trans: Translator
  ) {
    super();
    this.addClass('labdl-GraphPanel');
    // an editor that is drawn before the file has come would fit the view to an empty canvas
    void context.ready.then(() => this.update());
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
    if (!this.context.isReady) {
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

  private _actions: EditorActions | null = null;
  private _actionsChanged = new Signal<this, void>(this);
}

export class GraphWidget extends DocumentWidget<GraphPanel, LabDLModel> {}

export class GraphWidgetFactory extends ABCWidgetFactory<GraphWidget, LabDLModel> {
  constructor(
    options: DocumentRegistry.IWidgetFactoryOptions<GraphWidget>,
    private readonly host: EditorHost,
    private readonly trans: Translator
  ) {
    super(options);
  }

  protected createNewWidget(context: DocumentRegistry.IContext<LabDLModel>): GraphWidget {
    const content = new GraphPanel(context, this.host, this.trans);
    const widget = new GraphWidget({ content, context });
    widget.title.icon = graphIcon;
    return widget;
  }
}
