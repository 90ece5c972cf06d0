// JupyterLab's copy of Yjs, for the widgets in the page.
import * as Y from 'yjs';

/** Shares it under the name by which host-yjs.mjs makes widgets look for it. */
export function shareYjs(): void {
  Object.assign(globalThis, { [Symbol.for('labdl.yjs')]: Y });
}
