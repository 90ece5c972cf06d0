// Tab of the layers: a table of all, and one of them over time.

import { useMemo, useState } from 'react';
import { formatCount } from '../../ui/number-format';
import type { TabProps } from '.';
import { EmptyState } from '../../ui/EmptyState';
import { sortRows, layerRows, type Sorting } from './layer-rows';
import { LayerDetails } from './LayerDetails';
import { LayerTable } from './LayerTable';

export function LayersTab({ view, trans, onShow }: TabProps): JSX.Element {
  const { layers: moments, histograms } = view;
  const [chosen, setChosen] = useState<string | null>(null);
  const [filter, setFilter] = useState('');
  const [sorting, setSorting] = useState<Sorting>({
    by: 'model',
    isDown: false
  });
  const last = moments[moments.length - 1];
  const spread = histograms[histograms.length - 1];
  const rows = useMemo(() => layerRows(last, spread?.layers), [last, spread]);
  const shown = useMemo(
    () => sortRows(rows, last, filter, sorting),
    [rows, last, filter, sorting]
  );
  if (!rows.length) {
    return (
      <EmptyState>
        {trans.__(
          'Gradients, weights and outputs of the layers appear here during the run. They are measured at intervals, so that measuring takes less than 1 % of the time.'
        )}
      </EmptyState>
    );
  }
  const layer = rows.some(({ name }) => name === chosen)
    ? chosen
    : rows[0].name;
  const shownRow = rows.find(({ name }) => name === layer);
  return (
    <div className="labdl-layers">
      <div className="labdl-layers-list">
        <div className="labdl-tab-tools">
          <input
            type="search"
            value={filter}
            placeholder={trans.__('Filter by name')}
            aria-label={trans.__('Filter the layers by name')}
            onChange={event => setFilter(event.target.value)}
          />
          {last && (
            <span className="labdl-tab-note">
              {trans._n(
                'After step %2, for %1 sample',
                'After step %2, for %1 samples',
                last.samples,
                formatCount(last.step)
              )}
            </span>
          )}
        </div>
        <LayerTable
          rows={shown}
          moments={moments}
          chosen={layer}
          choose={setChosen}
          sorting={sorting}
          sort={setSorting}
          trans={trans}
        />
      </div>
      {layer !== null && (
        <LayerDetails
          key={layer}
          name={layer}
          label={shownRow?.label ?? layer}
          state={shownRow?.state ?? null}
          moments={moments}
          histograms={histograms}
          trans={trans}
          onShow={onShow}
        />
      )}
    </div>
  );
}
