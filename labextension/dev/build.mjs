// Builds the page that shows the editor without Jupyter: `node dev/build.mjs`, then open dev/editor.html.
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = name => fileURLToPath(new URL(name, import.meta.url));

const result = await build({
  entryPoints: { editor: here('editor.tsx') },
  outdir: here('build'),
  bundle: true,
  minify: true,
  metafile: true,
  jsx: 'automatic',
  format: 'iife',
  define: { 'process.env.NODE_ENV': '"production"' },
  logLevel: 'warning'
});

for (const [path, { bytes }] of Object.entries(result.metafile.outputs)) {
  process.stdout.write(`${path}  ${(bytes / 1024).toFixed(0)} KiB\n`);
}
