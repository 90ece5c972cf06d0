// Plugin: stores favorites and saved blocks of the palette in the person's settings.

import {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITranslator } from '@jupyterlab/translation';

import { PaletteSettings } from './palette-settings';
import { ILabDL } from '../tokens';

const ID = 'labdl:palette';

export const palettePlugin: JupyterFrontEndPlugin<void> = {
  id: ID,
  description: 'Keeps what a person put into the list of layers.',
  autoStart: true,
  requires: [ILabDL, ISettingRegistry, ITranslator],
  activate: (
    _app: JupyterFrontEnd,
    { api }: ILabDL,
    registry: ISettingRegistry,
    translator: ITranslator
  ): void => {
    const trans = translator.load('labdl');
    const failed = (error: unknown) => {
      Notification.warning(
        trans.__('The palette could not be saved: %1', String(error))
      );
    };
    const kept = new PaletteSettings(failed);
    api.palette = kept;
    kept.follow(registry, ID).catch(failed);
  }
};
