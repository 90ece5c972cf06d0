// Plugin: opens model files in the editor through LabDL's routes, and restores them after a reload.

import {
  ILayoutRestorer,
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import {
  createToolbarFactory,
  IToolbarWidgetRegistry,
  Notification,
  WidgetTracker
} from '@jupyterlab/apputils';
import { ICollaborativeContentProvider } from '@jupyter/collaborative-drive';
import { IPropertyInspectorProvider } from '@jupyterlab/property-inspector';
import { IDefaultDrive } from '@jupyterlab/services';
import type { Contents } from '@jupyterlab/services';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITranslator } from '@jupyterlab/translation';

import { LabDLApi } from '../requests';
import {
  joinCollaboration,
  SHARED_PROVIDER,
  SHARED_TYPE
} from './collaboration';
import { LabDLModelFactory } from './document-factory';
import { graphIcon, runsIcon } from '../icons';
import { documentHost } from './inspection-host';
import { PreferenceStore } from '../preferences';
import { showInInspector } from './property-inspector';
import { CONTENT_PROVIDER, GraphContentProvider } from './contents-provider';
import { Recoveries } from './recoveries';
import { shareYjs } from '../shared-yjs';
import { FACTORY, FILE_TYPE, ILabDL } from '../tokens';
import { TrainingRuns } from '../training/training-runs';
import { GraphWidget, GraphWidgetFactory } from './document-widget';

const ID = 'labdl:plugin';

export const documentPlugin: JupyterFrontEndPlugin<ILabDL> = {
  id: ID,
  description: 'Opens model graphs in the editor.',
  autoStart: true,
  provides: ILabDL,
  requires: [IDefaultDrive, ITranslator],
  optional: [
    ILayoutRestorer,
    IToolbarWidgetRegistry,
    ISettingRegistry,
    ICollaborativeContentProvider,
    IPropertyInspectorProvider
  ],
  activate: (
    app: JupyterFrontEnd,
    drive: Contents.IDrive,
    translator: ITranslator,
    restorer: ILayoutRestorer | null,
    toolbars: IToolbarWidgetRegistry | null,
    settings: ISettingRegistry | null,
    collaboration: ICollaborativeContentProvider | null,
    inspector: IPropertyInspectorProvider | null
  ): ILabDL => {
    shareYjs();
    const trans = translator.load('labdl');
    const api = new LabDLApi(app.serviceManager.serverSettings);
    const tracker = new WidgetTracker<GraphWidget>({ namespace: 'labdl' });
    const runs = new TrainingRuns();
    const preferences = new PreferenceStore();
    const recoveries = new Recoveries(
      app.serviceManager.serverSettings.baseUrl,
      () => preferences.state().recovery,
      trans
    );
    if (settings) {
      preferences.follow(settings, ID).catch((error: unknown) => {
        Notification.warning(
          trans.__(
            'The settings of model graphs could not be read: %1',
            String(error)
          )
        );
      });
    }

    drive.contentProviderRegistry?.register(
      CONTENT_PROVIDER,
      new GraphContentProvider(api)
    );
    app.docRegistry.addFileType({
      name: FILE_TYPE,
      displayName: trans.__('Model Graph'),
      extensions: ['.labdl'],
      mimeTypes: ['application/x-labdl'],
      contentType: 'file',
      fileFormat: 'json',
      icon: graphIcon
    });
    app.docRegistry.addFileType({
      name: 'labdl-run',
      displayName: trans.__('Training run'),
      extensions: [],
      pattern: '^events\\.jsonl$',
      mimeTypes: ['application/jsonl'],
      contentType: 'file',
      fileFormat: 'text',
      icon: runsIcon
    });
    const isShared = joinCollaboration(collaboration);
    app.docRegistry.addModelFactory(
      new LabDLModelFactory(isShared ? SHARED_TYPE : undefined)
    );

    const factory = new GraphWidgetFactory(
      {
        name: FACTORY,
        label: trans.__('Model Graph'),
        modelName: 'labdl',
        fileTypes: [FILE_TYPE],
        defaultFor: [FILE_TYPE],
        contentProviderId: isShared ? SHARED_PROVIDER : CONTENT_PROVIDER,
        toolbarFactory:
          toolbars && settings
            ? createToolbarFactory(toolbars, settings, FACTORY, ID, translator)
            : undefined,
        translator
      },
      context =>
        documentHost({
          api,
          services: app.serviceManager,
          contents: app.serviceManager.contents,
          path: () => context.path,
          runs,
          shell: app.shell,
          trans
        }),
      trans,
      { commands: app.commands, preferences, recoveries },
      app.restored
    );
    factory.widgetCreated.connect((_sender, widget) => {
      widget.context.pathChanged.connect(() => void tracker.save(widget));
      void tracker.add(widget);
      if (inspector) {
        showInInspector(inspector, widget);
      }
    });
    app.docRegistry.addWidgetFactory(factory);

    if (restorer) {
      void restorer.restore(tracker, {
        command: 'docmanager:open',
        args: widget => ({ path: widget.context.path, factory: FACTORY }),
        name: widget => widget.context.path
      });
    }
    return { api, tracker, runs };
  }
};
