// The alerts of a run, the latest first: what was seen, and what may help.

import { count, moment } from '../format';
import type { AlertEvent, AlertKind } from '../source';
import type { Translator } from '../translator';
import type { TabProps } from '.';
import { Empty } from './Empty';

export function AlertsTab({ view, trans, onStep }: TabProps): JSX.Element {
  const { alerts } = view;
  if (!alerts.length) {
    return (
      <Empty>
        {trans.__(
          'No alerts. They appear here when values are not finite, when the loss diverges, rises on the validation data or stands still, and when the training waits for data.'
        )}
      </Empty>
    );
  }
  return (
    <ol className="labdl-alerts" reversed>
      {[...alerts].reverse().map((alert, index) => (
        <li
          key={alerts.length - index}
          className="labdl-alert"
          data-level={alert.level}
          data-alert={alert.alert}
        >
          <div className="labdl-alert-head">
            <span className="labdl-level" data-level={alert.level}>
              {levelWord(alert.level, trans)}
            </span>
            <strong>{alertWord(alert.alert, trans)}</strong>
            <span>{trans.__('step %1', count(alert.step))}</span>
            <time dateTime={isoTime(alert.time)}>{moment(alert.time)}</time>
            {onStep && (
              <button
                type="button"
                className="labdl-dashboard-small"
                onClick={() => onStep(alert.step)}
              >
                {trans.__('Show on the curves')}
              </button>
            )}
          </div>
          <p dir="auto">{alert.message}</p>
        </li>
      ))}
    </ol>
  );
}

export function levelWord(
  level: AlertEvent['level'],
  trans: Translator
): string {
  return level === 'error' ? trans.__('Error') : trans.__('Warning');
}

/** A kind that this page does not know is named as the run names it. */
export function alertWord(alert: AlertKind, trans: Translator): string {
  const words: Partial<Record<string, string>> = {
    not_finite: trans.__('Not finite'),
    divergence: trans.__('Divergence'),
    overfitting: trans.__('Overfitting'),
    plateau: trans.__('Plateau'),
    starvation: trans.__('Waiting for data')
  };
  return words[alert] ?? String(alert);
}

/** Empty for a time that no calendar has. */
export function isoTime(time: number): string {
  const date = new Date(time * 1000);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString();
}
