// Tabs: a tab list with keyboard navigation (arrow keys, Home, End) and its panels.

import {
  useEffect,
  useId,
  useRef,
  type KeyboardEvent,
  type ReactNode
} from 'react';

export interface TabItem<Id extends string = string> {
  id: Id;
  label: string;
  badge?: ReactNode;
}

interface TabListProps<Id extends string> {
  /** Prefix of the element ids, the same as that of the panels. */
  id: string;
  label: string;
  tabs: readonly TabItem<Id>[];
  selected: Id;
  onSelect: (id: Id) => void;
}

export function TabList<Id extends string>(
  props: TabListProps<Id>
): JSX.Element {
  const { id, label, tabs, selected, onSelect } = props;
  const list = useRef<HTMLDivElement>(null);
  const handleKeyDown = (event: KeyboardEvent) => {
    const index = tabs.findIndex(tab => tab.id === selected);
    const forward = isRightToLeft(list.current) ? -1 : 1;
    const next = {
      ArrowRight: index + forward,
      ArrowLeft: index - forward,
      Home: 0,
      End: tabs.length - 1
    }[event.key];
    if (next !== undefined) {
      event.preventDefault();
      const { id: name } = tabs[(next + tabs.length) % tabs.length];
      onSelect(name);
      list.current?.querySelector<HTMLElement>(`[data-tab="${name}"]`)?.focus();
    }
  };
  useEffect(() => {
    // scrolls the selected tab into view inside the list; scrollIntoView would also scroll the page
    const frame = list.current;
    const box = frame?.getBoundingClientRect();
    const own = frame
      ?.querySelector('[aria-selected="true"]')
      ?.getBoundingClientRect();
    if (frame && box && own) {
      frame.scrollLeft +=
        Math.max(0, own.right - box.right) - Math.max(0, box.left - own.left);
    }
  }, [selected]);
  return (
    <div
      className="labdl-tabs"
      role="tablist"
      aria-label={label}
      ref={list}
      onKeyDown={handleKeyDown}
    >
      {tabs.map(tab => (
        <button
          key={tab.id}
          type="button"
          role="tab"
          className="labdl-tab"
          id={`${id}-tab-${tab.id}`}
          data-tab={tab.id}
          aria-selected={tab.id === selected}
          aria-controls={tab.id === selected ? `${id}-${tab.id}` : undefined}
          tabIndex={tab.id === selected ? 0 : -1}
          onClick={() => onSelect(tab.id)}
        >
          {tab.label}
          {(tab.badge ?? null) !== null && (
            <span className="labdl-tab-badge">{tab.badge}</span>
          )}
        </button>
      ))}
    </div>
  );
}

interface TabPanelProps {
  /** Prefix of the element ids, the same as that of the list. */
  id: string;
  tab: string;
  hidden?: boolean;
  children: ReactNode;
}

export function TabPanel({
  id,
  tab,
  hidden,
  children
}: TabPanelProps): JSX.Element {
  return (
    <div
      className="labdl-tab-panel"
      role="tabpanel"
      id={`${id}-${tab}`}
      aria-labelledby={`${id}-tab-${tab}`}
      data-panel={tab}
      hidden={hidden}
    >
      {children}
    </div>
  );
}

export interface Tab extends TabItem {
  content: () => ReactNode;
}

interface TabsProps {
  label: string;
  tabs: readonly Tab[];
  selected: string;
  onSelect: (id: string) => void;
}

/** A list of tabs with the panel of the selected one; the first one if the selection does not exist. */
export function Tabs({
  label,
  tabs,
  selected,
  onSelect
}: TabsProps): JSX.Element {
  const id = useId();
  const open = tabs.find(tab => tab.id === selected) ?? tabs[0];
  return (
    <>
      <TabList
        id={id}
        label={label}
        tabs={tabs}
        selected={open.id}
        onSelect={onSelect}
      />
      <TabPanel id={id} tab={open.id}>
        {open.content()}
      </TabPanel>
    </>
  );
}

function isRightToLeft(element: HTMLElement | null): boolean {
  return element !== null && getComputedStyle(element).direction === 'rtl';
}
