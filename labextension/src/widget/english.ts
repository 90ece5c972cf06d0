// The translator of a host without translations: the English text with its arguments filled in.

export const english = {
  __(text: string, ...args: unknown[]): string {
    return text.replace(/%(\d+)/g, (mark, index: string) => {
      const i = Number(index) - 1;
      return i < args.length ? String(args[i]) : mark;
    });
  },

  /** As in gettext, %1 is the number itself and the other arguments follow. */
  _n(singular: string, plural: string, n: number, ...args: unknown[]): string {
    return english.__(n === 1 ? singular : plural, n, ...args);
  }
};
