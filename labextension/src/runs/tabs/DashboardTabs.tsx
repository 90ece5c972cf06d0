// Tabs of the dashboard: the overview and one tab for each subject; the browser stores the selected one.

import { useId, type ReactNode } from 'react';
import { ErrorBoundary } from '../../ui/ErrorBoundary';
import { TabList, TabPanel } from '../../ui/Tabs';
import { useStoredChoice } from '../../ui/stored-choice';
import { TABS, type TabProps } from '.';

const OVERVIEW = 'overview';
const NAMES = [OVERVIEW, ...TABS.map(({ id }) => id)];

export interface DashboardTabsProps extends TabProps {
  /** Overview, which stays mounted while another tab is open. */
  children: ReactNode;
}

export function DashboardTabs({
  children,
  ...props
}: DashboardTabsProps): JSX.Element {
  const { view, trans } = props;
  const [selected, select] = useStoredChoice('dashboard-tab', NAMES, OVERVIEW);
  const id = useId();
  const items = [
    { id: OVERVIEW, label: trans.__('Overview') },
    ...TABS.map(tab => ({
      id: tab.id,
      label: tab.label(trans),
      badge: tab.badge?.(view) ?? null
    }))
  ];
  const tab = TABS.find(each => each.id === selected);
  return (
    <>
      <TabList
        id={id}
        label={trans.__('Views of the run')}
        tabs={items}
        selected={tab?.id ?? OVERVIEW}
        onSelect={select}
      />
      <TabPanel id={id} tab={OVERVIEW} hidden={tab !== undefined}>
        {children}
      </TabPanel>
      {tab && (
        <TabPanel id={id} tab={tab.id}>
          <ErrorBoundary key={tab.id} trans={trans}>
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
          </ErrorBoundary>
        </TabPanel>
      )}
    </>
  );
}
