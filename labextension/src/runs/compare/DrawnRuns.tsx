// Which of the runs are drawn, and how many: by default the best ones.

import type { Translator } from '../../ui/translator';
import { COUNTS, DRAWN, type RunsViewState } from './useRunsView';

const SELECTED = 'selected';

export function DrawnRuns({
  board,
  trans
}: {
  board: RunsViewState;
  trans: Translator;
}): JSX.Element | null {
  const { drawn, inside, count, setCount } = board;
  if (inside.length <= COUNTS[0] && drawn.length === inside.length) {
    return null; // there is nothing to choose
  }
  const counts = COUNTS.filter(
    (_, i) => i === 0 || COUNTS[i - 1] < inside.length
  );
  return (
    <div className="labdl-compare-bar labdl-runs-drawn">
      <span role="status">
        {trans.__('%1 of %2 runs drawn', drawn.length, inside.length)}
      </span>
      <label>
        {trans.__('Draw')}{' '}
        <select
          value={count ?? SELECTED}
          onChange={event => setCount(Number(event.target.value))}
        >
          {counts.map(most => (
            <option key={most} value={most}>
              {trans.__('the first %1 of the table', most)}
            </option>
          ))}
          <option value={SELECTED} disabled={count !== null}>
            {trans.__(
              'the runs that are ticked in the table, at most %1',
              DRAWN
            )}
          </option>
        </select>
      </label>
    </div>
  );
}
