// Bundles the widgets into ../labdl/lab/static, a script and a style sheet each, with the licenses of what they contain, and
// prints their sizes; bundles the style sheet of the JupyterLab extension into lib.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync
} from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build, transformSync } from 'esbuild';
import { hostYjs } from './host-yjs.mjs';
import { licensesOf } from './licenses.mjs';
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

const bundle = (names, shown) =>
  build({
    entryPoints: names.flatMap(({ name, source = name }) => [
      { in: here(`src/widget/${source}.ts`), out: name },
      { in: here(`style/${name}.css`), out: name }
    ]),
    outdir,
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'esm',
    target: ['es2022', ...STYLE_TARGET],
    plugins: [precedingHosts, hostYjs],
    jsx: 'automatic',
    define: {
      'process.env.NODE_ENV': '"production"',
      LABDL_CATALOGS: JSON.stringify(shown)
    },
    legalComments: 'eof',
    logLevel: 'warning'
  });

// The snapshot is in the state of many saved notebooks: it has the translations of its own texts only.
const snapshot = [{ name: 'snapshot', source: 'snapshot-view' }];
const [{ text: untranslated }] = (await bundle(snapshot, {})).outputFiles;
const own = Object.fromEntries(
  Object.entries(catalogs).map(([language, catalog]) => [
    language,
    Object.fromEntries(
      Object.entries(catalog).filter(
        ([text]) => text && untranslated.includes(JSON.stringify(text))
      )
    )
  ])
);

await build({
  entryPoints: [here('style/index.css')],
  outfile: here('lib/index.css'),
  bundle: true,
  target: STYLE_TARGET,
  plugins: [precedingHosts],
  logLevel: 'warning'
});

const widgets = ['editor', 'dashboard', 'runs', 'data'].map(name => ({ name }));
const results = [await bundle(widgets, catalogs), await bundle(snapshot, own)];
const files = results.flatMap(result => result.outputFiles);
mkdirSync(outdir, { recursive: true });
for (const { path, text } of files) {
  const escaped = path.endsWith('.js') ? escapeMarkup(text) : text;
  writeFileSync(path, escaped);
  process.stdout.write(
    `${path.split('/').pop().padEnd(16)}${(Buffer.byteLength(escaped) / 1024).toFixed(0).padStart(6)} KiB\n`
  );
}

const sources = results
  .flatMap(result => Object.values(result.metafile.outputs))
  .flatMap(({ inputs }) => Object.entries(inputs))
  .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
  .map(([file]) => file);
const licenses = { packages: licensesOf(sources) };
writeFileSync(
  `${outdir}/third-party-licenses.json`,
  JSON.stringify(licenses, null, 1)
);

/**
 * The program without `<!--` and `<script`, which end or extend a script element of a page that contains it as data, as the
 * pages of nbconvert do. `\x3C` is the same character in strings, templates and regular expressions; esbuild
 * puts a space between the operators `<` and `!--`.
 */
function escapeMarkup(text) {
  const escaped = text.replace(/<(?=!--|\/?script)/gi, '\\x3C');
  transformSync(escaped, { format: 'esm' }); // still a program
  return escaped;
}
