// What the editor asks of the program it runs in.
import type { LayoutAnswer, LayoutRequest } from '../api/layout';
import type { RunEvent } from '../runs/store/source';
import { KernelClasses } from './code/kernel-classes';
import { MakeSourceEditor, Reading } from './code/source-editor';
import { SampleAnswer, WeightsAnswer } from './samples/inspection-data';
import { CheckResult, GraphData, LayerSchema } from './model/graph-data';
import { KeptElsewhere } from './palette/palette-storage';

export interface EditorHost {
  /** Every layer that may stand in a graph. */
  layers(): Promise<LayerSchema[]>;
  /** Shapes, parameter counts and problems of a graph. */
  check(graph: GraphData): Promise<CheckResult>;
  /** Positions for nodes that have none, or for all that are to be arranged anew. */
  layout(request: LayoutRequest): Promise<LayoutAnswer['positions']>;
  /** The graph as Python source. */
  code(graph: GraphData): Promise<string>;
  /**
   * The graph that Python source describes, with ids, places and inputs of the canvas's graph where they are the same;
   * without that, a piece of a graph that may be added to any.
   */
  read(source: string, graph: GraphData | null): Promise<Reading>;
  /** The classes of models that a notebook's kernel has; null if the person chose none. */
  classes?(): Promise<KernelClasses | null>;
  /** Keeps favorites and blocks better than this browser does. */
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
