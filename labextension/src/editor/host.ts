// Interface of the program that runs the editor.
import type { LayoutAnswer, LayoutRequest } from '../api/layout';
import type { RunEvent } from '../runs/store/source';
import { KernelClasses } from './code/kernel-classes';
import { MakeSourceEditor, Reading } from './code/source-editor';
import { SampleAnswer, WeightsAnswer } from './samples/inspection-data';
import { CheckResult, GraphData, LayerSchema } from './model/graph-data';
import { HostStorage } from './palette/palette-storage';

export interface EditorHost {
  /** All layers that a graph may contain. */
  layers(): Promise<LayerSchema[]>;
  /** Shapes, parameter counts and problems of a graph. */
  check(graph: GraphData): Promise<CheckResult>;
  /** Positions for the nodes of a request. */
  layout(request: LayoutRequest): Promise<LayoutAnswer['positions']>;
  /** Python source of a graph. */
  code(graph: GraphData): Promise<string>;
  /**
   * Parses Python source into a graph that keeps ids, positions and inputs of `graph` where they match; without it,
   * into a fragment that can be added to any graph.
   */
  read(source: string, graph: GraphData | null): Promise<Reading>;
  /** Model classes of a notebook's kernel; null if the user canceled. */
  classes?(): Promise<KernelClasses | null>;
  /** Storage for favorites and blocks, instead of the browser's. */
  palette?: HostStorage;
  /** Code editor, instead of a text area. */
  sourceEditor?: MakeSourceEditor;
  /** Inserts source code where it can be run. */
  sendCode?(source: string): void;
  /** Statistics of the parameters of layers, or of single parameters by full name. */
  weights?(names: string[], graph: GraphData): Promise<WeightsAnswer>;
  /** Activations of all layers for one sample, computed in a kernel. */
  sample?(graph: GraphData): Promise<SampleAnswer>;
  /**
   * Reports the events of the runs that train this graph: first those of the last run, then new ones; each run begins
   * with its start event. Returns a function that stops.
   */
  followRun?(hear: (events: readonly RunEvent[]) => void): () => void;
}
