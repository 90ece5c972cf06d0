// Tab of a run's parent, settings and code.

import { formatCount } from '../../ui/number-format';
import { names, text } from '../store/bounds';
import type { RunInfo } from '../store/run-info';
import type { Translator } from '../../ui/translator';
import type { TabProps } from '.';
import { useCode } from './code-files';
import { CopyButton } from '../../ui/CopyButton';
import { EmptyState } from '../../ui/EmptyState';
import { NameValueList, type NameValue } from '../../ui/NameValueList';
import { ERROR_FILE } from './Traceback';

export function SettingsTab({ view, source, trans }: TabProps): JSX.Element {
  const { start } = view.facts;
  const { files, problem } = useCode(source, true);
  if (!start) {
    return (
      <EmptyState>
        {trans.__(
          'The settings, the code and the origin of the run appear here when it starts.'
        )}
      </EmptyState>
    );
  }
  const settings = Object.entries(start.settings ?? {});
  const params = Object.entries(start.params ?? {});
  const code = Object.entries(files ?? {}).filter(
    ([name]) => name !== ERROR_FILE
  );
  return (
    <div className="labdl-settings">
      <NameValueList
        title={trans.__('Run')}
        facts={origin(view.facts, trans)}
      />
      {params.length > 0 && (
        <NameValueList
          title={trans.__('Trial parameters')}
          facts={params.map(fact)}
        />
      )}
      <section className="labdl-tab-section">
        <div className="labdl-tab-tools">
          <h3>{trans.__('Settings')}</h3>
          <CopyButton
            label={trans.__('Copy as JSON')}
            text={() =>
              JSON.stringify({ ...start.settings, ...start.params }, null, 2)
            }
            trans={trans}
          />
        </div>
        {settings.length > 0 ? (
          <NameValueList facts={settings.map(fact)} />
        ) : (
          <p className="labdl-tab-note">
            {trans.__('This run has no recorded settings.')}
          </p>
        )}
      </section>
      <section className="labdl-tab-section">
        <h3>{trans.__('Code')}</h3>
        {code.map(([name, content], index) => (
          <details className="labdl-code-file" key={name} open={index === 0}>
            <summary title={name}>
              <bdi>{name}</bdi>
            </summary>
            <CopyButton
              label={trans.__('Copy')}
              text={() => content}
              trans={trans}
            />
            <pre tabIndex={0}>{content}</pre>
          </details>
        ))}
        {!code.length && (
          <p className="labdl-tab-note">
            {problem
              ? trans.__('The code could not be read: %1', problem)
              : source.code
                ? trans.__(
                    'The folder of this run has no code: runs started with Trainer.start store it under “code”.'
                  )
                : trans.__(
                    'The code is in the run’s folder under “code”. Open the run from the file browser to see it here.'
                  )}
          </p>
        )}
      </section>
    </div>
  );
}

function fact([name, value]: [string, unknown]): NameValue {
  return { name, value: value === null ? '–' : text(value) };
}

function origin({ start, branches }: RunInfo, trans: Translator): NameValue[] {
  const { parent } = start ?? {};
  const known: [string, unknown][] = [
    [trans.__('Run'), start?.id],
    [trans.__('Model'), start?.model],
    [trans.__('Backend'), start?.backend],
    [trans.__('Parameters'), amount(start?.parameters)],
    [trans.__('Loss'), start?.loss],
    [trans.__('Optimizer'), start?.optimizer],
    [trans.__('Metrics'), names(start?.metrics).join(', ')],
    [trans.__('Training samples'), amount(start?.samples)],
    [trans.__('Batch size'), amount(start?.batch_size)],
    [trans.__('Steps per epoch'), amount(start?.steps_per_epoch)],
    [
      trans.__('Branched from'),
      parent &&
        trans.__(
          '%1, after step %2 (%3)',
          text(parent.id),
          formatCount(parent.step ?? 0),
          text(parent.folder)
        )
    ],
    [trans.__('Group'), start?.group],
    [
      trans.__('Branches'),
      branches
        .map(({ id, step }) =>
          trans.__('%1 (step %2)', text(id), formatCount(step))
        )
        .join(', ')
    ]
  ];
  return known.flatMap(([name, value]) =>
    value === undefined || value === null || value === ''
      ? []
      : [{ name, value: text(value) }]
  );
}

function amount(value: unknown): string | null {
  return typeof value === 'number' ? formatCount(value) : null;
}
