// Labeled fields of the Train panel's form: menu, text field and switch.

import * as React from 'react';

export function Choice(props: {
  label: string;
  value: string;
  title?: string;
  disabled?: boolean;
  onChange?: (value: string) => void;
  children: React.ReactNode;
}): React.JSX.Element {
  return (
    <label className="labdl-TrainForm-field" title={props.title}>
      <span>{props.label}</span>
      <select
        value={props.value}
        disabled={props.disabled}
        onChange={event => props.onChange?.(event.target.value)}
      >
        {props.children}
      </select>
    </label>
  );
}

export function Entry(props: {
  label: string;
  value: string;
  placeholder?: string;
  isWrong?: boolean;
  onChange: (value: string) => void;
}): React.JSX.Element {
  return (
    <label className="labdl-TrainForm-field">
      <span>{props.label}</span>
      <input
        type="text"
        inputMode="decimal"
        autoComplete="off"
        spellCheck={false}
        placeholder={props.placeholder}
        value={props.value}
        aria-invalid={props.isWrong === true}
        onChange={event => props.onChange(event.target.value)}
      />
    </label>
  );
}

export function Switch(props: {
  label: string;
  checked: boolean;
  title?: string;
  onChange: (checked: boolean) => void;
}): React.JSX.Element {
  return (
    <label className="labdl-TrainForm-switch" title={props.title}>
      <input
        type="checkbox"
        checked={props.checked}
        onChange={event => props.onChange(event.target.checked)}
      />
      <span>{props.label}</span>
    </label>
  );
}

/** Options in groups: those that match data and model first. */
export function Groups<T extends { name: string }>(props: {
  fitting: T[];
  others: T[];
  fittingLabel: string;
  othersLabel: string;
  /** Label of an option; its name by default. */
  text?: (offer: T) => string;
}): React.JSX.Element {
  const options = (offers: T[]) =>
    offers.map(offer => (
      <option key={offer.name} value={offer.name}>
        {props.text?.(offer) ?? offer.name}
      </option>
    ));
  return props.fitting.length && props.others.length ? (
    <>
      <optgroup label={props.fittingLabel}>{options(props.fitting)}</optgroup>
      <optgroup label={props.othersLabel}>{options(props.others)}</optgroup>
    </>
  ) : (
    <>{options([...props.fitting, ...props.others])}</>
  );
}
