// The editor's public face: everything its hosts need.
export type { EditorActions } from './actions';
export type { MakeSourceEditor, Reading } from './coding';
export type { Alignment } from './alignment';
export { Bar } from './Bar';
export { Button } from './Button';
export type { DiffHost, Difference } from './diffData';
export { DiffView } from './DiffView';
export type { ComparedModel } from './DiffView';
export { GraphDocument } from './document';
export { formatValue, parseText } from './fieldText';
export { fullCount } from './format';
export { Editor } from './Editor';
export type { EditorProps } from './Editor';
export type { HealthStore } from './healthStore';
export type { EditorHost } from './host';
export type { SampleAnswer, WeightsAnswer } from './looking';
export type {
  CheckResult,
  EdgeData,
  GraphData,
  Json,
  LayerSchema,
  NodeData,
  ParamSchema
} from './model';
export { mend } from './merging';
export { sameJson } from './model';
export { keptIn } from './paletteMemory';
export type { Kept, KeptElsewhere } from './paletteMemory';
export type { People, Person } from './people';
export { PREFERENCES } from './preferences';
export { SettingsForm } from './SettingsForm';
export type { EditorPreferences } from './preferences';
export type { SampleRun } from './sampleRun';
export { plainTranslator } from './translator';
export type { Translator } from './translator';
export type { KernelClass, KernelClasses } from './classes';
export { isPythonFile } from './dragged';
