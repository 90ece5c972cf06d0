// A sentence of Python about a data set, in the language of the page where the catalog has it.

import { translateGiven, type Translator } from '../ui/translator';

/** Only sentences without values are in the catalog; others may have a percent sign, which stands for a value there. */
export function problemText(trans: Translator, text: string): string {
  return text.includes('%') ? text : translateGiven(trans, text, []);
}
