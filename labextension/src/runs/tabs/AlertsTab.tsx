// Alerts of a run, latest first, with suggestions.

import { formatCount, formatTime } from '../../ui/number-format';
import { alertMessage, alertWord, levelWord } from './alert-text';
import type { TabProps } from '.';
import { EmptyState } from '../../ui/EmptyState';

export function AlertsTab({ view, trans, onStep }: TabProps): JSX.Element {
  const { alerts } = view;
  if (!alerts.length) {
    return (
      <EmptyState>
        {trans.__(
          'No alerts. Alerts appear here for values that are not finite, for a loss that diverges, does not fall, stays at the level of chance, overfits or stops improving, and when training waits for data.'
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
          <p dir="auto">{alertMessage(alert, trans)}</p>
        </li>
      ))}
    </ol>
  );
}

/** ISO time; empty for an invalid one. */
export function isoTime(time: number): string {
  const date = new Date(time * 1000);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString();
}
