// Messages above the curves: failures, end of the run, and other problems.

import type { AlertEvent } from '../store/source';
import { alertMessage, alertWord } from '../tabs/alert-text';
import { formatTime } from '../../ui/number-format';
import { NextStep } from './NextStep';
import { ShowLayerButton } from './ShowLayerButton';
import type { RunView } from '../store/store';
import type { Translator } from '../../ui/translator';

/** Latest version of the events that this code knows. */
const VERSION = 2;

/** Alerts of a training whose result is of no use. */
const SPOILED: ReadonlySet<AlertEvent['alert']> = new Set([
  'not_finite',
  'divergence',
  'no_progress',
  'chance_level'
]);

export interface MessagesProps {
  view: RunView;
  onShow?: (layer: string) => void;
  trans: Translator;
}

export function Messages({ view, onShow, trans }: MessagesProps): JSX.Element {
  const notes: { text: string; isStatus: boolean }[] = [];
  const note = (text: string, isStatus = true) =>
    notes.push({ text, isStatus });
  const version = view.start?.version ?? 1;
  if (version > VERSION) {
    note(
      trans.__(
        'This run was recorded by a newer version of LabDL, so parts of it may be missing here.'
      )
    );
  }
  if (view.status === 'stopped' && view.message) {
    note(view.message, false);
  }
  // the failure of a run has the text of its last alert
  const alert = view.alerts.filter(({ alert }) => SPOILED.has(alert)).pop();
  if (alert && view.status !== 'failed') {
    const word = alertWord(alert.alert, trans);
    note(trans.__('%1: %2', word, alertMessage(alert, trans)));
  }
  if (view.trouble !== null) {
    note(
      view.trouble || trans.__('The run refused the command without a reason.')
    );
  }
  if (view.problem) {
    const { time, message } = view.problem;
    note(trans.__('%1: %2', formatTime(time), message));
  }
  return (
    <>
      {view.isGone && (
        <div className="labdl-dashboard-note" role="status">
          {trans.__(
            'The folder of this run is gone. What is shown here is all that is left of it.'
          )}
        </div>
      )}
      {view.status === 'lost' && !view.isGone && (
        <div className="labdl-dashboard-note" role="status">
          {trans.__('The process of this run no longer exists.')}
          <NextStep view={view} trans={trans} />
        </div>
      )}
      {view.status === 'stopped' && view.checkpoint && !view.isGone && (
        <div className="labdl-dashboard-note" role="status">
          <NextStep view={view} trans={trans} />
        </div>
      )}
      {view.status === 'failed' && (
        <div className="labdl-dashboard-message" role="alert">
          {view.message ?? trans.__('The run failed without a message.')}
          {onShow && view.place?.node && (
            <ShowLayerButton place={view.place} onShow={onShow} trans={trans} />
          )}
          <NextStep view={view} trans={trans} />
        </div>
      )}
      {notes.map(({ text, isStatus }, i) => (
        <p
          key={i}
          className="labdl-dashboard-note"
          role={isStatus ? 'status' : undefined}
        >
          {text}
        </p>
      ))}
    </>
  );
}
