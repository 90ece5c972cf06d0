// Commands that add notes to the canvas.

import type { Translator } from '../../editor';
import type { EditorCommand } from './editor-commands';
import { noteIcon } from '../icons';
import { runWithFocus } from './focus';

export function noteCommands(trans: Translator): EditorCommand[] {
  return [
    {
      id: 'labdl:add-note',
      label: trans.__('Add Note'),
      caption: trans.__('Add a note to the canvas'),
      icon: noteIcon,
      // delayed, since menus and the command palette restore the previous focus
      run: actions => runWithFocus(() => actions.addNote())
    },
    {
      id: 'labdl:add-note-around',
      label: trans.__('Add Note Around Selection'),
      caption: trans.__('Frame the selected layers with a note'),
      run: actions => runWithFocus(() => actions.frameSelection())
    }
  ];
}
