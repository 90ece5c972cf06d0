// Selects a layer in its model graph.

import type { JupyterFrontEnd } from '@jupyterlab/application';

import type { ILabDL } from '../tokens';

/** Shows a layer by its name in a run; opens the document if necessary. */
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
  // a new document does not have its editor yet
  const whenDrawn = () => {
    if (content.actions) {
      content.actionsChanged.disconnect(whenDrawn);
      select();
    }
  };
  content.actionsChanged.connect(whenDrawn);
}
