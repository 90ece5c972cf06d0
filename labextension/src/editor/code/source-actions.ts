// Adds layers from Python source: pasted, dropped, or of a class in a kernel.
import type { EditorActions, Surroundings } from '../commands/actions';
import { homeAt } from '../commands/add-layers';
import { Fragment } from '../model/fragment';
import { Position } from '../model/graph-data';
import { pieceOfPython } from '../commands/paste-python';
import { centerAt, freePlace } from '../canvas/placement';

type SourceActions = Pick<EditorActions, 'addSource' | 'addClass'>;

export function makeSourceActions(
  now: () => Surroundings,
  insert: (fragment: Fragment, offset: Position) => void
): SourceActions {
  const actions: SourceActions = {
    async addSource(source, point) {
      const { document, at, trans } = now();
      if (document.lock.state()) {
        return;
      }
      const middle = point ? at(point) : undefined;
      const found = await pieceOfPython(source, {
        ...now(),
        ...(middle && { middle: () => middle })
      });
      if ('fragment' in found) {
        insert(found.fragment, [0, 0]);
      } else {
        now().say(trans.__('This Python cannot be pasted: %1', found.problem));
      }
    },

    async addClass({ name, layer, source, problem }) {
      const { document, layers, places, direction, middle, say, trans } = now();
      const { sizeOf } = now();
      if (source !== null) {
        await actions.addSource(source);
        return;
      }
      if (layer === null) {
        say(trans.__('%1 cannot be read: %2', name, problem ?? ''));
        return;
      }
      if (document.lock.state()) {
        return;
      }
      const position = freePlace(centerAt(middle()), places, direction, sizeOf);
      const params = layers.get(layer)?.initial;
      const home = homeAt(position, now());
      const id = document.addNode({ type: layer, position, params, home });
      now().selection.set([id]);
      if (!layers.has(layer)) {
        say(
          trans.__(
            '%1 is defined in that notebook. The model can be loaded and trained there; its shapes are not available here.',
            name
          )
        );
      }
    }
  };
  return actions;
}
