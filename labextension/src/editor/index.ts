// The editor's public face: everything its hosts need.
export type { EditorActions } from './actions';
export type { Alignment } from './alignment';
export { GraphDocument } from './document';
export { Editor } from './Editor';
export type { EditorProps } from './Editor';
export type { EditorHost } from './host';
export type {
  CheckResult,
  EdgeData,
  GraphData,
  LayerSchema,
  NodeData
} from './model';
export { plainTranslator } from './translator';
export type { Translator } from './translator';
