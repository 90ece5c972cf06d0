// Adds to the built extension what the builder leaves out: LabDL's version, which stands in labdl/__init__.py alone, and the
// file from which JupyterLab knows who installed it. An install through the link of a checkout then writes nothing new there.
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = name => fileURLToPath(new URL(name, import.meta.url));
const source = readFileSync(here('../labdl/__init__.py'), 'utf8');
const [, version] = /^__version__ = "(.+)"$/m.exec(source);
const built = here('../labdl/lab/labextension/');
const data = JSON.parse(readFileSync(`${built}package.json`, 'utf8'));
writeFileSync(`${built}package.json`, JSON.stringify({ ...data, version }, null, 2) + '\n');
copyFileSync(here('install.json'), `${built}install.json`);
