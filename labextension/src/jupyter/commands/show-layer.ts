// Brings a layer of an open model graph in front of a person.

import type { JupyterFrontEnd } from '@jupyterlab/application';

import type { ILabDL } from '../tokens';

/** By the name that a run knows it by; opens the document where it is not open. */
export async function showLayer(
  app: JupyterFrontEnd,
  graphs: ILabDL['tracker'],
  path: string,
  layer: string
): Promise<void> {
  const isIt = (widget: { context: { path: string } }) =>
    widget.context.path === path;
  if (!graphs.find(isIt)) {
    await app.commands.execute('docmanager:open', { path });
  }
  const widget = graphs.find(isIt);
  if (!widget) {
    return;
  }
  app.shell.activateById(widget.id);
  await widget.context.ready;
  const { content } = widget;
  const select = () => {
    const { nodes } = widget.context.model.graph.snapshot();
    const found = Object.keys(nodes).find(id => nodes[id].name === layer);
    content.actions?.selectNodes(found === undefined ? [] : [found]);
  };
  if (content.actions) {
    select();
    return;
  }
  // it has just been opened: its editor is about to be drawn
  const whenDrawn = () => {
    if (content.actions) {
      content.actionsChanged.disconnect(whenDrawn);
      select();
    }
  };
  content.actionsChanged.connect(whenDrawn);
}
