// Commands for blocks of layers.

import type { Translator } from '../../editor';
import type { EditorCommand } from './editor-commands';

export function blockCommands(trans: Translator): EditorCommand[] {
  return [
    {
      id: 'labdl:group',
      label: trans.__('Group Into a Block'),
      caption: trans.__('Group the selected layers into a block'),
      run: actions => actions.group()
    },
    {
      id: 'labdl:ungroup',
      label: trans.__('Ungroup'),
      caption: trans.__('Ungroup the selected block'),
      run: actions => actions.ungroup()
    },
    {
      id: 'labdl:collapse',
      label: trans.__('Collapse Block'),
      caption: trans.__('Show the selected block as one node'),
      run: actions => actions.fold()
    },
    {
      id: 'labdl:expand',
      label: trans.__('Expand Block'),
      caption: trans.__('Show the layers of the selected block in place'),
      run: actions => actions.unfold()
    },
    {
      id: 'labdl:enter',
      label: trans.__('Enter Block'),
      caption: trans.__('Show only the contents of the selected block'),
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
      caption: trans.__('Return to the enclosing block'),
      run: actions => actions.leave(),
      reads: true
    },
    {
      id: 'labdl:keep-block',
      label: trans.__('Save Block to Palette'),
      caption: trans.__('Add the selected block to the palette'),
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
