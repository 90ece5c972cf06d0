// Models of a comparison: an open document as on the canvas, or the contents of a file.

import { PathExt } from '@jupyterlab/coreutils';
import { Contents } from '@jupyterlab/services';

import type { GraphData, Translator } from '../../editor';
import type { ILabDL } from '../tokens';

/** Serializable description of a model: a file, and whether its saved version is meant although it is open. */
export interface DiffPlace {
  path: string;
  isSaved: boolean;
}

export interface DiffSource {
  title: string;
  caption: string;
  read(): Promise<GraphData>;
  /** Calls `changed` when the model has changed; returns a function that stops this. */
  watch(changed: () => void): () => void;
}

export function sourceOf(
  { path, isSaved }: DiffPlace,
  { api, tracker }: ILabDL,
  contents: Contents.IManager,
  trans: Translator
): DiffSource {
  const name = PathExt.basename(path);
  const openSource = () =>
    isSaved
      ? undefined
      : tracker.find(
          widget => widget.context.path === path && !widget.isDisposed
        );
  return {
    title: isSaved ? trans.__('%1, as saved', name) : name,
    caption: path,
    async read() {
      const context = openSource()?.context;
      if (context) {
        await context.ready;
        return context.model.graph.snapshot();
      }
      const model = await api.readGraph(contents.localPath(path), {
        content: true,
        hash: false
      });
      return model.content as GraphData;
    },
    watch(changed) {
      const saved = (
        _sender: Contents.IManager,
        { type, newValue }: Contents.IChangedArgs
      ) => {
        if (type === 'save' && newValue?.path === path && !openSource()) {
          changed();
        }
      };
      contents.fileChanged.connect(saved);
      const graph = openSource()?.context.model.graph;
      let before = graph?.snapshot();
      const stop = graph?.subscribe(() => {
        const now = graph.snapshot();
        // positions and notes are not compared
        const parts = ['nodes', 'edges', 'groups', 'ties', 'name'] as const;
        if (parts.some(part => now[part] !== before?.[part])) {
          changed();
        }
        before = now;
      });
      return () => {
        contents.fileChanged.disconnect(saved);
        stop?.();
      };
    }
  };
}
