// A race: the same graph, weights and order of the data on several backends, side by side and live.

import { useId, useMemo, useState } from 'react';
import type { Translator } from '../../ui/translator';
import { OverlayChart } from './OverlayChart';
import { runLines, type OverlaySettings } from './overlay-data';
import {
  costOf,
  differenceLines,
  largest,
  raceLooks,
  raceName,
  sortByBackend
} from './race';
import { RaceTable } from './RaceTable';
import type { Runs, RunsSource } from './runs-source';
import { useCurves } from './useCurves';

export interface RaceViewProps {
  source: RunsSource;
  runs: Runs;
  hovered: string | null;
  onHover: (path: string | null) => void;
  trans: Translator;
}

const FIGURE = 'loss';
const BY_STEP: OverlaySettings = {
  across: 'step',
  part: 'train',
  smoothing: 'none',
  isLog: false
};
const DIFFERENCE: OverlaySettings = { ...BY_STEP, isLog: true };

export function RaceView(props: RaceViewProps): JSX.Element {
  const { source, hovered, onHover, trans } = props;
  const runs = useMemo(() => sortByBackend(props.runs.runs), [props.runs]);
  const paths = runs.map(run => run.path);
  const curves = useCurves(source, paths);
  const [chosen, setReference] = useState<string | null>(null);
  const reference = paths.find(path => path === chosen) ?? paths[0];
  const syncKey = useId();
  const looks = useMemo(() => raceLooks(runs), [runs]);
  const names = new Map(runs.map(run => [run.path, raceName(run)]));
  const losses = useMemo(
    () => runLines(curves, paths, FIGURE, BY_STEP),
    [curves, paths.join('\n')]
  );
  const differences = useMemo(
    () => differenceLines(curves, runs, reference, FIGURE),
    [curves, runs, reference]
  );
  const far = new Map(
    paths.map(path => [
      path,
      largest(differences.find(line => line.owner === path))
    ])
  );
  const isSame = [...far.values()].every(
    value => value === null || value === 0
  );
  const chart = { looks, names, hovered, onHover, syncKey, trans };

  return (
    <div className="labdl-race">
      <RaceTable
        runs={runs}
        names={names}
        looks={looks}
        costs={new Map(paths.map(path => [path, costOf(curves.get(path))]))}
        far={far}
        reference={reference}
        source={source}
        hovered={hovered}
        onHover={onHover}
        trans={trans}
      />
      <div className="labdl-overlay-charts">
        <OverlayChart
          figure={FIGURE}
          lines={losses}
          settings={BY_STEP}
          {...chart}
        />
        <div>
          <label className="labdl-race-reference">
            {trans.__('Loss difference to')}{' '}
            <select
              value={reference}
              onChange={event => setReference(event.target.value)}
            >
              {runs.map(run => (
                <option key={run.path} value={run.path}>
                  {raceName(run)}
                </option>
              ))}
            </select>
          </label>
          {differences.length > 0 && isSame ? (
            <p className="labdl-runs-quiet">
              {trans.__('The losses are bit-equal at every step so far.')}
            </p>
          ) : (
            <OverlayChart
              figure={trans.__('loss difference')}
              lines={differences}
              settings={DIFFERENCE}
              {...chart}
            />
          )}
        </div>
      </div>
    </div>
  );
}
