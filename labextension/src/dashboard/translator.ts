// What the dashboard asks of a translator; JupyterLab's TranslationBundle fits it.

export interface Translator {
  __(text: string, ...args: unknown[]): string;
  _n(singular: string, plural: string, n: number, ...args: unknown[]): string;
}
