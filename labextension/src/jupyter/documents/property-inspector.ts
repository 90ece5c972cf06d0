// Shows the properties of the current model in JupyterLab's property inspector.

import type { IPropertyInspectorProvider } from '@jupyterlab/property-inspector';
import { Widget } from '@lumino/widgets';

import type { GraphWidget } from './document-widget';

export function showInInspector(
  provider: IPropertyInspectorProvider,
  widget: GraphWidget
): void {
  const content = new Widget({ node: widget.content.aside });
  content.addClass('labdl-PropertyInspector');
  provider.register(widget).render(content);
  widget.disposed.connect(() => content.dispose());
}
