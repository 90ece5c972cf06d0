// The models of the zoo as they are listed: which match what was typed, and by what they are for.

import type { ZooModel } from '../../api/editor';
import type { Json } from '../../api/graph';

export type { ZooModel };

export type ZooSettings = { [name: string]: Json };

/** The models in which all words occur, those first whose name begins as the first word; the families stay together. */
export function matching(models: ZooModel[], query: string): ZooModel[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const found = models.filter(({ name, task, summary }) => {
    const text = `${name} ${task} ${summary}`.toLowerCase();
    return words.every(word => text.includes(word));
  });
  const begins = ({ name }: ZooModel) =>
    words.length > 0 && name.toLowerCase().startsWith(words[0]) ? 0 : 1;
  const groups = byTask(found.sort((a, b) => begins(a) - begins(b)));
  return groups.flatMap(([, inside]) => inside);
}

/** The models for each task, both in the order in which they come. */
export function byTask(models: ZooModel[]): [string, ZooModel[]][] {
  const groups = new Map<string, ZooModel[]>();
  for (const model of models) {
    groups.set(model.task, [...(groups.get(model.task) ?? []), model]);
  }
  return [...groups];
}

/** A file's name that is not taken: "resnet50.labdl", "resnet50-1.labdl". */
export function freeName(stem: string, taken: ReadonlySet<string>): string {
  let name = `${stem}.labdl`;
  for (let n = 1; taken.has(name); n++) {
    name = `${stem}-${n}.labdl`;
  }
  return name;
}
