// Histograms of a layer's values: over time as a heat map, and of one moment as bars.

import { useMemo, useState } from 'react';
import { Histogram } from '../charts/Histogram';
import {
  SPREAD_KINDS,
  type SpreadKind,
  type SpreadMoment
} from '../store/histograms';
import type { Translator } from '../../ui/translator';
import { HeatMap } from './HeatMap';
import { MomentSlider, useMoment } from './MomentSlider';

export interface DistributionsProps {
  name: string;
  moments: readonly SpreadMoment[];
  trans: Translator;
}

export function Distributions({
  name,
  moments,
  trans
}: DistributionsProps): JSX.Element {
  const [wanted, setWanted] = useState<SpreadKind>('weights');
  const kinds = SPREAD_KINDS.filter(kind =>
    moments.some(moment => moment.spreads[kind].has(name))
  );
  const kind = kinds.includes(wanted) ? wanted : kinds[0];
  const columns = useMemo(
    () =>
      moments.flatMap(({ step, spreads }) => {
        const spread = spreads[kind]?.get(name);
        return spread ? [{ step, spread }] : [];
      }),
    [moments, kind, name]
  );
  const { moment, at, choose } = useMoment(columns);
  const words: Record<SpreadKind, string> = {
    weights: trans.__('Weights'),
    gradients: trans.__('Gradients'),
    outputs: trans.__('Outputs')
  };
  if (!moment) {
    return (
      <p className="labdl-tab-note">
        {moments.length
          ? trans.__('There are no histograms of this layer.')
          : trans.__(
              'Histograms of the layer appear here during the run, at most every few seconds.'
            )}
      </p>
    );
  }
  const { low, high, counts } = moment.spread;
  return (
    <div className="labdl-spreads">
      <div className="labdl-tab-tools">
        <h4>{trans.__('Histograms')}</h4>
        <span
          className="labdl-choice"
          role="group"
          aria-label={trans.__('Displayed values')}
        >
          {kinds.map(each => (
            <button
              key={each}
              type="button"
              className="labdl-dashboard-small"
              aria-pressed={each === kind}
              onClick={() => setWanted(each)}
            >
              {words[each]}
            </button>
          ))}
        </span>
      </div>
      <HeatMap
        columns={columns}
        at={at}
        choose={choose}
        name={words[kind]}
        trans={trans}
      />
      <MomentSlider moments={columns} at={at} choose={choose} trans={trans} />
      <Histogram
        data={{ low, high, counts: Array.from(counts) }}
        name={words[kind]}
        trans={trans}
      />
    </div>
  );
}
