// Colors of the charts, read from the style sheet, and detection of theme changes.

export interface ChartColors {
  readonly text: string;
  readonly grid: string;
  readonly train: string;
  readonly validation: string;
  /** Color of a third line in a chart. */
  readonly third: string;
  readonly fourth: string;
  readonly warning: string;
  readonly error: string;
  readonly surface: string;
}

/** Reads the colors from an element's computed style, since a canvas cannot read CSS variables. */
export function readColors(element: Element): ChartColors {
  const style = getComputedStyle(element);
  const color = (name: string, fallback: string) =>
    style.getPropertyValue(name).trim() || fallback;
  return {
    text: color('--labdl-chart-text', '#616161'),
    grid: color('--labdl-chart-grid', '#e0e0e0'),
    train: color('--labdl-chart-train', '#0072b2'),
    validation: color('--labdl-chart-validation', '#d55e00'),
    third: color('--labdl-chart-third', '#009e73'),
    fourth: color('--labdl-chart-fourth', '#cc79a7'),
    warning: color('--labdl-chart-warning', '#e65100'),
    error: color('--labdl-chart-error', '#d32f2f'),
    surface: color('--labdl-chart-surface', '#ffffff')
  };
}

/** Transparent version of a color. */
export function faint(color: string): string {
  return /^#[0-9a-f]{6}$/i.test(color) ? `${color}40` : color;
}

/** Calls `changed` whenever the theme may have changed; returns a function that stops this. */
export function watchTheme(changed: () => void): () => void {
  const observer = new MutationObserver(changed);
  const options = {
    attributes: true,
    attributeFilter: ['data-jp-theme-light', 'data-jp-theme-name', 'class']
  };
  observer.observe(document.body, options);
  observer.observe(document.documentElement, options);
  // The host loads the style sheet of a theme after it has changed the attribute.
  const loaded = (event: Event) => {
    if (event.target instanceof HTMLLinkElement) {
      changed();
    }
  };
  document.addEventListener('load', loaded, true);
  return () => {
    observer.disconnect();
    document.removeEventListener('load', loaded, true);
  };
}
