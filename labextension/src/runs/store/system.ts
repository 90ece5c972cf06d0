// What the process and the computer had to do, over time.

import type { RunEvent, SystemEvent } from './source';
import { fields, finite, list } from './validate';
import type { Reducer } from './reducer';
import { BoundedList } from './bounded-list';

const KEPT = 600;
const GPUS = 16;

export interface GpuUse {
  /** Percent. */
  readonly use: number | null;
  /** Bytes, of the process. */
  readonly memory: number | null;
  /** Bytes, of all. */
  readonly memoryUsed: number | null;
}

export interface SystemMoment {
  readonly time: number;
  /** Percent of one core, of the process. */
  readonly cpu: number | null;
  /** Bytes, of the process. */
  readonly memory: number | null;
  /** Percent of all cores, of the computer. */
  readonly cpuTotal: number | null;
  readonly memoryUsed: number | null;
  readonly gpus: readonly GpuUse[];
}

export class System implements Reducer<readonly SystemMoment[]> {
  apply(event: RunEvent): void {
    if (event.kind === 'start' && !event.step) {
      this._moments.clear();
    } else if (event.kind === 'system') {
      const moment = read(event);
      if (moment) {
        this._moments.push(moment);
      }
    }
  }

  view(): readonly SystemMoment[] {
    return this._moments.items();
  }

  private readonly _moments = new BoundedList<SystemMoment>(
    KEPT,
    ({ time }) => time
  );
}

function read(event: SystemEvent): SystemMoment | null {
  const time = finite(event.time);
  return time === null
    ? null
    : {
        time,
        cpu: finite(event.cpu),
        memory: finite(event.memory),
        cpuTotal: finite(event.cpu_total),
        memoryUsed: finite(event.memory_used),
        gpus: list(event.gpus, GPUS).map(gpu => {
          const { use, memory, memory_used } = fields(gpu);
          return {
            use: finite(use),
            memory: finite(memory),
            memoryUsed: finite(memory_used)
          };
        })
      };
}
