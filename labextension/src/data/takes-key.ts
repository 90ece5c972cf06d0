// Keys with Ctrl, Cmd or Alt that the view uses, which its host leaves to it.

import { takesStepKey } from './pipeline/StepList';
import { takesUndoKey } from './pipeline/undo-keys';
import { takesTileKey } from './samples/useTileKeys';

export function takesDataKey(event: KeyboardEvent): boolean {
  return takesTileKey(event) || takesStepKey(event) || takesUndoKey(event);
}
