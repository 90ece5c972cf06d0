// Button with a menu below it; Escape and a click elsewhere close it.

import { useEffect, useRef, type ReactNode } from 'react';

interface MenuProps {
  label: string;
  /** Number of active choices, shown on the button. */
  count?: number;
  children: ReactNode;
}

export function Menu({ label, count = 0, children }: MenuProps): JSX.Element {
  const details = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const close = (event: Event) => {
      if (!details.current?.contains(event.target as Node)) {
        details.current?.removeAttribute('open');
      }
    };
    document.addEventListener('pointerdown', close);
    document.addEventListener('focusin', close);
    return () => {
      document.removeEventListener('pointerdown', close);
      document.removeEventListener('focusin', close);
    };
  }, []);
  return (
    <details
      className="labdl-runs-menu"
      ref={details}
      onKeyDown={event => {
        if (event.key === 'Escape' && details.current?.open) {
          event.stopPropagation();
          details.current.removeAttribute('open');
          details.current.querySelector('summary')?.focus();
        }
      }}
    >
      <summary data-count={count || undefined}>
        {label}
        {count > 0 && <span className="labdl-runs-menu-count">{count}</span>}
      </summary>
      <div className="labdl-runs-menu-body">{children}</div>
    </details>
  );
}

interface ChoiceProps {
  label: string;
  isChosen: boolean;
  note?: string;
  onToggle: () => void;
}

export function MenuChoice({
  label,
  isChosen,
  note,
  onToggle
}: ChoiceProps): JSX.Element {
  return (
    <label className="labdl-runs-menu-choice" title={label}>
      <input type="checkbox" checked={isChosen} onChange={onToggle} />
      <span>{label}</span>
      {note && <small>{note}</small>}
    </label>
  );
}
