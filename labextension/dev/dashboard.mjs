// Bundles the development page of the dashboard into dev/build.
import { build } from 'esbuild';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const dev = dirname(fileURLToPath(import.meta.url));

await build({
  entryPoints: { dashboard: join(dev, 'dashboard.tsx') },
  bundle: true,
  outdir: join(dev, 'build'),
  format: 'iife',
  target: 'es2022',
  jsx: 'automatic',
  define: { 'process.env.NODE_ENV': '"production"' }
});
