// The commands that act on blocks of layers.

import type { Translator } from '../editor';
import type { EditorCommand } from './editor-commands';

export function blockCommands(trans: Translator): EditorCommand[] {
  return [
    {
      id: 'labdl:group',
      label: trans.__('Group Into a Block'),
      caption: trans.__('Make one block of the selected layers (Ctrl+G)'),
      run: actions => actions.group()
    },
    {
      id: 'labdl:ungroup',
      label: trans.__('Ungroup'),
      caption: trans.__('Take the selected block apart (Ctrl+Shift+G)'),
      run: actions => actions.ungroup()
    },
    {
      id: 'labdl:collapse',
      label: trans.__('Collapse Block'),
      caption: trans.__('Draw the selected block as one box'),
      run: actions => actions.fold()
    },
    {
      id: 'labdl:expand',
      label: trans.__('Expand Block'),
      caption: trans.__('Show the layers of the selected block in their place'),
      run: actions => actions.unfold()
    },
    {
      id: 'labdl:enter',
      label: trans.__('Enter Block'),
      caption: trans.__('Show only the inside of the selected block'),
      run: actions => {
        const path = actions.selectedBlock();
        if (path !== null) {
          actions.enter(path);
        }
      },
      reads: true
    },
    {
      id: 'labdl:leave',
      label: trans.__('Leave Block'),
      caption: trans.__('Show what is around the block that was entered (Esc)'),
      run: actions => actions.leave(),
      reads: true
    },
    {
      id: 'labdl:keep-block',
      label: trans.__('Save Block to Palette'),
      caption: trans.__('Offer the selected block in the list of layers'),
      run: actions => {
        const path = actions.selectedBlock();
        if (path !== null) {
          actions.keepBlock(path);
        }
      },
      reads: true
    }
  ];
}
