// Translator of a widget for the language of the page, which JupyterLab states in its HTML.
import { fill, plainTranslator, Translator } from '../ui/translator';

/** Translations by source text, with singular and plural forms. */
export type Catalog = { [text: string]: string[] | object };

/** Defined by the build: catalogs of this repository by language, such as zh_CN. */
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
