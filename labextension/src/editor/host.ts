// What the editor asks of the program it runs in.
import { CheckResult, GraphData, LayerSchema } from './model';

export interface EditorHost {
  /** Every layer that may stand in a graph. */
  layers(): Promise<LayerSchema[]>;
  /** Shapes, parameter counts and problems of a graph. */
  check(graph: GraphData): Promise<CheckResult>;
  /** The graph as Python source. */
  code(graph: GraphData): Promise<string>;
}
