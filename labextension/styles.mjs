// Style sheets whose rules precede those of the host: esbuild plugin.
import { readFile } from 'node:fs/promises';

/**
 * Hosts style elements by their names, such as `.jp-OutputArea-output dl`, which is more specific than most rules of ours.
 * An ancestor that every element has, with the specificity of an id, puts all of our rules above all of theirs
 * and keeps the order among them.
 */
const ANCESTOR = ':not(#labdl)';
/** Animations cannot be nested in a rule. */
const KEYFRAMES = /@keyframes\s+[\w-]+\s*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}/g;

export const precedingHosts = {
  name: 'styles-preceding-hosts',
  setup(build) {
    build.onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      if (text.includes('@import')) {
        return { contents: text, loader: 'css' };
      }
      const animations = text.match(KEYFRAMES) ?? [];
      const rules = text.replace(KEYFRAMES, '');
      const contents = `${animations.join('\n')}\n${ANCESTOR} {\n${rules}\n}`;
      return { contents, loader: 'css' };
    });
  }
};

/** Browsers for which nested rules are written out; syntax of scripts is newer in all of them. */
export const STYLE_TARGET = ['chrome111', 'firefox114', 'safari16.4'];
