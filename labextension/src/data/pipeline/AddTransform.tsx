// Menu of transforms: a search field over a list by category, steered by the keys of the field.

import { useEffect, useId, useMemo, useRef, useState } from 'react';
import type { EntryInfo, TransformInfo } from '../../api/data';
import type { Translator } from '../../ui/translator';
import { byCategory, fitsEntries, searchTransforms } from './transform-list';

interface AddTransformProps {
  transforms: readonly TransformInfo[];
  entries: readonly EntryInfo[];
  /** Name of the step that it is added to; null for the pipeline itself. */
  owner: string | null;
  onAdd: (transform: TransformInfo) => void;
  onClose: () => void;
  trans: Translator;
}

export function AddTransform(props: AddTransformProps): JSX.Element {
  const { transforms, entries, owner, onAdd, onClose, trans } = props;
  const [text, setText] = useState('');
  const [showsAll, setShowsAll] = useState(false);
  const [at, setAt] = useState(0);
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const groups = useMemo(() => {
    const offered = showsAll
      ? transforms
      : transforms.filter(transform => fitsEntries(transform, entries));
    return byCategory(searchTransforms(offered, text, trans), trans);
  }, [transforms, entries, text, showsAll, trans]);
  const title =
    owner === null
      ? trans.__('Add a transform')
      : trans.__('Add inside of %1', owner);
  const flat = groups.flatMap(group => group.transforms);
  const chosen = flat[Math.min(at, flat.length - 1)];
  useEffect(() => field.current?.focus(), []);
  useEffect(() => {
    const option = list.current?.querySelector('[aria-selected="true"]');
    option?.scrollIntoView?.({ block: 'nearest' });
  }, [chosen]);

  const keys: Record<string, () => void> = {
    ArrowDown: () => setAt(Math.min(flat.length - 1, at + 1)),
    ArrowUp: () => setAt(Math.max(0, at - 1)),
    PageDown: () => setAt(Math.min(flat.length - 1, at + 8)),
    PageUp: () => setAt(Math.max(0, at - 8)),
    Enter: () => chosen && onAdd(chosen),
    Escape: onClose
  };
  return (
    <div
      className="labdl-data-add"
      role="dialog"
      aria-label={title}
      onKeyDown={event => {
        const act =
          event.target === field.current || event.key === 'Escape'
            ? keys[event.key]
            : undefined;
        if (act) {
          event.preventDefault();
          event.stopPropagation();
          act();
        }
      }}
    >
      {owner !== null && <h3>{title}</h3>}
      <div className="labdl-data-add-head">
        <input
          ref={field}
          type="search"
          className="labdl-input"
          role="combobox"
          aria-label={trans.__('Search transforms')}
          aria-expanded
          aria-controls={`${id}-list`}
          aria-activedescendant={chosen && `${id}-${chosen.name}`}
          placeholder={trans.__('Search transforms')}
          value={text}
          onChange={({ target }) => {
            setText(target.value);
            setAt(0);
          }}
        />
        <button type="button" onClick={onClose}>
          {trans.__('Cancel')}
        </button>
      </div>
      <div
        id={`${id}-list`}
        ref={list}
        role="listbox"
        tabIndex={-1}
        aria-label={trans.__('Transforms')}
        className="labdl-data-add-list"
      >
        {groups.map(({ category, transforms: own }) => (
          <div key={category} role="group" aria-label={category}>
            <div className="labdl-data-add-category" aria-hidden="true">
              {category}
            </div>
            {own.map(transform => (
              <div
                key={transform.name}
                id={`${id}-${transform.name}`}
                role="option"
                aria-selected={transform === chosen}
                onPointerMove={() =>
                  transform !== chosen && setAt(flat.indexOf(transform))
                }
                onClick={() => onAdd(transform)}
              >
                <b>{transform.name}</b>
                <span>{transform.summary}</span>
              </div>
            ))}
          </div>
        ))}
      </div>
      {flat.length === 0 && (
        <p className="labdl-data-empty">
          {trans.__('No transform has these words.')}
        </p>
      )}
      <label className="labdl-data-switch">
        <input
          type="checkbox"
          checked={showsAll}
          onChange={({ target }) => {
            setShowsAll(target.checked);
            setAt(0);
          }}
        />
        {trans.__('Also those for other kinds of samples')}
      </label>
    </div>
  );
}
