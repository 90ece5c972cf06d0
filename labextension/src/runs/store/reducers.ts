// The parts of a run that its tabs show.

import { Alerts } from './alerts';
import { Facts } from './run-info';
import { Histograms } from './histograms';
import { Layers } from './layers';
import { Log } from './log';
import type { Reducer } from './reducer';
import type { SystemMoment } from './system';
import { Validation } from './validation';

export type { Reducer } from './reducer';

/** A new set of parts; the state of a run has one, beside those of the view at a glance. */
export function tabParts() {
  return {
    layers: new Layers(),
    histograms: new Histograms(),
    validation: new Validation(),
    alerts: new Alerts(),
    log: new Log(),
    facts: new Facts()
  };
}

type TabParts = ReturnType<typeof tabParts>;

/** What each of them shows, by its name; they share the moments of the system with the view at a glance. */
export type TabViews = {
  readonly [name in keyof TabParts]: TabParts[name] extends Reducer<infer View>
    ? View
    : never;
} & { readonly system: readonly SystemMoment[] };
