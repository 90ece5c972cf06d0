// What the editor asks of the program it runs in.
import { MakeSourceEditor, Reading } from './coding';
import { SampleAnswer, WeightsAnswer } from './looking';
import { CheckResult, GraphData, LayerSchema } from './model';

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
  /** Edits source better than a text area. */
  sourceEditor?: MakeSourceEditor;
  /** Puts source where it can be run. */
  sendCode?(source: string): void;
  /** Statistics of the parameters of some layers, or of single ones by their full names. */
  weights?(names: string[], graph: GraphData): Promise<WeightsAnswer>;
  /** What each layer makes of one sample, computed in a kernel. */
  sample?(graph: GraphData): Promise<SampleAnswer>;
}
