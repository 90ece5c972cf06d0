// Plugin: shows size and problems of the current model in JupyterLab's status bar.

import {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { IStatusBar } from '@jupyterlab/statusbar';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import { ILabDL } from '../tokens';

export const statusPlugin: JupyterFrontEndPlugin<void> = {
  id: 'labdl:status',
  description: 'Shows the model in front in the status bar.',
  autoStart: true,
  requires: [ILabDL, IStatusBar],
  activate: (
    { shell }: JupyterFrontEnd,
    { tracker }: ILabDL,
    bar: IStatusBar
  ): void => {
    const item = new Widget();
    item.addClass('labdl-StatusItem');
    const changed = new Signal<typeof bar, void>(bar);
    const isInFront = () => {
      const { currentWidget } = tracker;
      return currentWidget !== null && currentWidget === shell.currentWidget;
    };
    const follow = () => {
      const content = isInFront() ? tracker.currentWidget?.content : undefined;
      item.node.replaceChildren(...(content ? [content.status] : []));
      changed.emit();
    };
    tracker.currentChanged.connect(follow);
    shell.currentChanged?.connect(follow);
    bar.registerStatusItem('labdl:status', {
      item,
      align: 'middle',
      rank: 10,
      isActive: isInFront,
      activeStateChanged: changed
    });
  }
};
