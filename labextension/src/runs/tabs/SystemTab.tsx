// Load of the computer during training, and its description.

import { useMemo } from 'react';
import {
  formatCount,
  formatDuration,
  formatSignificant,
  formatBytes
} from '../../ui/number-format';
import { text } from '../store/bounds';
import type { SystemMoment } from '../store/system';
import type { Environment, StartEvent } from '../store/source';
import type { Translator } from '../../ui/translator';
import type { XAxis } from '../charts/x-axis';
import type { TabProps } from '.';
import { EmptyState } from '../../ui/EmptyState';
import { NameValueList, type NameValue } from '../../ui/NameValueList';
import { LineChart, useChartView, type Line } from './LineChart';

/** Axis of seconds since the start. */
const SECONDS: XAxis = {
  name: 'time',
  of: seconds => seconds,
  stepAt: seconds => seconds,
  tick: formatDuration
};

export function SystemTab({ view, trans }: TabProps): JSX.Element {
  const { system: moments, facts } = view;
  const environment = facts.start?.environment ?? {};
  const known = machine(environment, facts.start, trans);
  const charted = useChartView(SECONDS);
  const began = facts.start?.time ?? moments[0]?.time ?? 0;
  const x = useMemo(
    () => moments.map(({ time }) => Math.max(0, time - began)),
    [moments, began]
  );
  const charts = useMemo(
    () => (moments.length ? drawings(moments, environment, trans) : []),
    [moments, trans]
  );
  if (!moments.length && !known.length) {
    return (
      <EmptyState>
        {trans.__(
          'Processor, memory and GPUs appear here a few seconds after the run starts.'
        )}
      </EmptyState>
    );
  }
  return (
    <div className="labdl-system">
      {moments.length ? (
        <div className="labdl-line-charts">
          {charts.map(({ title, hint, lines, write, range }) => (
            <LineChart
              key={title}
              title={title}
              hint={hint}
              x={x}
              lines={lines}
              range={range}
              view={charted}
              write={write}
              writeX={formatDuration}
              trans={trans}
            />
          ))}
        </div>
      ) : (
        <p className="labdl-tab-note">
          {trans.__(
            'This run has no measurements: they start a few seconds after the run.'
          )}
        </p>
      )}
      {known.length > 0 && (
        <NameValueList title={trans.__('Environment')} facts={known} />
      )}
    </div>
  );
}

interface Drawing {
  readonly title: string;
  readonly hint?: string;
  readonly lines: readonly Line[];
  readonly write: (value: number) => string;
  readonly range?: readonly [number, number];
}

function drawings(
  moments: readonly SystemMoment[],
  environment: Environment,
  trans: Translator
): Drawing[] {
  const percent = (value: number) => `${formatSignificant(value)} %`;
  const { cores } = environment;
  const column = (of: (moment: SystemMoment) => number | null | undefined) =>
    moments.map(moment => of(moment) ?? null);
  const gpus = Math.max(...moments.map(moment => moment.gpus.length));
  return [
    {
      title: trans.__('Processor'),
      hint: trans.__('Percent of all cores'),
      lines: [
        {
          name: trans.__('this run'),
          // recorded in percent of one core
          values: column(({ cpu }) =>
            cpu !== null && cores ? cpu / cores : cpu
          )
        },
        {
          name: trans.__('computer'),
          values: column(({ cpuTotal }) => cpuTotal)
        }
      ],
      write: percent,
      range: [0, 100]
    },
    {
      title: trans.__('Memory'),
      lines: [
        { name: trans.__('this run'), values: column(({ memory }) => memory) },
        {
          name: trans.__('computer'),
          values: column(({ memoryUsed }) => memoryUsed)
        }
      ],
      write: formatBytes,
      range: [0, environment.memory ?? 0]
    },
    ...Array.from({ length: gpus }, (_, gpu): Drawing[] => [
      {
        title: trans.__('GPU %1', gpu),
        lines: [
          { name: trans.__('use'), values: column(m => m.gpus[gpu]?.use) }
        ],
        write: percent,
        range: [0, 100]
      },
      {
        title: trans.__('Memory of GPU %1', gpu),
        lines: [
          {
            name: trans.__('this run'),
            values: column(m => m.gpus[gpu]?.memory)
          },
          {
            name: trans.__('all'),
            values: column(m => m.gpus[gpu]?.memoryUsed)
          }
        ],
        write: formatBytes,
        range: [0, environment.gpus?.[gpu]?.memory ?? 0]
      }
    ]).flat()
  ];
}

function machine(
  environment: Environment,
  start: StartEvent | null,
  trans: Translator
): NameValue[] {
  const { memory, cores, gpus } = environment;
  const framework = [start?.backend, environment.framework]
    .filter(Boolean)
    .join(' ');
  const known: [string, unknown][] = [
    [trans.__('Computer'), start?.host],
    [trans.__('Platform'), environment.platform],
    [trans.__('Processor'), environment.processor],
    [trans.__('Cores'), cores && formatCount(cores)],
    [trans.__('Memory'), memory && formatBytes(memory)],
    ...(gpus ?? [])
      .slice(0, 16)
      .map(({ name, memory: size }, index): [string, unknown] => [
        trans.__('GPU %1', index),
        size ? `${text(name, 200)}, ${formatBytes(size)}` : name
      ]),
    ['Python', environment.python],
    ['LabDL', environment.labdl],
    [trans.__('Framework'), framework],
    ['NumPy', environment.numpy]
  ];
  return known.flatMap(([name, value]) =>
    value === undefined || value === null || value === ''
      ? []
      : [{ name, value: text(value) }]
  );
}
