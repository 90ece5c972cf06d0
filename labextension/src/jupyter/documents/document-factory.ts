// Creates the models of documents, for one person or for several.

import { DocumentRegistry } from '@jupyterlab/docregistry';
import { Contents } from '@jupyterlab/services';

import { LabDLDocument, LabDLModel } from './document';

export class LabDLModelFactory implements DocumentRegistry.IModelFactory<
  LabDLModel,
  LabDLDocument
> {
  readonly name = 'labdl';
  readonly contentType: Contents.ContentType;
  readonly fileFormat: Contents.FileFormat;

  /** `sharedType` is the content type of collaborative documents; without it, documents are not collaborative. */
  constructor(sharedType?: Contents.ContentType) {
    this.collaborative = sharedType !== undefined;
    this.contentType = sharedType ?? 'file';
    // collaboration reads and writes the file's bytes, our own provider the graph
    this.fileFormat = this.collaborative ? 'base64' : 'json';
  }

  readonly collaborative: boolean;

  createNew(
    options?: DocumentRegistry.IModelOptions<LabDLDocument>
  ): LabDLModel {
    return new LabDLModel(options);
  }

  preferredLanguage(): string {
    return 'python';
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
  }

  private _isDisposed = false;
}
