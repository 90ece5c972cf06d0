// Texts of alerts: level, kind and message.

import type { AlertEvent, AlertKind } from '../store/source';
import { translateGiven, type Translator } from '../../ui/translator';

export function levelWord(
  level: AlertEvent['level'],
  trans: Translator
): string {
  return level === 'error' ? trans.__('Error') : trans.__('Warning');
}

/** Name of an alert's kind; unknown kinds have the name in the file. */
export function alertWord(
  alert: AlertKind | null | undefined,
  trans: Translator
): string {
  const words: Partial<Record<string, string>> = {
    not_finite: trans.__('Not finite'),
    divergence: trans.__('Divergence'),
    no_progress: trans.__('No progress'),
    chance_level: trans.__('Chance level'),
    overfitting: trans.__('Overfitting'),
    plateau: trans.__('Plateau'),
    starvation: trans.__('Waiting for data')
  };
  return words[alert ?? ''] ?? trans.__('Alert');
}

/** Message in the language of the page; in English where the run was recorded without its template. */
export function alertMessage(
  {
    message,
    template,
    values
  }: Pick<AlertEvent, 'message' | 'template' | 'values'>,
  trans: Translator
): string {
  return template ? translateGiven(trans, template, values ?? []) : message;
}
