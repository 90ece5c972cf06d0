// Public interface of the editor for its hosts.
export { SHORTCUTS } from './commands/key-bindings';
export type { HostShortcuts } from './commands/key-bindings';
export type { EditorActions } from './commands/actions';
export type { MakeSourceEditor, Reading } from './code/source-editor';
export type { Alignment } from './commands/alignment';
export { SELECTION_COMMANDS } from './commands/selection-commands';
export { Banner } from '../ui/Banner';
export { Button } from '../ui/Button';
export type { DiffHost, Difference } from './diff/diff-data';
export { DiffView } from './diff/DiffView';
export type { ComparedModel } from './diff/DiffView';
export { GraphDocument } from './model/document';
export { formatValue, parseText } from '../forms/field-text';
export { fullCount } from './model/shape-format';
export { Editor } from './Editor';
export type { EditorProps } from './Editor';
export type { HealthStore } from './health/health-store';
export type { EditorHost } from './host';
export type { SampleAnswer, WeightsAnswer } from './samples/inspection-data';
export type {
  CheckResult,
  EdgeData,
  GraphData,
  Json,
  LayerSchema,
  NodeData,
  ParamSchema
} from './model/graph-data';
export { applyResolution } from './model/conflict-resolution';
export { sameJson } from './model/graph-data';
export { keptIn } from './palette/palette-storage';
export type { SavedItems, HostStorage } from './palette/palette-storage';
export type { People, Person } from './model/collaborators';
export { PREFERENCES } from './preferences';
export { SettingsForm } from '../forms/SettingsForm';
export type { EditorPreferences } from './preferences';
export type { SampleRun } from './samples/sample-run';
export { plainTranslator } from '../ui/translator';
export type { Translator } from '../ui/translator';
export type { KernelClass, KernelClasses } from './code/kernel-classes';
export { isPythonFile } from './canvas/drag-data';
