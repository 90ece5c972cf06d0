// Alerts of a run, latest first, with suggestions.

import { formatCount, formatTime } from '../../ui/number-format';
import type { AlertEvent, AlertKind } from '../store/source';
import type { Translator } from '../../ui/translator';
import type { TabProps } from '.';
import { EmptyState } from '../../ui/EmptyState';

export function AlertsTab({ view, trans, onStep }: TabProps): JSX.Element {
  const { alerts } = view;
  if (!alerts.length) {
    return (
      <EmptyState>
        {trans.__(
          'No alerts. Alerts appear here for values that are not finite, for a loss that diverges, overfits or stops improving, and when training waits for data.'
        )}
      </EmptyState>
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
            <span>{trans.__('step %1', formatCount(alert.step))}</span>
            <time dateTime={isoTime(alert.time)}>{formatTime(alert.time)}</time>
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

/** Name of an alert's kind; unknown kinds have the name in the file. */
export function alertWord(
  alert: AlertKind | null | undefined,
  trans: Translator
): string {
  const words: Partial<Record<string, string>> = {
    not_finite: trans.__('Not finite'),
    divergence: trans.__('Divergence'),
    overfitting: trans.__('Overfitting'),
    plateau: trans.__('Plateau'),
    starvation: trans.__('Waiting for data')
  };
  return words[alert ?? ''] ?? trans.__('Alert');
}

/** ISO time; empty for an invalid one. */
export function isoTime(time: number): string {
  const date = new Date(time * 1000);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString();
}
