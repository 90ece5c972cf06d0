// Labels and actions of the commands for the current graph.

import {
  addIcon,
  codeIcon,
  copyIcon,
  cutIcon,
  deleteIcon,
  duplicateIcon,
  LabIcon,
  pasteIcon,
  redoIcon,
  searchIcon,
  undoIcon
} from '@jupyterlab/ui-components';

import { SELECTION_COMMANDS } from '../../editor';
import type { Alignment, EditorActions, Translator } from '../../editor';
import { blockCommands } from './block-commands';
import { healthCommands } from './health-commands';
import { classCommands } from './class-commands';
import { fitIcon, layoutIcon } from '../icons';
import { noteCommands } from './note-commands';
import { sampleCommands } from './sample-commands';
import type { GraphWidget } from '../documents/document-widget';
import { runWithFocus } from './focus';

export interface EditorCommand {
  id: string;
  label: string;
  caption: string;
  icon?: LabIcon;
  run: (actions: EditorActions, widget: GraphWidget) => void;
  enabled?: (widget: GraphWidget) => boolean;
  toggled?: (widget: GraphWidget) => boolean;
  /** Whether it changes nothing, so that it is also enabled for read-only documents. */
  reads?: boolean;
}

export function editorCommands(trans: Translator): EditorCommand[] {
  return [
    {
      id: 'labdl:undo',
      label: trans.__('Undo'),
      caption: trans.__('Undo the last change'),
      icon: undoIcon,
      run: actions => actions.undo(),
      enabled: widget => widget.context.model.graph.canUndo()
    },
    {
      id: 'labdl:redo',
      label: trans.__('Redo'),
      caption: trans.__('Redo the last undone change'),
      icon: redoIcon,
      run: actions => actions.redo(),
      enabled: widget => widget.context.model.graph.canRedo()
    },
    {
      id: 'labdl:cut',
      label: trans.__('Cut'),
      caption: trans.__('Cut the selected layers'),
      icon: cutIcon,
      run: actions => void actions.cut()
    },
    {
      id: 'labdl:copy',
      label: trans.__('Copy'),
      caption: trans.__('Copy the selected layers'),
      icon: copyIcon,
      run: actions => void actions.copy(),
      reads: true
    },
    {
      id: 'labdl:paste',
      label: trans.__('Paste'),
      caption: trans.__('Paste the copied layers'),
      icon: pasteIcon,
      run: actions => void actions.paste()
    },
    {
      id: 'labdl:duplicate',
      label: trans.__('Duplicate'),
      caption: trans.__('Duplicate the selected layers'),
      icon: duplicateIcon,
      run: actions => actions.duplicate()
    },
    {
      id: 'labdl:delete',
      label: trans.__('Delete'),
      caption: trans.__('Delete the selected layers and connections'),
      icon: deleteIcon,
      run: actions => actions.deleteSelection()
    },
    {
      id: 'labdl:find',
      label: trans.__('Find Layers…'),
      caption: trans.__('Find layers by name, type, setting, shape or problem'),
      icon: searchIcon,
      run: actions => runWithFocus(() => actions.find()),
      reads: true
    },
    {
      id: 'labdl:clear-selection',
      label: trans.__('Clear Selection, or Leave Block'),
      caption: trans.__('Select nothing; without a selection, leave the block'),
      run: actions => actions.escape(),
      reads: true
    },
    {
      id: 'labdl:show-shortcuts',
      label: trans.__('Show Keys of the Canvas'),
      caption: trans.__('Show the keys of the canvas'),
      run: actions => runWithFocus(() => actions.showShortcuts()),
      reads: true
    },
    ...SELECTION_COMMANDS.map(command => ({
      id: `labdl:${command.id}`,
      label: command.label(trans),
      caption: command.caption(trans),
      run: (actions: EditorActions) => actions.select(command),
      reads: true
    })),
    {
      id: 'labdl:add-layer',
      label: trans.__('Add Layer…'),
      caption: trans.__('Add a layer after the selected layers'),
      icon: addIcon,
      run: actions => runWithFocus(() => actions.openMenu())
    },
    {
      id: 'labdl:link',
      label: trans.__('Connect Layers'),
      caption: trans.__(
        'Connect the selected layers in the order of selection'
      ),
      run: actions => actions.link()
    },
    {
      id: 'labdl:auto-layout',
      label: trans.__('Arrange Automatically'),
      caption: trans.__('Arrange the layers automatically'),
      icon: layoutIcon,
      run: actions => actions.autoLayout()
    },
    {
      id: 'labdl:arrange-right',
      label: trans.__('Arrange from Left to Right'),
      caption: trans.__('Arrange the layers from left to right'),
      run: actions => actions.autoLayout('right')
    },
    {
      id: 'labdl:arrange-down',
      label: trans.__('Arrange from Top to Bottom'),
      caption: trans.__('Arrange the layers from top to bottom'),
      run: actions => actions.autoLayout('down')
    },
    {
      id: 'labdl:show-code',
      label: trans.__('Show Python Code'),
      caption: trans.__('Show the model as Python code'),
      icon: codeIcon,
      run: actions => actions.showCode(),
      reads: true
    },
    {
      id: 'labdl:fit',
      label: trans.__('Fit to View'),
      caption: trans.__('Show the whole graph'),
      icon: fitIcon,
      run: actions => actions.fit(),
      reads: true
    },
    {
      id: 'labdl:zoom-in',
      label: trans.__('Zoom In'),
      caption: trans.__('Enlarge the graph'),
      run: actions => actions.zoomIn(),
      reads: true
    },
    {
      id: 'labdl:zoom-out',
      label: trans.__('Zoom Out'),
      caption: trans.__('Shrink the graph'),
      run: actions => actions.zoomOut(),
      reads: true
    },
    ...noteCommands(trans),
    ...classCommands(trans),
    ...sampleCommands(trans),
    ...healthCommands(trans),
    ...blockCommands(trans),
    ...alignments(trans)
  ];
}

function alignments(trans: Translator): EditorCommand[] {
  const all: [Alignment, string, string][] = [
    [
      'left',
      trans.__('Align Left'),
      trans.__('Align the left edges of the selected layers')
    ],
    [
      'center',
      trans.__('Align Centers'),
      trans.__('Center the selected layers in a column')
    ],
    [
      'right',
      trans.__('Align Right'),
      trans.__('Align the right edges of the selected layers')
    ],
    [
      'top',
      trans.__('Align Top'),
      trans.__('Align the top edges of the selected layers')
    ],
    [
      'middle',
      trans.__('Align Middles'),
      trans.__('Center the selected layers in a row')
    ],
    [
      'bottom',
      trans.__('Align Bottom'),
      trans.__('Align the bottom edges of the selected layers')
    ],
    [
      'spread-across',
      trans.__('Distribute Horizontally'),
      trans.__('Space the selected layers evenly from left to right')
    ],
    [
      'spread-down',
      trans.__('Distribute Vertically'),
      trans.__('Space the selected layers evenly from top to bottom')
    ]
  ];
  return all.map(([how, label, caption]) => ({
    id: `labdl:align-${how}`,
    label,
    caption,
    run: actions => actions.align(how)
  }));
}
