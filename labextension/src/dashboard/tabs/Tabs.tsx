// The bar of tabs, by mouse and by arrow keys, and the tab that is open; which one that is, the browser remembers.

import {
  useEffect,
  useId,
  useRef,
  type KeyboardEvent,
  type ReactNode
} from 'react';
import { useKept } from '../kept';
import { TABS, type TabProps } from '.';
import { Boundary } from './Boundary';

const OVERVIEW = 'overview';
const NAMES = [OVERVIEW, ...TABS.map(({ id }) => id)];

export interface TabsProps extends TabProps {
  /** The overview; it stays as it is while another tab is open. */
  children: ReactNode;
}

export function Tabs({ children, ...props }: TabsProps): JSX.Element {
  const { view, trans } = props;
  const [open, select] = useKept('dashboard-tab', NAMES, OVERVIEW);
  const id = useId();
  const bar = useRef<HTMLDivElement>(null);
  const all = [
    { id: OVERVIEW, label: trans.__('Overview'), badge: null },
    ...TABS.map(tab => ({
      id: tab.id,
      label: tab.label(trans),
      badge: tab.badge?.(view) ?? null
    }))
  ];
  const tab = TABS.find(each => each.id === open);

  const moved = (event: KeyboardEvent) => {
    const at = all.findIndex(each => each.id === open);
    const forward = isRightToLeft(bar.current) ? -1 : 1;
    const next = {
      ArrowRight: at + forward,
      ArrowLeft: at - forward,
      Home: 0,
      End: all.length - 1
    }[event.key];
    if (next !== undefined) {
      event.preventDefault();
      const { id: name } = all[(next + all.length) % all.length];
      select(name);
      bar.current?.querySelector<HTMLElement>(`[data-tab="${name}"]`)?.focus();
    }
  };
  useEffect(() => {
    // where the bar is too long, the open tab has to be in sight; scrollIntoView would move the page, too
    const frame = bar.current;
    const box = frame?.getBoundingClientRect();
    const own = frame
      ?.querySelector('[aria-selected="true"]')
      ?.getBoundingClientRect();
    if (frame && box && own) {
      frame.scrollLeft +=
        Math.max(0, own.right - box.right) - Math.max(0, box.left - own.left);
    }
  }, [open]);

  const panel = (name: string, content: ReactNode) => (
    <div
      className="labdl-tab-panel"
      role="tabpanel"
      id={`${id}-${name}`}
      aria-labelledby={`${id}-tab-${name}`}
      data-panel={name}
      hidden={name !== (tab?.id ?? OVERVIEW)}
    >
      {content}
    </div>
  );
  return (
    <>
      <div
        className="labdl-tabs"
        role="tablist"
        aria-label={trans.__('Views of the run')}
        ref={bar}
        onKeyDown={moved}
      >
        {all.map(({ id: name, label, badge }) => {
          const isOpen = name === (tab?.id ?? OVERVIEW);
          return (
            <button
              key={name}
              type="button"
              role="tab"
              className="labdl-tab"
              id={`${id}-tab-${name}`}
              data-tab={name}
              aria-selected={isOpen}
              aria-controls={isOpen ? `${id}-${name}` : undefined}
              tabIndex={isOpen ? 0 : -1}
              onClick={() => select(name)}
            >
              {label}
              {badge !== null && (
                <span className="labdl-tab-badge">{badge}</span>
              )}
            </button>
          );
        })}
      </div>
      {panel(OVERVIEW, children)}
      {tab &&
        panel(
          tab.id,
          <Boundary key={tab.id} trans={trans}>
            <tab.Content
              {...props}
              onStep={
                props.onStep &&
                (step => {
                  select(OVERVIEW);
                  props.onStep?.(step);
                })
              }
            />
          </Boundary>
        )}
    </>
  );
}

function isRightToLeft(element: HTMLElement | null): boolean {
  return element !== null && getComputedStyle(element).direction === 'rtl';
}
