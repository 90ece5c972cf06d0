// Metrics of a training: chosen ones as chips, all in a list with checkboxes.

import { caretDownIcon, closeIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import type { Translator } from '../../editor';
import { byKind } from './train-draft';
import type { OfferOfKind, TargetKind } from './training-settings';

export interface MetricsProps {
  offers: OfferOfKind[];
  chosen: string[];
  /** Metrics for this kind of data come first. */
  kind: TargetKind | null | undefined;
  trans: Translator;
  onChange: (chosen: string[]) => void;
}

export function Metrics(props: MetricsProps): React.JSX.Element {
  const { chosen, trans } = props;
  const [isOpen, setOpen] = React.useState(false);
  const place = React.useRef<HTMLDivElement>(null);
  const button = React.useRef<HTMLButtonElement>(null);
  const id = React.useId();

  const set = (name: string, isChosen: boolean) =>
    props.onChange(
      isChosen ? [...chosen, name] : chosen.filter(other => other !== name)
    );
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };

  // the list covers the form, so it closes when the focus leaves it
  const leave = (event: React.FocusEvent) => {
    if (!place.current?.contains(event.relatedTarget)) {
      setOpen(false);
    }
  };

  return (
    <div
      className="labdl-TrainForm-metrics"
      ref={place}
      onBlur={leave}
      onKeyDown={event => {
        if (event.key === 'Escape' && isOpen) {
          event.stopPropagation();
          close();
        }
      }}
    >
      <span id={id}>{trans.__('Metrics')}</span>
      <div className="labdl-Chips" role="group" aria-labelledby={id}>
        {chosen.map(name => (
          <span className="labdl-Chip" key={name}>
            <span title={summaryOf(props.offers, name)}>{name}</span>
            <button
              type="button"
              aria-label={trans.__('Remove %1', name)}
              onClick={() => {
                set(name, false);
                button.current?.focus();
              }}
            >
              <closeIcon.react tag="span" />
            </button>
          </span>
        ))}
        <button
          ref={button}
          type="button"
          className="labdl-Chips-add"
          aria-haspopup="dialog"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {trans.__('Choose…')}
          <caretDownIcon.react tag="span" />
        </button>
      </div>
      {isOpen && <MetricList {...props} set={set} />}
    </div>
  );
}

function MetricList(
  props: MetricsProps & { set: (name: string, isChosen: boolean) => void }
): React.JSX.Element {
  const { chosen, trans, set } = props;
  const list = React.useRef<HTMLDivElement>(null);
  const { fitting, others } = byKind(props.offers, props.kind);
  React.useEffect(() => boxesOf(list.current)[0]?.focus(), []);

  const move = (event: React.KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const boxes = boxesOf(list.current);
    const at = boxes.indexOf(event.target as HTMLInputElement);
    if (step && at >= 0) {
      event.preventDefault();
      boxes[(at + step + boxes.length) % boxes.length].focus();
    }
  };
  const rows = (offers: OfferOfKind[]) =>
    offers.map(({ name, summary }) => (
      <label key={name} title={summary}>
        <input
          type="checkbox"
          checked={chosen.includes(name)}
          onChange={event => set(name, event.target.checked)}
        />
        <span>
          <span>{name}</span>
          <small>{summary}</small>
        </span>
      </label>
    ));
  return (
    <div
      ref={list}
      className="labdl-MetricList"
      role="dialog"
      aria-label={trans.__('Metrics')}
      tabIndex={-1}
      onKeyDown={move}
    >
      {rows(fitting)}
      {fitting.length > 0 && <h4>{trans.__('For other data')}</h4>}
      {rows(others)}
    </div>
  );
}

function boxesOf(list: HTMLElement | null): HTMLInputElement[] {
  return [...(list?.querySelectorAll('input') ?? [])];
}

function summaryOf(offers: OfferOfKind[], name: string): string | undefined {
  return offers.find(offer => offer.name === name)?.summary;
}
