// Labels of the settings of transforms, in the words of a form.

import type { ParamSchema } from '../../api/graph';
import type { Translator } from '../../ui/translator';
import { generalLabels } from './labels/general-labels';
import { pictureLabels } from './labels/picture-labels';
import { soundLabels } from './labels/sound-labels';
import { tableLabels } from './labels/table-labels';
import { textLabels } from './labels/text-labels';

/** A schema with the labels of its settings; the name in Python is the description, which a form shows as a tooltip. */
export function withLabels(
  schema: ParamSchema,
  trans: Translator
): ParamSchema {
  const labels: Record<string, string | undefined> = {
    ...tableLabels(trans),
    ...textLabels(trans),
    ...soundLabels(trans),
    ...pictureLabels(trans),
    ...generalLabels(trans)
  };
  const properties = Object.entries(schema.properties ?? {}).map(
    ([name, setting]) => [
      name,
      {
        ...setting,
        title: labels[name.toLowerCase()] ?? readable(name),
        description: setting.description ?? name
      }
    ]
  );
  return { ...schema, properties: Object.fromEntries(properties) };
}

/** The name of a setting of a class of one's own, as in "Least share". */
function readable(name: string): string {
  const words = name.replaceAll('_', ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
