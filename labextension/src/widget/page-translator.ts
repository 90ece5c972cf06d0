// Translator of a widget for the language of the page, which JupyterLab states in its HTML, else for that of the kernel.
import type { AnyModel } from '@anywidget/types';
import { fill, plainTranslator, Translator } from '../ui/translator';

/** Translations by source text, with singular and plural forms. */
export type Catalog = { [text: string]: string[] | object };

/** Defined by the build: catalogs of this repository by language, such as zh_CN. */
declare const LABDL_CATALOGS: { [language: string]: Catalog } | undefined;

/** Language of the page, such as zh-CN; empty where it states none. */
const pageLanguage = () => document.documentElement.lang;

/**
 * Has the kernel answer in the language of the page, if it states one. `_language` is a trait of every widget, at first the
 * language of the kernel.
 */
export function stateLanguage(model: AnyModel): void {
  const language = pageLanguage();
  if (language && language !== model.get('_language')) {
    model.set('_language', language);
    model.save_changes();
  }
}

export function pageTranslator(model: AnyModel): Translator {
  return translatorFor(
    pageLanguage() || ((model.get('_language') as string | undefined) ?? '')
  );
}

export function translatorFor(
  language: string,
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
