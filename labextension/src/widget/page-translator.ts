// The words of a widget in the language of the page around it: JupyterLab writes that into the page.
import { fill, plainTranslator, Translator } from '../editor/translator';

/** Texts by the words of the source, a form for one and a form for more. */
export type Catalogue = { [text: string]: string[] | object };

/** Put in by the build: the catalogues of this repository by their languages, such as zh_CN. */
declare const LABDL_CATALOGUES: { [language: string]: Catalogue } | undefined;

export function pageTranslator(
  language = document.documentElement.lang,
  catalogues = typeof LABDL_CATALOGUES === 'undefined' ? {} : LABDL_CATALOGUES
): Translator {
  const catalogue = catalogues[language.replace('-', '_')];
  return catalogue ? translatorOf(catalogue) : plainTranslator;
}

function translatorOf(catalogue: Catalogue): Translator {
  const forms = (text: string) => {
    const found = catalogue[text];
    return Array.isArray(found) ? found : [];
  };
  return {
    __: (text, ...args) => fill(forms(text)[0] ?? text, args),
    _n: (singular, plural, n, ...args) => {
      const [one, more = one] = forms(singular);
      return one === undefined
        ? plainTranslator._n(singular, plural, n, ...args)
        : fill(n === 1 ? one : more, [n, ...args]);
    }
  };
}
