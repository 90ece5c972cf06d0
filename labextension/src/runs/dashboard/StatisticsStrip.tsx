// Strip of numbers: health of the layers and load of the machine.

import {
  formatSignificant,
  formatPercent,
  formatBytes
} from '../../ui/number-format';
import { stateText, stateLabel } from './health-text';
import type { HealthState } from '../store/health-figures';
import type { Vital, VitalName } from '../store/health';
import type { SystemMoment } from '../store/system';
import { Sparkline } from '../charts/Sparkline';
import type { RunView } from '../store/store';
import type { Translator } from '../../ui/translator';

const SPARKS = 40;

interface Tile {
  readonly id: string;
  readonly name: string;
  readonly value: string;
  readonly hint: string;
  readonly values: readonly number[];
  readonly isLogarithmic?: boolean;
  readonly state?: HealthState;
}

export function StatisticsStrip({
  run,
  trans
}: {
  run: RunView;
  trans: Translator;
}): JSX.Element | null {
  const tiles = [...healthTiles(run, trans), ...machineTiles(run, trans)];
  if (!tiles.length) {
    return null;
  }
  return (
    <dl
      className="labdl-strip"
      aria-label={trans.__('Layer and system statistics')}
    >
      {tiles.map(tile => (
        <div
          key={tile.id}
          className="labdl-tile"
          data-tile={tile.id}
          data-state={tile.state}
          title={tile.hint}
        >
          <dt>{tile.name}</dt>
          <dd>
            <b>{tile.value}</b>
            <State tile={tile} trans={trans} />
          </dd>
          <Sparkline values={tile.values} isLogarithmic={tile.isLogarithmic} />
        </div>
      ))}
    </dl>
  );
}

/** State of the layers in words, for those who cannot distinguish colors; shown once. */
function State({
  tile,
  trans
}: {
  tile: Tile;
  trans: Translator;
}): JSX.Element | null {
  const word =
    tile.state && tile.state !== 'fine' ? stateLabel(tile.state, trans) : null;
  return word !== null && word !== tile.value ? (
    <span className="labdl-tile-state">{word}</span>
  ) : null;
}

function healthTiles({ health }: RunView, trans: Translator): Tile[] {
  if (health.step === null) {
    return [];
  }
  const names: Record<VitalName, [name: string, hint: string]> = {
    gradient: [
      trans.__('Gradient'),
      trans.__(
        'Norm of the gradient of the loss with respect to all parameters'
      )
    ],
    update: [
      trans.__('Update'),
      trans.__('Largest update of a layer relative to its weights')
    ],
    notFinite: [
      trans.__('NaN'),
      trans.__('Infinite or NaN values in all layers')
    ],
    zeros: [
      trans.__('Dead units'),
      trans.__('Largest fraction of zeros in the output of a layer')
    ]
  };
  return health.vitals
    .filter(({ now }) => now !== undefined)
    .map(vital => {
      const [name, hint] = names[vital.name];
      const { state, layer, curve } = vital;
      const about = layer === null ? '' : trans.__('Layer: %1', layer);
      return {
        id: vital.name,
        name,
        value: vitalText(vital, trans),
        hint: [
          hint,
          about,
          state === 'fine' ? '' : stateText(state, trans),
          trans.__('After step %1', health.step)
        ]
          .filter(Boolean)
          .join('\n'),
        values: sparks(curve.y),
        isLogarithmic: vital.name === 'gradient' || vital.name === 'update',
        state
      };
    });
}

function vitalText({ name, now = NaN }: Vital, trans: Translator): string {
  if (!Number.isFinite(now)) {
    return trans.__('not finite');
  }
  return name === 'zeros' || name === 'update'
    ? formatPercent(now)
    : formatSignificant(now);
}

function machineTiles({ system, start }: RunView, trans: Translator): Tile[] {
  const now = system.length ? system[system.length - 1] : null;
  if (!now) {
    return [];
  }
  const { cores, memory, gpus } = start?.environment ?? {};
  const percent = (value: number | null) =>
    value === null ? '–' : `${Math.round(value)} %`;
  const size = (value: number | null) =>
    value === null ? '–' : formatBytes(value);
  const column = (of: (moment: SystemMoment) => number | null | undefined) =>
    sparks(system.map(moment => of(moment) ?? NaN));
  // percent of all cores, where their number is known
  const share = (cpu: number | null) =>
    cpu !== null && cores ? cpu / cores : cpu;
  return [
    {
      id: 'cpu',
      name: trans.__('Processor'),
      value: percent(share(now.cpu)),
      hint: trans.__(
        'Processor usage of this run; of all programs: %1',
        percent(now.cpuTotal)
      ),
      values: column(({ cpu }) => cpu)
    },
    {
      id: 'memory',
      name: trans.__('Memory'),
      value: size(now.memory),
      hint: trans.__(
        'Memory of this run; of all programs: %1 of %2',
        size(now.memoryUsed),
        size(memory ?? null)
      ),
      values: column(moment => moment.memory)
    },
    ...now.gpus.slice(0, 4).map((gpu, place) => ({
      id: `gpu-${place}`,
      name: now.gpus.length > 1 ? trans.__('GPU %1', place) : trans.__('GPU'),
      value: `${percent(gpu.use)} ${size(gpu.memory ?? gpu.memoryUsed)}`,
      hint: trans.__(
        '%1: %2 of %3 of memory in use',
        gpus?.[place]?.name ?? trans.__('GPU %1', place),
        size(gpu.memoryUsed),
        size(gpus?.[place]?.memory ?? null)
      ),
      values: column(moment => moment.gpus[place]?.use)
    }))
  ];
}

/** Values of a sparkline: the last one of each of as many equal parts. */
function sparks(values: ArrayLike<number>): number[] {
  const count = Math.min(SPARKS, values.length);
  return Array.from(
    { length: count },
    (_, i) => values[Math.ceil(((i + 1) * values.length) / count) - 1]
  );
}
