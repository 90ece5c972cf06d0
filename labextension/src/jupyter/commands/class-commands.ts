// Command that adds a class of a notebook's kernel to the canvas.

import type { Translator } from '../../editor';
import type { EditorCommand } from './editor-commands';
import { runWithFocus } from './focus';

export function classCommands(trans: Translator): EditorCommand[] {
  return [
    {
      id: 'labdl:add-class',
      label: trans.__('Add Class from a Kernel…'),
      caption: trans.__('Add an nn.Module class defined in a running notebook'),
      run: actions => runWithFocus(() => void actions.offerClasses())
    }
  ];
}
