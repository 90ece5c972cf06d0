// Load of the process and the computer over time.

import type { RunEvent, SystemEvent } from './source';
import type { Reducer } from './reducer';
import { BoundedList } from './bounded-list';

const KEPT = 600;
const GPUS = 16;

export interface GpuUse {
  /** Percent. */
  readonly use: number | null;
  /** Bytes of the process. */
  readonly memory: number | null;
  /** Bytes of all processes. */
  readonly memoryUsed: number | null;
}

export interface SystemMoment {
  readonly time: number;
  /** Percent of one core, used by the process. */
  readonly cpu: number | null;
  /** Bytes of the process. */
  readonly memory: number | null;
  /** Percent of all cores, used by all processes. */
  readonly cpuTotal: number | null;
  readonly memoryUsed: number | null;
  readonly gpus: readonly GpuUse[];
}

export class System implements Reducer<readonly SystemMoment[]> {
  apply(event: RunEvent): void {
    if (event.kind === 'start' && !event.step) {
      this._moments.clear();
    } else if (event.kind === 'system') {
      this._moments.push(read(event));
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

function read(event: SystemEvent): SystemMoment {
  return {
    time: event.time,
    cpu: event.cpu ?? null,
    memory: event.memory ?? null,
    cpuTotal: event.cpu_total ?? null,
    memoryUsed: event.memory_used ?? null,
    gpus: (event.gpus ?? []).slice(0, GPUS).map(gpu => ({
      use: gpu.use ?? null,
      memory: gpu.memory ?? null,
      memoryUsed: gpu.memory_used ?? null
    }))
  };
}
