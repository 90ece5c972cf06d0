// Actions on a run beside its name, visible under pointer or focus.

import type { Translator } from '../../ui/translator';
import type { Cells } from './cells';
import { title, type Brief } from './runs-source';

const ICONS = {
  open: 'M6 3H3v10h10v-3M9 3h4v4M13 3 7 9',
  rename: 'M3 13l.7-2.8L11 3l2 2-7.2 7.3L3 13z',
  remove: 'M3 4.5h10M6.5 4.5V3h3v1.5M4.5 4.5 5 13h6l.5-8.5'
};

interface RunActionsProps {
  run: Brief;
  cells: Cells;
  trans: Translator;
}

export function RunActions({
  run,
  cells,
  trans
}: RunActionsProps): JSX.Element {
  const name = title(run);
  const labels = {
    open: trans.__('Open the dashboard of %1', name),
    rename: trans.__('Rename %1', name),
    remove: trans.__('Delete %1', name)
  };
  return (
    <span className="labdl-runs-actions">
      {(['open', 'rename', 'remove'] as const).map(action => {
        const act = cells[action];
        return (
          act && (
            <button
              key={action}
              type="button"
              tabIndex={-1}
              title={
                action === 'remove' && run.alive
                  ? trans.__('Stop the run before deleting it')
                  : labels[action]
              }
              aria-label={labels[action]}
              disabled={action === 'remove' && run.alive}
              onClick={() => act(run)}
            >
              <svg viewBox="0 0 16 16" aria-hidden="true">
                <path d={ICONS[action]} />
              </svg>
            </button>
          )
        );
      })}
    </span>
  );
}
