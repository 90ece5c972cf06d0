// Plugin: keys of input methods stay out of the key handlers of LabDL's fields.

import { JupyterFrontEndPlugin } from '@jupyterlab/application';

import { ignoreComposition } from '../ui/composition';

/** An element of a panel, dialog or widget of LabDL. */
const OWN = '[class*="labdl-"]';

export const inputMethodsPlugin: JupyterFrontEndPlugin<void> = {
  id: 'labdl:input-methods',
  description:
    'Lets input methods take candidates with Enter in LabDL’s fields.',
  autoStart: true,
  activate: () => {
    ignoreComposition(element => element.closest(OWN) !== null);
  }
};
