// The editor as a JupyterLab document widget, and its factory.

import {
  ABCWidgetFactory,
  DocumentRegistry,
  DocumentWidget
} from '@jupyterlab/docregistry';
import { ReactWidget } from '@jupyterlab/ui-components';
import type { CommandRegistry } from '@lumino/commands';
import { Message } from '@lumino/messaging';
import { ISignal, Signal } from '@lumino/signaling';
import * as React from 'react';

import { Editor } from '../../editor';
import type {
  EditorActions,
  EditorHost,
  HealthStore,
  HostShortcuts,
  SampleRun,
  Translator
} from '../../editor';
import { AwarenessCollaborators } from './collaborators';
import { LabDLModel } from './document';
import { labShortcuts } from '../commands/lab-shortcuts';
import { graphIcon } from '../icons';
import type { PreferenceStore } from '../preferences';
import type { Recoveries } from './recoveries';
import type { Recovery } from './recovery';
import { RecoveryBanner } from './recovery-banner';

/** Services of a document: recovery of unsaved changes, preferences, and the commands of JupyterLab. */
export interface Keeping {
  commands: CommandRegistry;
  recoveries: Recoveries;
  preferences: PreferenceStore;
}

export class GraphPanel extends ReactWidget {
  constructor(
    private readonly context: DocumentRegistry.IContext<LabDLModel>,
    private readonly host: EditorHost,
    private readonly trans: Translator,
    private readonly keeping: Keeping,
    restored: Promise<unknown>
  ) {
    super();
    this.addClass('labdl-GraphPanel');
    this.recovery = keeping.recoveries.of(context);
    const { collaborative, sharedModel } = context.model;
    this.people = collaborative
      ? new AwarenessCollaborators(sharedModel.awareness)
      : null;
    this.stopWatching = keeping.preferences.subscribe(() => this.update());
    this.shortcuts = labShortcuts(keeping.commands);
    keeping.commands.keyBindingChanged.connect(this._readShortcuts, this);
    const lockIfUnwritable = () => {
      const isWritable = context.contentsModel?.writable ?? true;
      const reason = trans.__(
        'This file is write-protected. Save it under another name to edit it.'
      );
      context.model.graph.lock.setReason('disk', isWritable ? '' : reason);
    };
    context.fileChanged.connect(lockIfUnwritable, this);
    void context.ready.then(lockIfUnwritable);
    // The editor fits its view to the graph once, at the first rendering: the file must have been loaded by then,
    // and the panels of a reloaded page must have their positions.
    void Promise.all([context.ready, restored]).then(() => {
      this._isReady = true;
      this.update();
    });
  }

  /** Actions on the graph; null until the editor is rendered. */
  get actions(): EditorActions | null {
    return this._actions;
  }

  /** Runs one sample through the model; null until the editor is rendered. */
  get sample(): SampleRun | null {
    return this._sample;
  }

  /** Health of the layers in training; null until the editor is rendered. */
  get health(): HealthStore | null {
    return this._health;
  }

  /** Emitted when `actions` is available, and when a sample starts, ends or is cleared. */
  get actionsChanged(): ISignal<this, void> {
    return this._actionsChanged;
  }

  /** Element for the properties when they are not beside the canvas. */
  readonly aside = document.createElement('div');

  /** Element of the status bar with the size of the model. */
  readonly status = document.createElement('span');

  render(): React.JSX.Element | null {
    if (!this._isReady) {
      return null;
    }
    return (
      <Editor
        document={this.context.model.graph}
        name={this.context.path}
        people={this.people}
        host={this.host}
        trans={this.trans}
        actions={this._setActions}
        sample={this._setSample}
        health={this._setHealth}
        preferences={this.keeping.preferences.state()}
        shortcuts={this.shortcuts}
        aside={this.aside}
        status={this.status}
        notices={
          <RecoveryBanner
            recovery={this.recovery}
            context={this.context}
            trans={this.trans}
          />
        }
      />
    );
  }

  override dispose(): void {
    this.people?.dispose();
    this.stopWatching();
    Signal.clearData(this);
    super.dispose();
  }

  protected override onActivateRequest(msg: Message): void {
    super.onActivateRequest(msg);
    this._isActivated = true;
    this._focus();
  }

  protected override onAfterHide(msg: Message): void {
    super.onAfterHide(msg);
    this._isActivated = false;
  }

  /** Moves the focus to the canvas once it is rendered, unless it is somewhere else by then. */
  private _focus(): void {
    const { activeElement, body } = document;
    const isFree =
      !activeElement ||
      activeElement === body ||
      activeElement.contains(this.node) ||
      this.node.contains(activeElement);
    if (this._isActivated && this._actions && isFree) {
      this._isActivated = false;
      this._actions.focus();
    }
  }

  private _readShortcuts(commands: CommandRegistry): void {
    this.shortcuts = labShortcuts(commands);
    this.update();
  }

  private readonly _setActions = (actions: EditorActions): void => {
    this._actions = actions;
    this._actionsChanged.emit();
    this._focus();
  };

  private readonly _setHealth = (health: HealthStore): void => {
    this._health = health;
    let shown = health.state().isShown;
    health.subscribe(() => {
      const { isShown } = health.state();
      if (isShown !== shown) {
        shown = isShown;
        this._actionsChanged.emit();
      }
    });
  };

  private readonly _setSample = (sample: SampleRun): void => {
    this._sample = sample;
    sample.store.subscribe(() => this._actionsChanged.emit());
    this._actionsChanged.emit();
  };

  private readonly recovery: Recovery;
  private readonly people: AwarenessCollaborators | null;
  private readonly stopWatching: () => void;
  private shortcuts: HostShortcuts;
  private _isReady = false;
  private _isActivated = false;
  private _actions: EditorActions | null = null;
  private _sample: SampleRun | null = null;
  private _health: HealthStore | null = null;
  private _actionsChanged = new Signal<this, void>(this);
}

export class GraphWidget extends DocumentWidget<GraphPanel, LabDLModel> {}

export class GraphWidgetFactory extends ABCWidgetFactory<
  GraphWidget,
  LabDLModel
> {
  constructor(
    options: DocumentRegistry.IWidgetFactoryOptions<GraphWidget>,
    private readonly hostOf: (
      context: DocumentRegistry.IContext<LabDLModel>
    ) => EditorHost,
    private readonly trans: Translator,
    private readonly keeping: Keeping,
    private readonly restored: Promise<unknown>
  ) {
    super(options);
  }

  protected createNewWidget(
    context: DocumentRegistry.IContext<LabDLModel>
  ): GraphWidget {
    const content = new GraphPanel(
      context,
      this.hostOf(context),
      this.trans,
      this.keeping,
      this.restored
    );
    const widget = new GraphWidget({ content, context });
    widget.title.icon = graphIcon;
    return widget;
  }
}
