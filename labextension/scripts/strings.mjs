// The texts that the front end shows, as the translator is asked for them: `node scripts/strings.mjs` prints them as JSON.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const SOURCE = fileURLToPath(new URL('../src', import.meta.url));
// how many of the first arguments are texts
const METHODS = { __: 1, gettext: 1, _n: 2, ngettext: 2 };

/** @returns {string[][]} the texts of each call: one, or singular and plural */
export function strings() {
  const found = new Map();
  for (const file of readdirSync(SOURCE, { recursive: true }).sort()) {
    if (/\.tsx?$/.test(file) && !file.includes('__tests__')) {
      collect(join(SOURCE, file), found);
    }
  }
  return [...found.values()];
}

function collect(path, found) {
  const text = readFileSync(path, 'utf8');
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const visit = node => {
    const name =
      ts.isCallExpression(node) &&
      ts.isPropertyAccessExpression(node.expression) &&
      node.expression.name.text;
    const count = Object.hasOwn(METHODS, name || '') ? METHODS[name] : 0;
    // `translator.ts` hands on what it was given
    const texts = count ? node.arguments.slice(0, count) : [];
    if (texts.length && texts.every(ts.isStringLiteralLike)) {
      const words = texts.map(word => word.text);
      found.set(words[0], words);
    } else if (texts.length && !path.includes('translator')) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      throw new Error(
        `${path}:${line + 1}: a text to translate must be written out`
      );
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log(JSON.stringify(strings(), null, 1));
}
