// Writes the version of LabDL, which stands in labdl/__init__.py alone, into the built extension's package.json.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = name => fileURLToPath(new URL(name, import.meta.url));
const source = readFileSync(here('../labdl/__init__.py'), 'utf8');
const [, version] = /^__version__ = "(.+)"$/m.exec(source);
const target = here('../labdl/lab/labextension/package.json');
const data = JSON.parse(readFileSync(target, 'utf8'));
writeFileSync(target, JSON.stringify({ ...data, version }, null, 2) + '\n');
