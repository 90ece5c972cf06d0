// The colours of the charts, read from the style sheet, and news of a change of theme.

export interface ChartColours {
  readonly text: string;
  readonly grid: string;
  readonly train: string;
  readonly validation: string;
}

/** A canvas cannot read CSS variables, so their current values are taken from the element that carries them. */
export function readColours(element: Element): ChartColours {
  const style = getComputedStyle(element);
  const colour = (name: string, fallback: string) =>
    style.getPropertyValue(name).trim() || fallback;
  return {
    text: colour('--labdl-chart-text', '#616161'),
    grid: colour('--labdl-chart-grid', '#e0e0e0'),
    train: colour('--labdl-chart-train', '#1976d2'),
    validation: colour('--labdl-chart-validation', '#ef6c00')
  };
}

/** Calls back whenever the theme may have changed; returns the end of the watch. */
export function watchTheme(changed: () => void): () => void {
  const observer = new MutationObserver(changed);
  const options = {
    attributes: true,
    attributeFilter: ['data-jp-theme-light', 'data-jp-theme-name', 'class']
  };
  observer.observe(document.body, options);
  observer.observe(document.documentElement, options);
  // A host loads the style sheet of a theme after it has changed the attribute.
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
