// Reads and writes model files through LabDL's routes instead of the REST API for contents.

import { Contents, IContentProvider } from '@jupyterlab/services';

import type { GraphData } from '../../editor';
import type { LabDLApi } from '../requests';

/** Name of the provider on the default drive. */
export const CONTENT_PROVIDER = 'labdl';

export class GraphContentProvider implements IContentProvider {
  constructor(private readonly api: LabDLApi) {}

  get(
    localPath: string,
    options?: Contents.IFetchOptions
  ): Promise<Contents.IModel> {
    return this.api.readGraph(localPath, {
      content: options?.content !== false,
      hash: options?.hash === true
    });
  }

  save(
    localPath: string,
    options?: Partial<Contents.IModel>
  ): Promise<Contents.IModel> {
    return this.api.writeGraph(localPath, options?.content as GraphData);
  }
}
