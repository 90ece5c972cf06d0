// Names of metrics in events, where they stand beside the fields of the format.

import { RESERVED } from '../../api/events';

/** The name of the metric of a key: one that is named as a field, such as "step", has the key "@step" (docs/runs.md). */
export function metricName(key: string): string {
  return key.startsWith('@') && RESERVED.includes(key.replace(/^@+/, ''))
    ? key.slice(1)
    : key;
}
