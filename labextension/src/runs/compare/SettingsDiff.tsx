// Settings of the compared runs side by side; identical ones are folded.

import type { Translator } from '../../ui/translator';
import type { Look } from './line-styles';
import { settingsOf, split } from './settings';
import { title, type Brief } from './runs-source';
import { Swatch } from './Swatch';
import { settingLabel } from './run-text';

interface SettingsDiffProps {
  runs: readonly Brief[];
  looks: ReadonlyMap<string, Look>;
  trans: Translator;
}

export function SettingsDiff({
  runs,
  looks,
  trans
}: SettingsDiffProps): JSX.Element {
  const { different, same } = split(runs);
  const facts = [
    [trans.__('Model'), (run: Brief) => run.model],
    [trans.__('Backend'), (run: Brief) => run.backend],
    [
      trans.__('Parameters'),
      (run: Brief) => run.parameters?.toLocaleString() ?? null
    ]
  ] as const;
  const differing = facts.filter(
    ([, value]) => new Set(runs.map(value)).size > 1
  );
  return (
    <div className="labdl-settings-diff">
      {different.length + differing.length === 0 ? (
        <p className="labdl-runs-quiet">
          {runs.length > 1
            ? trans.__('These runs have the same settings.')
            : trans.__('Select at least two runs to compare their settings.')}
        </p>
      ) : (
        <div className="labdl-settings-scroll">
          <table>
            <thead>
              <tr>
                <th scope="col">{trans.__('Setting')}</th>
                {runs.map(run => (
                  <th scope="col" key={run.path} title={title(run)}>
                    <Swatch look={looks.get(run.path)} />
                    <span>{title(run)}</span>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {differing.map(([label, value]) => (
                <Row
                  key={label}
                  label={label}
                  values={runs.map(run => value(run) ?? '–')}
                />
              ))}
              {different.map(name => (
                <Row
                  key={name}
                  label={name}
                  values={runs.map(run =>
                    settingLabel(settingsOf(run).get(name))
                  )}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {same.length > 0 && (
        <details className="labdl-settings-same">
          <summary>
            {trans._n(
              '%1 identical setting',
              '%1 identical settings',
              same.length
            )}
          </summary>
          <dl>
            {same.map(name => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{settingLabel(settingsOf(runs[0]).get(name))}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </div>
  );
}

function Row({
  label,
  values
}: {
  label: string;
  values: readonly string[];
}): JSX.Element {
  return (
    <tr>
      <th scope="row" title={label}>
        {label}
      </th>
      {values.map((value, i) => (
        <td key={i} title={value}>
          {value}
        </td>
      ))}
    </tr>
  );
}
