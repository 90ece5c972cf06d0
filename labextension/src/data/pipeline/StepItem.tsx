// A step in the list: its handle, number, name, settings that differ from the default, phase, and why it fails.

import { useSortable } from '@dnd-kit/sortable';
import type { CSSProperties, KeyboardEvent, MouseEvent } from 'react';
import { formatValue } from '../../forms/field-text';
import { Icon, IconButton } from '../../ui/Icon';
import type { Translator } from '../../ui/translator';
import { phaseText } from './phase-text';
import { objectText, stepName } from './step-text';
import type { Row } from './step-tree';

interface StepItemProps {
  row: Row;
  /** Level below that of the pipeline itself, also while it is dragged. */
  depth: number;
  isSelected: boolean;
  /** Whether its inner steps are in view; null for a step that has none. */
  isExpanded: boolean | null;
  /** Why it fails; empty if one inside of it does. */
  problem: string | null;
  onSelect: () => void;
  onToggle: () => void;
  onRemove: () => void;
  /** Null for a step that can have no other inside of it. */
  onAddInside: (() => void) | null;
  onKeyDown: (event: KeyboardEvent) => void;
  trans: Translator;
}

export function StepItem(props: StepItemProps): JSX.Element {
  const { row, isSelected, isExpanded, problem, onAddInside, trans } = props;
  const { step, path } = row;
  const sortable = useSortable({ id: step.id });
  const { transform, transition, isDragging } = sortable;
  const number = path.join('.');
  const name = stepName(step);
  const words = step.object
    ? objectText(step.object, trans)
    : Object.entries(step.settings)
        .map(([key, value]) => `${key} ${formatValue(value)}`)
        .join(' · ');
  const phase =
    path.length === 1 && step.phase !== 'always'
      ? phaseText(trans)[step.phase]
      : '';
  const style = {
    '--labdl-depth': props.depth,
    transform: transform ? `translateY(${transform.y}px)` : undefined,
    transition
  } as CSSProperties;
  return (
    <li
      ref={sortable.setNodeRef}
      role="treeitem"
      className="labdl-data-step"
      data-step={step.id}
      data-dragging={isDragging || undefined}
      data-problem={problem ?? undefined}
      aria-label={[number, name, words, phase, problem]
        .filter(Boolean)
        .join(', ')}
      aria-level={path.length}
      aria-posinset={row.at + 1}
      aria-setsize={row.siblings}
      aria-selected={isSelected}
      aria-expanded={isExpanded ?? undefined}
      tabIndex={isSelected ? 0 : -1}
      style={style}
      onClick={props.onSelect}
      onKeyDown={event =>
        event.target === event.currentTarget && props.onKeyDown(event)
      }
    >
      <span
        className="labdl-data-handle"
        title={trans.__('Drag to another place')}
        aria-hidden="true"
        {...sortable.listeners}
      >
        <Icon name="drag" />
      </span>
      {isExpanded !== null && (
        <span
          className="labdl-data-fold"
          data-expanded={isExpanded}
          aria-hidden="true"
          onClick={quietly(props.onToggle)}
        >
          <Icon name="chevron" />
        </span>
      )}
      <span
        className="labdl-data-step-name"
        title={trans.__(
          'Alt with the up and down arrows moves this step, with the left and right arrows out of and into another one'
        )}
      >
        <span className="labdl-data-step-number">{number}</span>
        <b>{name}</b>
        {phase && <span className="labdl-data-phase">{phase}</span>}
        {words && <small>{words}</small>}
        {problem && (
          <small className="labdl-data-step-problem">{problem}</small>
        )}
      </span>
      {problem !== null && (
        <span
          className="labdl-data-step-warning"
          title={problem || trans.__('A step inside of it fails')}
          aria-hidden="true"
        >
          <Icon name="warning" />
        </span>
      )}
      <span
        className="labdl-data-step-buttons"
        onClick={event => event.stopPropagation()}
      >
        {onAddInside && (
          <IconButton
            icon="plus"
            label={trans.__('Add inside of %1', name)}
            onClick={onAddInside}
          />
        )}
        <IconButton
          icon="remove"
          label={trans.__('Remove %1', name)}
          onClick={props.onRemove}
        />
      </span>
    </li>
  );
}

/** A click that does not select. */
function quietly(act: () => void): (event: MouseEvent) => void {
  return event => {
    event.stopPropagation();
    act();
  };
}
