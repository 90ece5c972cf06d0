// Reducers behind the tabs of a run.

import { Alerts } from './alerts';
import { Facts } from './run-info';
import { Histograms } from './histograms';
import { Layers } from './layers';
import { Log } from './log';
import type { Reducer } from './reducer';
import type { SystemMoment } from './system';
import { Texts } from './texts';
import { Validation } from './validation';

export type { Reducer } from './reducer';

/** New reducers of the tabs; the state of a run has them in addition to those of the overview. */
export function tabParts() {
  return {
    layers: new Layers(),
    histograms: new Histograms(),
    validation: new Validation(),
    texts: new Texts(),
    alerts: new Alerts(),
    log: new Log(),
    facts: new Facts()
  };
}

type TabParts = ReturnType<typeof tabParts>;

/** Views of these reducers by name. The overview shares the moments of the system. */
export type TabViews = {
  readonly [name in keyof TabParts]: TabParts[name] extends Reducer<infer View>
    ? View
    : never;
} & { readonly system: readonly SystemMoment[] };
