// The classes of models that a notebook's kernel has defined.

import type { KernelClass } from '../../api/editor';

export type { KernelClass };

export interface KernelClasses {
  classes: KernelClass[];
  /** Path of their notebook, if there are several. */
  from?: string;
}
