// JupyterLab's property inspector as the place for the properties of the model that is in front.

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
