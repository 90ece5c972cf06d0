// Builds the page that shows the data view without Jupyter: `node dev/data.mjs`, then open dev/data.html.
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { precedingHosts } from '../styles.mjs';

const here = name => fileURLToPath(new URL(name, import.meta.url));

await build({
  entryPoints: { data: here('data.tsx') },
  outdir: here('build'),
  bundle: true,
  jsx: 'automatic',
  format: 'iife',
  plugins: [precedingHosts],
  define: { 'process.env.NODE_ENV': '"production"' },
  logLevel: 'warning'
});
