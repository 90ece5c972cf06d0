// List of the differences, and the costs of both models.
import { KeyboardEvent, RefObject, useEffect, useId, useRef } from 'react';

import { formatShortCount } from '../../ui/number-format';
import { ChangeEntry } from './diff-changes';
import { DiffSideName } from './diff-data';
import { MARK_ICONS } from './DiffNode';
import { fullCount } from '../model/shape-format';
import { Icon, IconButton } from '../../ui/Icon';
import { Costs } from '../model/graph-data';
import { Translator } from '../../ui/translator';

export interface DiffListProps {
  changes: ChangeEntry[];
  /** Index of the active entry; -1 if there is none. */
  active: number;
  totals: { [side in DiffSideName]: Costs | null };
  trans: Translator;
  list: RefObject<HTMLUListElement | null>;
  onGo: (index: number) => void;
}

export function DiffList(props: DiffListProps) {
  const { changes, active, totals, trans, list, onGo } = props;
  const id = useId();
  const optionId = (at: number) => `${id}change-${at}`;
  const step = (by: number) =>
    onGo(
      (Math.max(active, by < 0 ? 0 : -1) + by + changes.length) % changes.length
    );

  const chosen = useRef<HTMLLIElement>(null);
  useEffect(() => {
    chosen.current?.scrollIntoView?.({ block: 'nearest' });
  }, [active]);

  const keyDown = (event: KeyboardEvent) => {
    const way = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (way !== undefined && changes.length) {
      step(way);
    } else if (event.key === 'Enter' && active >= 0) {
      onGo(active);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <section className="labdl-diff-list" aria-label={trans.__('Differences')}>
      <Totals totals={totals} trans={trans} />
      <div className="labdl-diff-head">
        <h3>{trans._n('%1 difference', '%1 differences', changes.length)}</h3>
        <IconButton
          icon="up"
          label={trans.__('Previous difference (Shift+F8)')}
          disabled={!changes.length}
          onClick={() => step(-1)}
        />
        <IconButton
          icon="down"
          label={trans.__('Next difference (F8)')}
          disabled={!changes.length}
          onClick={() => step(1)}
        />
      </div>
      {changes.length ? (
        <ul
          ref={list as RefObject<HTMLUListElement>}
          role="listbox"
          tabIndex={0}
          aria-label={trans.__('Differences')}
          aria-activedescendant={active < 0 ? undefined : optionId(active)}
          onKeyDown={keyDown}
        >
          {changes.map(({ kind, title, words }, at) => (
            <li
              key={at}
              ref={at === active ? chosen : undefined}
              id={optionId(at)}
              role="option"
              aria-selected={at === active}
              className={`labdl-diff-${kind}`}
              title={`${title}\n${words}`}
              onClick={() => onGo(at)}
            >
              <Icon name={MARK_ICONS[kind]} />
              <span className="labdl-diff-title">{title}</span>
              <span className="labdl-diff-words">{words}</span>
            </li>
          ))}
        </ul>
      ) : (
        <p className="labdl-diff-none" role="status">
          {trans.__('The two models do not differ.')}
        </p>
      )}
    </section>
  );
}

function Totals({ totals, trans }: Pick<DiffListProps, 'totals' | 'trans'>) {
  const rows: [string, keyof Costs][] = [
    [trans.__('Parameters'), 'parameters'],
    [trans.__('FLOPs'), 'operations']
  ];
  return (
    <dl className="labdl-diff-totals">
      {rows.map(([term, figure]) => {
        const was = totals.old?.[figure];
        const is = totals.new?.[figure];
        const [before, after] = [was, is].map(count =>
          count === undefined ? '…' : formatShortCount(count)
        );
        const full = (count: number | undefined) =>
          count === undefined ? '…' : fullCount(count);
        return (
          <div key={term} title={`${full(was)} → ${full(is)}`}>
            <dt>{term}</dt>
            <dd>
              {before === after ? before : `${before} → ${after}`}
              {was && is && before !== after ? (
                <small>{shareText(is / was - 1)}</small>
              ) : null}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

/** "+87 %", "−0.4 %". */
function shareText(share: number): string {
  const percent = Math.abs(100 * share);
  const figures = percent < 10 ? percent.toFixed(1) : percent.toFixed(0);
  return `${share < 0 ? '−' : '+'}${figures} %`;
}
