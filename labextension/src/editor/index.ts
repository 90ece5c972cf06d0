// The editor's public face: everything its hosts need.
export type { EditorActions } from './actions';
export type { MakeSourceEditor, Reading } from './coding';
export type { Alignment } from './alignment';
export { Bar } from './Bar';
export { GraphDocument } from './document';
export { Editor } from './Editor';
export type { EditorProps } from './Editor';
export type { EditorHost } from './host';
export type { SampleAnswer, WeightsAnswer } from './looking';
export type {
  CheckResult,
  EdgeData,
  GraphData,
  LayerSchema,
  NodeData
} from './model';
export { sameJson } from './model';
export { PREFERENCES } from './preferences';
export type { EditorPreferences } from './preferences';
export type { SampleRun } from './sampleRun';
export { plainTranslator } from './translator';
export type { Translator } from './translator';
