// Renders the tabs with events, as the dashboard does.
import { render } from '@testing-library/react';
import { validate } from '../../../api/events';
import { plainTranslator } from '../../../ui/translator';
import { tabParts, type TabViews } from '../reducers';
import { System } from '../system';
import type { RunCode, RunEvent, RunSource } from '../source';
import { DashboardTabs } from '../../tabs/DashboardTabs';

export function source(code?: () => Promise<RunCode>): RunSource {
  return {
    subscribe: () => () => undefined,
    command: async () => undefined,
    ...(code ? { code } : {})
  };
}

export interface Showing {
  tab?: string;
  code?: () => Promise<RunCode>;
  onShow?: (layer: string) => void;
  onStep?: (step: number) => void;
}

/** Renders the events; more can be added later, as in a live run. */
export function show(events: readonly RunEvent[], how: Showing = {}) {
  localStorage.setItem('labdl:dashboard-tab', how.tab ?? 'overview');
  const parts = { ...tabParts(), system: new System() };
  const apply = (given: RunEvent) => {
    const event = validate('RunEvent', given);
    if (event) {
      Object.values(parts).forEach(part => part.apply(event));
    }
  };
  const view = () =>
    Object.fromEntries(
      Object.entries(parts).map(([name, part]) => [name, part.view()])
    ) as unknown as TabViews;
  const from = source(how.code);
  const tabs = () => (
    <DashboardTabs
      view={view()}
      source={from}
      trans={plainTranslator}
      onShow={how.onShow}
      onStep={how.onStep}
    >
      <p>The overview</p>
    </DashboardTabs>
  );
  events.forEach(apply);
  const shown = render(tabs());
  return {
    ...shown,
    tell(...more: RunEvent[]) {
      more.forEach(apply);
      shown.rerender(tabs());
    }
  };
}

/** Mocks of what jsdom lacks: elements get a size, there is no canvas and no plot. */
export function pretendLayout(): void {
  globalThis.ResizeObserver = class {
    observe() {}
    unobserve() {}
    disconnect() {}
  };
  for (const name of ['clientWidth', 'clientHeight']) {
    Object.defineProperty(Element.prototype, name, {
      configurable: true,
      get: () => 300
    });
  }
  HTMLCanvasElement.prototype.getContext = () => null;
  Element.prototype.scrollTo = () => undefined;
}
