// Tabs of which one is shown; arrow keys move between them.

import { useId, useRef, type KeyboardEvent, type ReactNode } from 'react';

export interface Tab {
  id: string;
  label: string;
  content: () => ReactNode;
}

interface TabsProps {
  label: string;
  tabs: readonly Tab[];
  shown: string;
  onShow: (id: string) => void;
}

const MOVES: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowRight: 1
};

export function Tabs({ label, tabs, shown, onShow }: TabsProps): JSX.Element {
  const base = useId();
  const list = useRef<HTMLDivElement>(null);
  const open = tabs.find(tab => tab.id === shown) ?? tabs[0];
  const move = (event: KeyboardEvent) => {
    const by = MOVES[event.key];
    if (by) {
      const next = (tabs.indexOf(open) + by + tabs.length) % tabs.length;
      onShow(tabs[next].id);
      list.current?.querySelectorAll('button')[next].focus();
      event.preventDefault();
    }
  };
  return (
    <>
      <div
        className="labdl-compare-tabs"
        role="tablist"
        aria-label={label}
        ref={list}
        onKeyDown={move}
      >
        {tabs.map(tab => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            id={`${base}-${tab.id}`}
            aria-selected={tab === open}
            aria-controls={`${base}-shown`}
            tabIndex={tab === open ? 0 : -1}
            onClick={() => onShow(tab.id)}
          >
            {tab.label}
          </button>
        ))}
      </div>
      <div
        className="labdl-compare-shown"
        role="tabpanel"
        id={`${base}-shown`}
        aria-labelledby={`${base}-${open.id}`}
      >
        {open.content()}
      </div>
    </>
  );
}
