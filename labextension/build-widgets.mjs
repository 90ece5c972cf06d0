// Bundles the widgets into ../labdl/lab/static, a script and a style sheet each, and prints their sizes; bundles the style
// sheet of the JupyterLab extension into lib.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { precedingHosts, STYLE_TARGET } from './styles.mjs';

const here = name => fileURLToPath(new URL(name, import.meta.url));
const outdir = here('../labdl/lab/static');

const locale = here('../labdl/locale');
const catalogOf = language => `${locale}/${language}/LC_MESSAGES/labdl.json`;
const catalogs = Object.fromEntries(
  readdirSync(locale)
    .filter(language => existsSync(catalogOf(language)))
    .map(language => [
      language,
      JSON.parse(readFileSync(catalogOf(language), 'utf8'))
    ])
);

const { metafile } = await build({
  entryPoints: ['editor', 'dashboard', 'runs'].flatMap(name => [
    { in: here(`src/widget/${name}.ts`), out: name },
    { in: here(`style/${name}.css`), out: name }
  ]),
  outdir,
  bundle: true,
  minify: true,
  metafile: true,
  format: 'esm',
  target: ['es2022', ...STYLE_TARGET],
  plugins: [precedingHosts],
  jsx: 'automatic',
  define: {
    'process.env.NODE_ENV': '"production"',
    LABDL_CATALOGS: JSON.stringify(catalogs)
  },
  legalComments: 'eof',
  logLevel: 'warning'
});

await build({
  entryPoints: [here('style/index.css')],
  outfile: here('lib/index.css'),
  bundle: true,
  target: STYLE_TARGET,
  plugins: [precedingHosts],
  logLevel: 'warning'
});

for (const [path, { bytes }] of Object.entries(metafile.outputs)) {
  process.stdout.write(
    `${path.split('/').pop().padEnd(16)}${(bytes / 1024).toFixed(0).padStart(6)} KiB\n`
  );
}
