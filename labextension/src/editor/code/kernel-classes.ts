// Model classes that the kernel of a notebook has defined.

import type { KernelClass } from '../../api/editor';

export type { KernelClass };

export interface KernelClasses {
  classes: KernelClass[];
  /** Path of the notebook, if there are several. */
  from?: string;
}
