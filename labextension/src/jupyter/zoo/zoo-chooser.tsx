// Dialog with the list of zoo models: search, and details of the selected one.

import { ReactWidget } from '@jupyterlab/ui-components';
import * as React from 'react';

import { fullCount } from '../../editor';
import type { Translator } from '../../editor';
import { byTask, matching, ZooModel, ZooSettings } from './zoo-models';
import { ZooSettingsForm } from './zoo-settings';

export interface ZooChoice {
  model: ZooModel;
  settings: ZooSettings;
}

/** Body of the dialog; its value is the chosen model. */
export class ZooChooser extends ReactWidget {
  constructor(
    private readonly models: ZooModel[],
    private readonly trans: Translator,
    /** Opens the model that was double-clicked. */
    private readonly onOpen: () => void
  ) {
    super();
    this.addClass('labdl-ZooChooser');
  }

  getValue(): ZooChoice | null {
    return this._choice;
  }

  render(): React.JSX.Element {
    return (
      <Chooser
        models={this.models}
        trans={this.trans}
        onChange={this._setChoice}
        onOpen={this.onOpen}
      />
    );
  }

  private readonly _setChoice = (choice: ZooChoice | null): void => {
    this._choice = choice;
    // The dialog validates its fields before React has handled the input: make it validate again.
    this.node.dispatchEvent(new Event('input', { bubbles: true }));
  };

  private _choice: ZooChoice | null = null;
}

interface ChooserProps {
  models: ZooModel[];
  trans: Translator;
  onChange: (choice: ZooChoice | null) => void;
  onOpen: () => void;
}

function Chooser({ models, trans, onChange, onOpen }: ChooserProps) {
  const [query, setQuery] = React.useState('');
  const [name, setName] = React.useState('');
  const [settings, setSettings] = React.useState<ZooSettings | null>({});
  const id = React.useId();
  const list = React.useRef<HTMLUListElement>(null);

  const shown = React.useMemo(() => matching(models, query), [models, query]);
  const active = Math.max(
    0,
    shown.findIndex(model => model.name === name)
  );
  const model = shown[active] as ZooModel | undefined;
  const noMatch = trans.__('No model matches “%1”.', query.trim());
  const optionId = (at: number) => `${id}option-${at}`;

  React.useEffect(
    () => onChange(model && settings ? { model, settings } : null),
    [model, settings, onChange]
  );
  React.useEffect(() => {
    list.current
      ?.querySelector('[aria-selected=true]')
      ?.scrollIntoView?.({ block: 'nearest' });
  }, [model]);

  const keyDown = (event: React.KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && shown.length) {
      setName(shown[(active + step + shown.length) % shown.length].name);
      event.preventDefault();
    }
  };

  let at = -1;
  return (
    <>
      <div className="labdl-ZooChooser-list">
        <input
          ref={input => input?.setCustomValidity(model ? '' : noMatch)}
          className={`jp-mod-styled ${model ? '' : 'jp-mod-error'}`}
          type="text"
          role="combobox"
          autoFocus
          autoComplete="off"
          spellCheck={false}
          value={query}
          placeholder={trans.__('Search models')}
          aria-label={trans.__('Search models')}
          aria-autocomplete="list"
          aria-expanded={shown.length > 0}
          aria-controls={`${id}list`}
          aria-activedescendant={model && optionId(active)}
          onChange={event => {
            setQuery(event.target.value);
            setName('');
          }}
          onKeyDown={keyDown}
        />
        <ul
          ref={list}
          id={`${id}list`}
          role="listbox"
          aria-label={trans.__('Models of the zoo')}
        >
          {byTask(shown).map(([task, inside]) => (
            <li key={task} role="presentation">
              <span id={`${id}${task}`} className="labdl-ZooChooser-task">
                {task}
              </span>
              <ul role="group" aria-labelledby={`${id}${task}`}>
                {inside.map(each => {
                  at += 1;
                  return (
                    <li
                      key={each.name}
                      id={optionId(at)}
                      role="option"
                      aria-selected={each === model}
                      title={each.summary}
                      // keeps the focus in the search field
                      onMouseDown={event => event.preventDefault()}
                      onClick={() => setName(each.name)}
                      onDoubleClick={onOpen}
                    >
                      {each.name}
                    </li>
                  );
                })}
              </ul>
            </li>
          ))}
        </ul>
        {!model && <p role="status">{noMatch}</p>}
      </div>
      <div className="labdl-ZooChooser-about" aria-live="polite">
        {model && (
          <>
            <h3>{model.name}</h3>
            <p>{model.summary}</p>
            <dl>
              <dt>{trans.__('Parameters')}</dt>
              <dd>{fullCount(model.parameters)}</dd>
              <dt>{trans.__('Paper')}</dt>
              <dd>
                <a href={model.paper} target="_blank" rel="noreferrer">
                  {model.paper.replace(/^https:\/\//, '')}
                </a>
              </dd>
            </dl>
            <ZooSettingsForm
              key={model.name}
              schema={model.schema}
              trans={trans}
              onChange={setSettings}
            />
          </>
        )}
      </div>
    </>
  );
}
