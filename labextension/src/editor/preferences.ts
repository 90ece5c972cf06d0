// What a person has set for every editor.

import { Figure } from './model/check-store';
import { Direction } from './canvas/node-size';

export interface EditorPreferences {
  /** The way a graph flows that has no connections yet. */
  direction: Direction;
  /** Which of its costs a layer shows at first. */
  figure: Figure;
  /** Whether dragged layers come to stand on the dots of the canvas. */
  snapToGrid: boolean;
}

export const PREFERENCES: EditorPreferences = {
  direction: 'down',
  figure: 'parameters',
  snapToGrid: false
};
