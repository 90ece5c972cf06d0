// Preferences of the user for all editors.

import { Figure } from './model/check-store';
import { Direction } from './canvas/node-size';

export interface EditorPreferences {
  /** Direction of a graph without connections. */
  direction: Direction;
  /** Cost that layers show initially. */
  figure: Figure;
  /** Whether dragged layers snap to the grid of the canvas. */
  snapToGrid: boolean;
  /** Whether large graphs have an overview in a corner of the canvas. */
  overview: boolean;
}

export const PREFERENCES: EditorPreferences = {
  direction: 'down',
  figure: 'parameters',
  snapToGrid: false,
  overview: true
};
