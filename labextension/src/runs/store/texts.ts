// Texts that a training has logged, by name.

import { text } from './bounds';
import type { Reducer } from './reducer';
import type { RunEvent, TextEvent } from './source';

const MAX_NAMES = 100;
const KEPT = 100;

export interface NamedTexts {
  readonly name: string;
  /** The last texts, oldest first. */
  readonly texts: readonly TextEvent[];
}

/** Keeps the last texts of each name, one per step; names are in the order of their first text. */
export class Texts implements Reducer<readonly NamedTexts[]> {
  apply(event: RunEvent): void {
    if (event.kind === 'start') {
      const step = event.step ?? 0;
      this._named = this._named
        .map(({ name, texts }) => ({
          name,
          texts: texts.filter(each => each.step <= step)
        }))
        .filter(({ texts }) => texts.length);
    } else if (event.kind === 'text') {
      this._add({ ...event, name: text(event.name) });
    }
  }

  view(): readonly NamedTexts[] {
    return this._named;
  }

  private _add(event: TextEvent): void {
    const { name, step } = event;
    const before = (texts: readonly TextEvent[]) =>
      texts.filter(each => each.step < step);
    if (this._named.some(each => each.name === name)) {
      this._named = this._named.map(each =>
        each.name === name
          ? { name, texts: [...before(each.texts), event].slice(-KEPT) }
          : each
      );
    } else if (this._named.length < MAX_NAMES) {
      this._named = [...this._named, { name, texts: [event] }];
    }
  }

  private _named: readonly NamedTexts[] = [];
}
