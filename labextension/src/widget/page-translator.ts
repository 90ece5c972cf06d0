// The words of a widget in the language of the page around it: JupyterLab writes that into the page.
import { fill, plainTranslator, Translator } from '../ui/translator';

/** Texts by the words of the source, a form for one and a form for more. */
export type Catalog = { [text: string]: string[] | object };

/** Put in by the build: the catalogs of this repository by their languages, such as zh_CN. */
declare const LABDL_CATALOGS: { [language: string]: Catalog } | undefined;

export function pageTranslator(
  language = document.documentElement.lang,
  catalogs = typeof LABDL_CATALOGS === 'undefined' ? {} : LABDL_CATALOGS
): Translator {
  const catalog = catalogs[language.replace('-', '_')];
  return catalog ? translatorOf(catalog) : plainTranslator;
}

function translatorOf(catalog: Catalog): Translator {
  const forms = (text: string) => {
    const found = catalog[text];
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
