// The classes of models that a notebook's kernel has defined.

export interface KernelClass {
  name: string;
  summary: string;
  /** The type of the layer that it is; null for a class made of layers. */
  layer: string | null;
  /** The class with all that it needs; null for a layer, and where there is none. */
  source: string | null;
  /** Why there is no source. */
  problem: string | null;
}

export interface KernelClasses {
  classes: KernelClass[];
  /** The notebook that they are from, if there are several. */
  from?: string;
}
