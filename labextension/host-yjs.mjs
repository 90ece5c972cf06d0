// Yjs of the page in place of the widget's own copy: esbuild plugin.
import { fileURLToPath } from 'node:url';

/**
 * Two copies of Yjs in one page do not know each other's types, and the second warns in the console. Where LabDL's extension of
 * JupyterLab shares JupyterLab's copy (src/jupyter/shared-yjs.ts), a widget takes it; elsewhere it starts its own.
 */
const SHARED = 'globalThis[Symbol.for("labdl.yjs")]';

export const hostYjs = {
  name: 'yjs-of-the-host',
  setup(build) {
    build.onResolve({ filter: /^yjs$/ }, ({ namespace }) =>
      namespace === 'host-yjs'
        ? undefined
        : { path: 'yjs', namespace: 'host-yjs' }
    );
    // `require`, not `import`: the module runs only where it is needed
    build.onLoad({ filter: /.*/, namespace: 'host-yjs' }, () => ({
      contents: `module.exports = ${SHARED} ?? require('yjs');`,
      resolveDir: fileURLToPath(new URL('.', import.meta.url))
    }));
  }
};
