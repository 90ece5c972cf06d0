// Interface of the translator; JupyterLab's TranslationBundle implements it.

export interface Translator {
  __(text: string, ...args: unknown[]): string;
  _n(singular: string, plural: string, n: number, ...args: unknown[]): string;
}

/** Translation of a text from Python, where the texts of the catalog are listed: see `alert_texts.py`. */
export function translateGiven(
  trans: Translator,
  text: string,
  values: readonly string[]
): string {
  return trans.__(text, ...values);
}

/** A text with "%1", "%2" replaced. */
export function fill(text: string, args: unknown[]): string {
  return text.replace(/%(\d+)/g, (whole, index: string) => {
    const value = args[Number(index) - 1];
    return value === undefined ? whole : String(value);
  });
}

/** Returns texts untranslated, for hosts without translations. */
export const plainTranslator: Translator = {
  __: (text, ...args) => fill(text, args),
  // gettext passes the number as the first argument
  _n: (singular, plural, n, ...args) =>
    fill(n === 1 ? singular : plural, [n, ...args])
};
