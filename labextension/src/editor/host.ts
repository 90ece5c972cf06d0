// What the editor asks of the program it runs in.
import type { RunEvent } from '../dashboard/source';
import { KernelClasses } from './classes';
import { MakeSourceEditor, Reading } from './coding';
import { SampleAnswer, WeightsAnswer } from './looking';
import { CheckResult, GraphData, LayerSchema } from './model';
import { KeptElsewhere } from './paletteMemory';

export interface EditorHost {
  /** Every layer that may stand in a graph. */
  layers(): Promise<LayerSchema[]>;
  /** Shapes, parameter counts and problems of a graph. */
  check(graph: GraphData): Promise<CheckResult>;
  /** The graph as Python source. */
  code(graph: GraphData): Promise<string>;
  /**
   * The graph that Python source describes, with ids, places and inputs of the canvas's graph where they are the same;
   * without that, a piece of a graph that may be added to any.
   */
  read(source: string, graph: GraphData | null): Promise<Reading>;
  /** The classes of models that a notebook's kernel has; null if the person chose none. */
  classes?(): Promise<KernelClasses | null>;
  /** Keeps favourites and blocks better than this browser does. */
  palette?: KeptElsewhere;
  /** Edits source better than a text area. */
  sourceEditor?: MakeSourceEditor;
  /** Puts source where it can be run. */
  sendCode?(source: string): void;
  /** Statistics of the parameters of some layers, or of single ones by their full names. */
  weights?(names: string[], graph: GraphData): Promise<WeightsAnswer>;
  /** What each layer makes of one sample, computed in a kernel. */
  sample?(graph: GraphData): Promise<SampleAnswer>;
  /**
   * Tells what happens in the runs that train this graph: first what has happened in the last one, then what comes; each
   * run begins with its start event. Returns the end of that.
   */
  followRun?(hear: (events: readonly RunEvent[]) => void): () => void;
}
