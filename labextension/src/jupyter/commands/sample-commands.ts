// Commands that run one sample through the model and clear its results.

import { closeIcon } from '@jupyterlab/ui-components';

import type { Translator } from '../../editor';
import type { EditorCommand } from './editor-commands';
import { sampleIcon } from '../icons';

export function sampleCommands(trans: Translator): EditorCommand[] {
  return [
    {
      id: 'labdl:run-sample',
      label: trans.__('Run One Sample'),
      caption: trans.__(
        'Run one sample through the model and show the output of each layer'
      ),
      icon: sampleIcon,
      run: (_actions, { content }) => void content.sample?.run(),
      enabled: ({ content }) =>
        content.sample?.store.state().isRunning === false,
      reads: true
    },
    {
      id: 'labdl:clear-sample',
      label: trans.__('Clear the Sample'),
      caption: trans.__('Remove the outputs of the sample'),
      icon: closeIcon,
      run: (_actions, { content }) => content.sample?.clear(),
      enabled: ({ content }) => Boolean(content.sample?.store.state().origin),
      reads: true
    }
  ];
}
