// Bundles the page of tests/bench/dashboard.py into the folder named on the command line; prints what uPlot takes of it.
import { build } from 'esbuild';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const dev = dirname(fileURLToPath(import.meta.url));
const outdir = process.argv[2];

const { metafile } = await build({
  entryPoints: { bench: join(dev, 'bench.tsx') },
  bundle: true,
  minify: true,
  metafile: true,
  outdir,
  format: 'iife',
  target: 'es2022',
  jsx: 'automatic',
  define: { 'process.env.NODE_ENV': '"production"' },
  logLevel: 'warning'
});

let uplot = 0;
for (const { inputs } of Object.values(metafile.outputs)) {
  for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
    uplot += path.includes('node_modules/uplot/') ? bytesInOutput : 0;
  }
}
process.stdout.write(JSON.stringify({ uplot }) + '\n');
