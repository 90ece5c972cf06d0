// Kernel in the Train panel's toolbar: name, status and actions, as in a notebook.

import {
  circleEmptyIcon,
  circleIcon,
  clearIcon,
  LabIcon,
  offlineBoltIcon,
  ReactWidget,
  refreshIcon,
  stopIcon,
  Toolbar,
  ToolbarButtonComponent,
  UseSignal
} from '@jupyterlab/ui-components';
import * as React from 'react';

import type { Translator } from '../../editor';
import type { TrainingKernels } from './training-kernels';

/** Adds the kernel items of a document to a toolbar. */
export function addKernelItems(
  toolbar: Toolbar,
  kernels: TrainingKernels,
  trans: Translator
): void {
  const item = (name: string, render: () => React.JSX.Element) => {
    const widget = ReactWidget.create(
      <UseSignal signal={kernels.changed}>{render}</UseSignal>
    );
    widget.addClass('jp-Toolbar-item');
    toolbar.addItem(name, widget);
    return widget;
  };
  const button = (
    name: string,
    icon: LabIcon,
    tooltip: string,
    onClick: () => void
  ) =>
    item(name, () => (
      <ToolbarButtonComponent
        icon={icon}
        tooltip={tooltip}
        enabled={kernels.kernel !== null}
        onClick={onClick}
      />
    ));
  button('interrupt', stopIcon, trans.__('Interrupt the kernel'), () =>
    kernels.interrupt()
  );
  button('restart', refreshIcon, trans.__('Restart the kernel'), () =>
    kernels.restart()
  );
  button('shutdown', clearIcon, trans.__('Shut down the kernel'), () =>
    kernels.shutdown()
  );
  toolbar.addItem('spacer', Toolbar.createSpacerItem());
  item('kernelName', () => (
    <ToolbarButtonComponent
      className="jp-Toolbar-kernelName"
      label={kernels.displayName}
      tooltip={trans.__('Choose the kernel that trains')}
      onClick={() => kernels.select()}
    />
  )).addClass('jp-KernelName');
  item('kernelStatus', () => {
    const { icon, text } = stateOf(kernels.status, trans);
    return (
      <icon.react
        tag="span"
        className="labdl-KernelStatus"
        title={text}
        stylesheet="toolbarButton"
      />
    );
  });
}

function stateOf(
  status: TrainingKernels['status'],
  trans: Translator
): { icon: LabIcon; text: string } {
  switch (status) {
    case '':
      return {
        icon: circleEmptyIcon,
        text: trans.__('The kernel starts when training starts')
      };
    case 'idle':
      return { icon: circleEmptyIcon, text: trans.__('The kernel is idle') };
    case 'busy':
      return { icon: circleIcon, text: trans.__('The kernel is busy') };
    case 'starting':
    case 'restarting':
    case 'autorestarting':
    case 'initializing':
      return { icon: circleIcon, text: trans.__('The kernel is starting') };
    case 'terminating':
      return { icon: circleIcon, text: trans.__('The kernel is shut down') };
    case 'dead':
      return { icon: offlineBoltIcon, text: trans.__('The kernel has died') };
    default:
      return {
        icon: offlineBoltIcon,
        text: trans.__('The kernel cannot be reached: %1', status)
      };
  }
}
