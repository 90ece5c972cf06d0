// Synchronizes the selections of two compared models.
import { Difference, DiffSideName } from './diff-data';
import { isBlock } from '../model/paths';
import { SelectionStore } from '../model/selection';

/** Links the selections of layers that both models have; returns a function that unlinks them. */
export function followSelection(
  selections: { [side in DiffSideName]: SelectionStore },
  { same }: Pick<Difference, 'same'>
): () => void {
  const back = Object.fromEntries(
    Object.entries(same).map(([was, is]) => [is, was])
  );
  const link = (
    from: SelectionStore,
    to: SelectionStore,
    ids: { [id: string]: string }
  ) =>
    from.subscribe(() => {
      const nodes = [...from.state().nodes];
      const there = nodes.flatMap(id => ids[id] ?? (isBlock(id) ? id : []));
      if (nodes.length && there.length === nodes.length) {
        to.set(there);
      }
    });
  const stops = [
    link(selections.old, selections.new, same),
    link(selections.new, selections.old, back)
  ];
  return () => stops.forEach(stop => stop());
}
