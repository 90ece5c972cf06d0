// Texts of the log of a run.

import { RESERVED } from '../../api/events';
import { metricName } from '../store/metric-name';
import {
  formatCount,
  formatDuration,
  formatNumber,
  formatSetting
} from '../../ui/number-format';
import { finite, text } from '../store/bounds';
import { terminalText } from '../../ui/terminal-text';
import type { LoggedEvent } from '../store/log';
import type { RunCommand } from '../store/source';
import type { Translator } from '../../ui/translator';
import { alertMessage, alertWord } from './alert-text';

export type LogLevel = 'debug' | 'info' | 'warning' | 'error';

/** Levels of the log, from the least to the most important. */
export const LOG_LEVELS: readonly LogLevel[] = [
  'debug',
  'info',
  'warning',
  'error'
];

const PYTHON_LEVELS: { readonly [level: string]: LogLevel } = {
  DEBUG: 'debug',
  INFO: 'info',
  WARNING: 'warning',
  ERROR: 'error',
  CRITICAL: 'error'
};

export function logLevel(event: LoggedEvent): LogLevel {
  switch (event.kind) {
    case 'log':
      return PYTHON_LEVELS[(event.level ?? '').toUpperCase()] ?? 'info';
    case 'alert':
      return event.level ?? 'warning';
    case 'problem':
      return 'warning';
    case 'command':
      return event.status === 'refused' ? 'warning' : 'info';
    case 'end':
      return event.status === 'failed' ? 'error' : 'info';
    default:
      return 'info';
  }
}

export function logText(event: LoggedEvent, trans: Translator): string {
  switch (event.kind) {
    case 'start':
      return startWords(event, trans);
    case 'epoch':
      return trans.__('Epoch %1: %2', formatCount(event.epoch), figures(event));
    case 'validation':
      return trans.__(
        'Validation after step %1: %2',
        formatCount(event.step),
        figures(event)
      );
    case 'status':
      return statusWords(event.status, trans);
    case 'learning_rate':
      return trans.__(
        'Learning rate set manually to %1 after step %2',
        formatSetting(event.value),
        formatCount(event.step)
      );
    case 'epochs':
      return trans.__('Total epochs changed to %1', formatCount(event.epochs));
    case 'checkpoint':
      return trans.__(
        'Checkpoint of step %1: %2',
        formatCount(event.step),
        text(event.path)
      );
    case 'branch':
      return trans.__(
        'Run %1 branched off after step %2',
        text(event.id),
        formatCount(event.step)
      );
    case 'command':
      return commandWords(event, trans);
    case 'alert':
      return trans.__(
        '%1: %2',
        alertWord(event.alert, trans),
        text(alertMessage(event, trans))
      );
    case 'log':
      return trans.__(
        '%1: %2',
        text(event.source, 200),
        text(terminalText(event.message ?? ''))
      );
    case 'problem':
      return text(terminalText(event.message ?? ''));
    case 'end':
      return endWords(event, trans);
  }
}

type Of<Kind> = Extract<LoggedEvent, { kind: Kind }>;

function startWords(event: Of<'start'>, trans: Translator): string {
  const [model, backend] = [text(event.model, 200), text(event.backend, 50)];
  return event.step
    ? trans.__(
        '%1 resumes with %2 after step %3',
        model,
        backend,
        formatCount(event.step)
      )
    : trans.__('%1 starts with %2', model, backend);
}

function statusWords(status: string, trans: Translator): string {
  const words: { readonly [status: string]: string } = {
    paused: trans.__('Paused'),
    running: trans.__('Running'),
    stopping: trans.__('Stopping…')
  };
  return words[status];
}

function endWords(event: Of<'end'>, trans: Translator): string {
  const words: { readonly [status: string]: string } = {
    finished: trans.__('Finished'),
    stopped: trans.__('Stopped'),
    failed: trans.__('Failed')
  };
  const status = words[event.status];
  const seconds = event.summary?.seconds;
  const how =
    seconds === undefined
      ? status
      : trans.__('%1 after %2 of training', status, formatDuration(seconds));
  return event.message
    ? trans.__('%1: %2', how, text(terminalText(event.message), 20_000))
    : how;
}

export function commandWord(
  command: RunCommand | '',
  trans: Translator
): string {
  const words: { readonly [command: string]: string } = {
    pause: trans.__('Pause'),
    resume: trans.__('Resume'),
    step: trans.__('Step once'),
    stop: trans.__('Stop'),
    checkpoint: trans.__('Checkpoint'),
    learning_rate: trans.__('Learning rate'),
    add_epochs: trans.__('Add epochs'),
    branch: trans.__('Branch'),
    save_to: trans.__('Save parameters to')
  };
  return words[command] ?? text(command, 50);
}

function commandWords(event: Of<'command'>, trans: Translator): string {
  const word = commandWord(event.command || '', trans);
  const { value } = event;
  const asked =
    value === undefined || value === null
      ? word
      : `${word} (${text(value, 200)})`;
  if (event.status === 'refused') {
    return event.message
      ? trans.__('Command refused: %1. %2', asked, text(event.message))
      : trans.__('Command refused: %1', asked);
  }
  return event.message
    ? trans.__('Command done: %1. %2', asked, text(event.message))
    : trans.__('Command done: %1', asked);
}

function figures(event: Of<'epoch' | 'validation'>): string {
  return Object.entries(event)
    .filter(([name]) => !RESERVED.includes(name))
    .slice(0, 50)
    .map(
      ([name, value]) => `${metricName(name)} ${formatNumber(finite(value))}`
    )
    .join(' · ');
}
