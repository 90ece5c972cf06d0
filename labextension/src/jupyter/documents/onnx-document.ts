// An ONNX file as a document: it is converted to a model graph, which is opened instead.

import {
  ABCWidgetFactory,
  DocumentRegistry,
  DocumentWidget
} from '@jupyterlab/docregistry';
import { Contents, IContentProvider } from '@jupyterlab/services';
import { Widget } from '@lumino/widgets';

import { graphIcon } from '../icons';

/** Name of the provider on the default drive. */
export const ONNX_PROVIDER = 'labdl-onnx';

/** Provides files without their contents: the server converts them, so the page need not load hundreds of megabytes. */
export class OnnxContentProvider implements IContentProvider {
  constructor(private readonly contents: Contents.IManager) {}

  async get(localPath: string): Promise<Contents.IModel> {
    const model = await this.contents.get(localPath, { content: false });
    return { ...model, format: 'base64', content: '' };
  }

  save(localPath: string): Promise<Contents.IModel> {
    return Promise.reject(new Error(`${localPath} is not written from here.`));
  }
}

export class OnnxWidgetFactory extends ABCWidgetFactory<DocumentWidget> {
  constructor(
    options: DocumentRegistry.IWidgetFactoryOptions<DocumentWidget>,
    /** Text during the conversion. */
    private readonly notice: string,
    private readonly convert: (path: string) => Promise<unknown>
  ) {
    super(options);
  }

  protected createNewWidget(context: DocumentRegistry.Context): DocumentWidget {
    const content = new Widget();
    content.addClass('labdl-OnnxPanel');
    content.node.textContent = this.notice;
    content.node.setAttribute('role', 'status');
    const widget = new DocumentWidget({ content, context });
    widget.title.icon = graphIcon;
    void context.ready
      .then(() => this.convert(context.path))
      .finally(() => widget.dispose());
    return widget;
  }
}
