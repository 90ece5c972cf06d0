// Alerts of a run, the oldest first.

import type { AlertEvent, RunEvent } from './source';
import { text } from './bounds';
import type { Reducer } from './reducer';

const KEPT = 500;
/** Maximum number of values in a message. */
const VALUES = 9;

export class Alerts implements Reducer<readonly AlertEvent[]> {
  apply(event: RunEvent): void {
    if (event.kind === 'start') {
      const step = event.step ?? 0;
      this._alerts = this._alerts.filter(alert => alert.step <= step);
    } else if (event.kind === 'alert') {
      const alert: AlertEvent = {
        kind: 'alert',
        time: event.time,
        step: event.step,
        alert: event.alert,
        level: event.level ?? 'warning',
        message: text(event.message),
        ...(event.template && {
          template: text(event.template),
          values: (event.values ?? [])
            .slice(0, VALUES)
            .map(value => text(value))
        })
      };
      this._alerts = [...this._alerts, alert].slice(-KEPT);
    }
  }

  view(): readonly AlertEvent[] {
    return this._alerts;
  }

  private _alerts: readonly AlertEvent[] = [];
}
