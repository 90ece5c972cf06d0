// The steps of a pipeline as a tree, whose order a drag or Alt with an arrow key changes.

import {
  closestCenter,
  DndContext,
  MeasuringStrategy,
  PointerSensor,
  useSensor,
  useSensors,
  type DragMoveEvent
} from '@dnd-kit/core';
import {
  SortableContext,
  verticalListSortingStrategy
} from '@dnd-kit/sortable';
import { useEffect, useRef, useState } from 'react';
import type { StepProblem } from '../../api/data';
import type { Translator } from '../../ui/translator';
import type { Edit, Pipeline } from './pipeline-edits';
import {
  isHolder,
  placeByDrag,
  placeByKey,
  roomOf,
  type Infos
} from './step-places';
import { stepName } from './step-text';
import { rowsOf, type Place, type Row } from './step-tree';
import { StepItem } from './StepItem';

/** Pixels after which a press is a drag. */
const DISTANCE = 4;
/** Pixels of a level, as in the style sheet. */
const INDENT = 16;

interface StepListProps {
  pipeline: Pipeline;
  selected: number | null;
  infos: Infos;
  problems: readonly StepProblem[];
  onEdit: (edit: Edit) => void;
  /** Adds a step inside of another one. */
  onAddInside: (place: Place) => void;
  trans: Translator;
}

export function StepList(props: StepListProps): JSX.Element {
  const { pipeline, selected, infos, onEdit, trans } = props;
  const { steps } = pipeline;
  const list = useRef<HTMLOListElement>(null);
  const [said, setSaid] = useState('');
  const [collapsed, setCollapsed] = useState<ReadonlySet<number>>(new Set());
  const [drag, setDrag] = useState<{ id: number; depth: number } | null>(null);
  const wanted = useRef(false);
  const sensors = useSensors(
    useSensor(PointerSensor, { activationConstraint: { distance: DISTANCE } })
  );
  const hidden = drag ? new Set([...collapsed, drag.id]) : collapsed;
  const rows = rowsOf(steps, hidden);
  const known = new Set(rowsOf(steps).map(({ path }) => path.join('.')));
  const ids = rows.map(({ step }) => step.id);
  const at = rows.findIndex(({ step }) => step.id === selected);

  // the focus goes with the selection
  useEffect(() => {
    if (wanted.current) {
      wanted.current = false;
      list.current
        ?.querySelector<HTMLElement>('[aria-selected="true"]')
        ?.focus();
    }
  });
  // what is selected, as by undo or by adding, is in view
  useEffect(() => {
    const path = pathTo(rowsOf(steps), selected);
    if (path.some(id => collapsed.has(id))) {
      setCollapsed(new Set([...collapsed].filter(id => !path.includes(id))));
    }
  }, [selected, steps]);

  const select = (row: Row | undefined) => {
    if (row) {
      wanted.current = true;
      onEdit({ kind: 'select', id: row.step.id });
    }
  };
  const fold = (id: number, isCollapsed: boolean) => {
    const next = new Set(collapsed);
    if (isCollapsed) {
      next.add(id);
    } else {
      next.delete(id);
    }
    setCollapsed(next);
  };
  const move = ({ step }: Row, place: Place) => {
    onEdit({ kind: 'move', id: step.id, place: { ...place } });
    const owner = rows.find(row => row.step.id === place.parent);
    setSaid(
      owner
        ? trans.__(
            '%1 is step %2 inside of %3',
            stepName(step),
            place.at + 1,
            stepName(owner.step)
          )
        : trans.__('%1 is step %2', stepName(step), place.at + 1)
    );
  };
  const keyDown = (event: React.KeyboardEvent, row: Row) => {
    const { step, parent } = row;
    const from = rows.indexOf(row);
    const isOpen = step.inner.length > 0 && !collapsed.has(step.id);
    const keys: Record<string, () => void> = {
      ArrowUp: () => select(rows[from - 1]),
      ArrowDown: () => select(rows[from + 1]),
      Home: () => select(rows[0]),
      End: () => select(rows[rows.length - 1]),
      ArrowRight: () =>
        isOpen ? select(rows[from + 1]) : fold(step.id, false),
      ArrowLeft: () =>
        isOpen
          ? fold(step.id, true)
          : select(rows.find(other => other.step.id === parent)),
      Delete: () => remove(step.id),
      Backspace: () => remove(step.id)
    };
    const moves = event.altKey && MOVES.includes(event.key);
    const act = event.altKey ? undefined : keys[event.key];
    if (!(moves || act) || event.ctrlKey || event.metaKey) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    act?.();
    const place = moves && placeByKey(event.key, steps, step.id, infos);
    if (place) {
      wanted.current = true;
      move(row, place);
    }
  };
  const remove = (id: number) => {
    wanted.current = true;
    onEdit({ kind: 'remove', id });
  };

  const target = ({ active, over, delta }: DragMoveEvent) => {
    const row = rows.find(({ step }) => step.id === active.id);
    const by = Math.round(delta.x / INDENT);
    return row && over
      ? placeByDrag(
          steps,
          row.step.id,
          Number(over.id),
          row.path.length - 1 + by,
          infos,
          collapsed
        )
      : null;
  };
  const dragMove = (event: DragMoveEvent) => {
    const place = target(event);
    if (place && drag && place.depth !== drag.depth) {
      setDrag({ ...drag, depth: place.depth });
    }
  };
  const drop = (event: DragMoveEvent) => {
    const place = target(event);
    const row = rows.find(({ step }) => step.id === event.active.id);
    setDrag(null);
    if (place && row) {
      move(row, { parent: place.parent, at: place.at });
    }
  };

  return (
    <DndContext
      sensors={sensors}
      collisionDetection={closestCenter}
      measuring={{ droppable: { strategy: MeasuringStrategy.Always } }}
      onDragStart={({ active }) => {
        const id = Number(active.id);
        const row = rows.find(({ step }) => step.id === id);
        setDrag({ id, depth: (row?.path.length ?? 1) - 1 });
        onEdit({ kind: 'select', id });
      }}
      onDragMove={dragMove}
      onDragEnd={drop}
      onDragCancel={() => setDrag(null)}
      accessibility={{
        // the list says itself where a step went
        announcements: SILENT,
        screenReaderInstructions: { draggable: '' }
      }}
    >
      <SortableContext items={ids} strategy={verticalListSortingStrategy}>
        <ol
          className="labdl-data-steps"
          ref={list}
          role="tree"
          aria-label={trans.__('Steps')}
        >
          {rows.map((row, i) => (
            <StepItem
              key={row.step.id}
              row={row}
              depth={
                drag?.id === row.step.id ? drag.depth : row.path.length - 1
              }
              isSelected={i === Math.max(0, at)}
              isExpanded={
                row.step.inner.length ? !hidden.has(row.step.id) : null
              }
              problem={problemOf(row, known, props.problems)}
              onSelect={() => select(row)}
              onToggle={() => fold(row.step.id, !collapsed.has(row.step.id))}
              onRemove={() => remove(row.step.id)}
              onAddInside={
                hasRoom(row, infos)
                  ? () =>
                      props.onAddInside({
                        parent: row.step.id,
                        at: row.step.inner.length
                      })
                  : null
              }
              onKeyDown={event => keyDown(event, row)}
              trans={trans}
            />
          ))}
        </ol>
      </SortableContext>
      <span className="labdl-data-unseen" aria-live="polite">
        {said}
      </span>
    </DndContext>
  );
}

const MOVES = ['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight'];

const SILENT = {
  onDragStart: () => undefined,
  onDragOver: () => undefined,
  onDragEnd: () => undefined,
  onDragCancel: () => undefined
};

function hasRoom({ step }: Row, infos: Infos): boolean {
  return isHolder(step, infos) && step.inner.length < roomOf(step, infos);
}

/** The steps around a step. */
function pathTo(rows: readonly Row[], id: number | null): number[] {
  const row = rows.find(({ step }) => step.id === id);
  return typeof row?.parent !== 'number'
    ? []
    : [row.parent, ...pathTo(rows, row.parent)];
}

/** Why a step fails, empty if one inside of it does; an answer may name a step that is inside of what the page shows. */
function problemOf(
  { path }: Row,
  known: ReadonlySet<string>,
  problems: readonly StepProblem[]
): string | null {
  const key = path.join('.');
  const inside = problems.filter(({ step }) =>
    `${step.join('.')}.`.startsWith(`${key}.`)
  );
  const own = inside.find(({ step }) =>
    step.every((_, i) => {
      const part = step.slice(0, i + 1).join('.');
      return part.length <= key.length || !known.has(part);
    })
  );
  return own?.message ?? (inside.length ? '' : null);
}

/** Whether the list of steps uses a key with Alt, which the host must leave to it. */
export function takesStepKey(event: globalThis.KeyboardEvent): boolean {
  return (
    event.altKey &&
    MOVES.includes(event.key) &&
    (event.target as HTMLElement).matches('[data-step]')
  );
}
