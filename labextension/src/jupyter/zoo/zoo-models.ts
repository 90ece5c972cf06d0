// Search and grouping of the zoo's models.

import type { ZooModel } from '../../api/editor';
import type { Json } from '../../api/graph';

export type { ZooModel };

export type ZooSettings = { [name: string]: Json };

/** Models that contain all words; those whose name starts with the first word come first, families stay together. */
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

/** Models by task, both in their original order. */
export function byTask(models: ZooModel[]): [string, ZooModel[]][] {
  const groups = new Map<string, ZooModel[]>();
  for (const model of models) {
    groups.set(model.task, [...(groups.get(model.task) ?? []), model]);
  }
  return [...groups];
}

/** A file name that is not taken: "resnet50.labdl", "resnet50-1.labdl". */
export function freeName(stem: string, taken: ReadonlySet<string>): string {
  let name = `${stem}.labdl`;
  for (let n = 1; taken.has(name); n++) {
    name = `${stem}-${n}.labdl`;
  }
  return name;
}
