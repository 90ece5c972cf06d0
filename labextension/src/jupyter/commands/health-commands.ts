// Command that shows or hides the health of the layers in training.

import type { Translator } from '../../editor';
import type { EditorCommand } from './editor-commands';

export function healthCommands(trans: Translator): EditorCommand[] {
  return [
    {
      id: 'labdl:toggle-health',
      label: trans.__('Show Layer Statistics'),
      caption: trans.__(
        'Show the statistics of gradients and outputs on each layer during training'
      ),
      run: (_actions, { content }) => {
        const { health } = content;
        health?.show(!health.state().isShown);
      },
      toggled: ({ content }) => content.health?.state().isShown === true,
      reads: true
    }
  ];
}
