// The licenses of the packages in bundles, in the form that JupyterLab shows under Help > Licenses.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const TEXT = /^(licen[cs]e|copying|notice)(\.|-|$)/i;

/**
 * @param {Iterable<string>} files - the sources of a bundle
 * @returns the packages among them, each with its license and the license's text, empty where the package has none
 */
export function licensesOf(files) {
  const folders = new Set();
  for (const file of files) {
    const folder = packageFolder(file);
    if (folder) {
      folders.add(folder);
    }
  }
  return [...folders].sort().map(folder => {
    const data = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const older = data.licenses ?? []; // as npm had it before 2014
    const texts = readdirSync(folder).filter(name => TEXT.test(name));
    return {
      name: data.name,
      versionInfo: data.version,
      licenseId: data.license ?? older.map(({ type }) => type).join(' OR '),
      extractedText: texts
        .map(name => readFileSync(join(folder, name), 'utf8').trim())
        .join('\n\n')
    };
  });
}

/** The folder of the package that a file is in, or null for a file of LabDL. */
function packageFolder(file) {
  const match = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file);
  return match && match[1];
}
