// Curves of the compared runs, one chart for each metric.

import { useId, useMemo, useState } from 'react';
import { SMOOTHINGS, type Smoothing } from '../store/smoothing';
import type { Translator } from '../../ui/translator';
import { look, type Look } from './line-styles';
import type { Across } from './curves';
import { Legend } from './Legend';
import { Menu, MenuChoice } from '../../ui/Menu';
import { OverlayChart } from './OverlayChart';
import {
  groupLines,
  runLines,
  type OverlayLine,
  type OverlaySettings,
  type Part
} from './overlay-data';
import { figureNames } from './settings';
import { title, type Brief, type RunsSource } from './runs-source';
import { useCurves } from './useCurves';

/** Number of charts before the person chooses. */
const FIRST = 2;

interface OverlayProps {
  source: RunsSource;
  runs: readonly Brief[];
  looks: ReadonlyMap<string, Look>;
  hovered: string | null;
  onHover: (path: string | null) => void;
  /** Group of a run in the table; the runs of a group may be drawn as their mean. */
  groupOf: ((run: Brief) => string) | null;
  trans: Translator;
}

export function Overlay(props: OverlayProps): JSX.Element {
  const { source, runs, groupOf, hovered, onHover, trans } = props;
  const [settings, setSettings] = useState<OverlaySettings>({
    across: 'step',
    part: 'both',
    smoothing: 'normal',
    isLog: false
  });
  const [chosen, setChosen] = useState<readonly string[] | null>(null);
  const [wantsMeans, setMeans] = useState(true);
  const syncKey = useId();
  const paths = runs.map(run => run.path);
  const curves = useCurves(source, paths);

  const figures = useMemo(() => plainFigures(runs), [runs]);
  const shown = (chosen ?? figures.slice(0, FIRST)).filter(name => figures.includes(name)); // prettier-ignore
  const groups =
    groupOf && wantsMeans
      ? new Map(runs.map(run => [run.path, groupOf(run)]))
      : null;
  const { looks, names } = owners(runs, groups, props.looks);
  // render again for new data or other choices only, not for each move of the pointer
  const charts = useMemo(
    () =>
      shown.map((name): readonly [string, OverlayLine[]] => {
        const lines = runLines(curves, paths, name, settings);
        return [name, groups ? groupLines(lines, groups) : lines];
      }),
    [curves, settings, shown.join(), paths.join('\n'), groups && [...groups].join('\n')] // prettier-ignore
  );

  return (
    <div className="labdl-overlay">
      <div className="labdl-compare-bar">
        <Menu label={trans.__('Metrics')} count={shown.length}>
          {figures.map(name => (
            <MenuChoice
              key={name}
              label={name}
              isChosen={shown.includes(name)}
              onToggle={() =>
                setChosen(
                  figures.filter(f => shown.includes(f) !== (f === name))
                )
              }
            />
          ))}
        </Menu>
        <Choice<Part>
          label={trans.__('Data')}
          value={settings.part}
          onChange={part => setSettings({ ...settings, part })}
          options={[
            ['both', trans.__('training and validation')],
            ['train', trans.__('training')],
            ['validation', trans.__('validation')]
          ]}
        />
        <Choice<Across>
          label={trans.__('X axis')}
          value={settings.across}
          onChange={across => setSettings({ ...settings, across })}
          options={[
            ['step', trans.__('steps')],
            ['epoch', trans.__('epochs')],
            ['time', trans.__('seconds')]
          ]}
        />
        <Choice<Smoothing>
          label={trans.__('Smoothing')}
          value={settings.smoothing}
          onChange={smoothing => setSettings({ ...settings, smoothing })}
          options={SMOOTHINGS.map(level => [
            level,
            smoothingWord(level, trans)
          ])}
        />
        <label>
          <input
            type="checkbox"
            checked={settings.isLog}
            onChange={() =>
              setSettings({ ...settings, isLog: !settings.isLog })
            }
          />{' '}
          {trans.__('Logarithmic axis')}
        </label>
        {groupOf && (
          <label>
            <input
              type="checkbox"
              checked={wantsMeans}
              onChange={() => setMeans(!wantsMeans)}
            />{' '}
            {trans.__('Mean and range per group')}
          </label>
        )}
      </div>
      <Legend
        note={
          settings.part === 'both'
            ? trans.__('Thick lines: validation data')
            : null
        }
        looks={looks}
        names={names}
        hovered={hovered}
        onHover={onHover}
        trans={trans}
      />
      <div className="labdl-overlay-charts">
        {charts.map(([name, lines]) => (
          <OverlayChart
            key={name}
            figure={name}
            lines={lines}
            settings={settings}
            looks={looks}
            names={names}
            hovered={hovered !== null && looks.has(hovered) ? hovered : null}
            onHover={onHover}
            syncKey={syncKey}
            trans={trans}
          />
        ))}
      </div>
    </div>
  );
}

/** Metrics without those of the validation data, which are drawn in the same charts. */
function plainFigures(runs: readonly Brief[]): string[] {
  return [...new Set(figureNames(runs).map(name => name.replace(/^val_/, '')))];
}

function owners(
  runs: readonly Brief[],
  groups: ReadonlyMap<string, string> | null,
  looks: ReadonlyMap<string, Look>
): { looks: ReadonlyMap<string, Look>; names: ReadonlyMap<string, string> } {
  if (!groups) {
    return { looks, names: new Map(runs.map(run => [run.path, title(run)])) };
  }
  const found = [...new Set(groups.values())];
  return {
    looks: new Map(found.map((name, i) => [name, look(i)])),
    names: new Map(found.map(name => [name, name]))
  };
}

function smoothingWord(level: Smoothing, trans: Translator): string {
  return {
    none: trans.__('none'),
    less: trans.__('less'),
    normal: trans.__('normal'),
    more: trans.__('more')
  }[level];
}

interface ChoiceProps<T extends string> {
  label: string;
  value: T;
  onChange: (value: T) => void;
  options: readonly (readonly [T, string])[];
}

function Choice<T extends string>(props: ChoiceProps<T>): JSX.Element {
  return (
    <label>
      {props.label}{' '}
      <select
        value={props.value}
        onChange={event => props.onChange(event.target.value as T)}
      >
        {props.options.map(([value, word]) => (
          <option key={value} value={value}>
            {word}
          </option>
        ))}
      </select>
    </label>
  );
}
