// Status bar: size of the model, problems and state of the check.
import { useSyncExternalStore } from 'react';

import { formatBytes, formatShortCount } from '../ui/number-format';
import { EditorActions } from './commands/actions';
import { labelWithKeys } from './commands/key-bindings';
import { CheckState, Figure } from './model/check-store';
import { useEditorContext } from './context';
import { fullCount } from './model/shape-format';
import { Icon } from '../ui/Icon';
import { Costs } from './model/graph-data';
import { Prediction } from './samples/Prediction';

export interface StatusBarProps {
  nodes: number;
  notice: string;
  actions: EditorActions;
}

export function StatusBar({ nodes, notice, actions }: StatusBarProps) {
  const { checks, shortcuts, trans } = useEditorContext();
  const state = useSyncExternalStore(checks.subscribe, checks.state);
  const { total } = state;
  return (
    <div
      className="labdl-status"
      role="group"
      aria-label={trans.__('Model status')}
    >
      <span className="labdl-status-nodes">
        {trans._n('%1 layer', '%1 layers', nodes)}
      </span>
      {total && <Totals total={total} />}
      <Problems state={state} actions={actions} />
      <Prediction />
      <span className="labdl-status-notice" role="status">
        {notice}
      </span>
      <Phase state={state} actions={actions} />
      <button
        type="button"
        className="labdl-status-keys"
        title={labelWithKeys(
          trans.__('Show the keys of the canvas'),
          'show-shortcuts',
          shortcuts
        )}
        aria-label={trans.__('Show the keys of the canvas')}
        onClick={actions.showShortcuts}
      >
        ?
      </button>
    </div>
  );
}

/** Costs of the model; a click on one shows it on every layer. */
function Totals({ total }: { total: Costs }) {
  const { checks, trans } = useEditorContext();
  const shown = useSyncExternalStore(checks.subscribe, checks.figure);
  const figures: [Figure, string, string][] = [
    [
      'parameters',
      trans._n(
        '%2 parameter',
        '%2 parameters',
        total.parameters,
        fullCount(total.parameters)
      ),
      trans.__('Show the parameters of each layer')
    ],
    [
      'operations',
      trans.__('%1 FLOPs', formatShortCount(total.operations)),
      trans.__(
        'Show the floating-point operations of each layer for one sample'
      )
    ],
    [
      'memory',
      formatBytes(total.memory),
      trans.__('Show the training memory of each layer for one sample')
    ]
  ];
  return figures.map(([figure, text, title]) => (
    <button
      key={figure}
      type="button"
      className={`labdl-status-figure labdl-status-${figure}`}
      title={title}
      aria-pressed={shown === figure}
      onClick={() => checks.showFigure(figure)}
    >
      {text}
    </button>
  ));
}

interface PartProps {
  state: CheckState;
  actions: EditorActions;
}

function Problems({ state, actions }: PartProps) {
  const { trans } = useEditorContext();
  const { problems } = state;
  if (state.total === null) {
    return null;
  }
  if (problems.length === 0) {
    return (
      <span className="labdl-status-problems">{trans.__('No problems')}</span>
    );
  }
  const places = problems.flatMap(problem => problem.node ?? []);
  const next = () => {
    const [current] = actions.selectedNodes();
    const at = places.indexOf(current);
    actions.selectNodes([places[(at + 1) % places.length]]);
  };
  return (
    <button
      type="button"
      className="labdl-status-problems labdl-mod-problem"
      title={trans.__('Go to the next problem')}
      disabled={places.length === 0}
      onClick={next}
    >
      <Icon name="warning" />
      {trans._n('%1 problem', '%1 problems', problems.length)}
    </button>
  );
}

function Phase({ state, actions }: PartProps) {
  const { trans } = useEditorContext();
  if (state.phase === 'failed') {
    return (
      <span className="labdl-status-phase labdl-mod-problem" role="alert">
        <span className="labdl-status-failure" title={state.message}>
          {trans.__('The model could not be checked: %1', state.message)}
        </span>
        <button type="button" onClick={actions.check}>
          {trans.__('Try again')}
        </button>
      </span>
    );
  }
  const isChecking = state.phase === 'checking';
  return (
    <span
      className="labdl-status-phase"
      data-phase={state.phase}
      aria-hidden="true"
    >
      {isChecking && trans.__('Checking…')}
    </span>
  );
}
