// View of a data set: its samples, their statistics, and the transforms before training.

import { useEffect, useId, useMemo, useRef, useState } from 'react';
import { ErrorBoundary } from '../ui/ErrorBoundary';
import { TabList, TabPanel, type TabItem } from '../ui/Tabs';
import type { Translator } from '../ui/translator';
import { DataHeader } from './DataHeader';
import type { DataHost } from './host';
import { TransformsTab } from './pipeline/TransformsTab';
import { SamplesTab } from './samples/SamplesTab';
import { StatisticsTab } from './statistics/StatisticsTab';
import { UseInTraining } from './UseInTraining';
import { usePipeline } from './usePipeline';
import { useSummary, type Shown } from './useSummary';
import { problemText } from './problem-text';

type TabId = 'samples' | 'statistics' | 'transforms';

export interface DataViewProps {
  host: DataHost;
  trans: Translator;
}

export function DataView({ host, trans }: DataViewProps): JSX.Element {
  const [split, setSplit] = useState(host.keptSplit?.() ?? '');
  const asked = useMemo(
    () => (split && host.ofSplit?.(split)) || host,
    [host, split]
  );
  const { shown, problem, retry } = useSummary(asked);
  const isGone = problem !== null && shown === null && split !== '';
  useEffect(() => {
    if (isGone) {
      setSplit(''); // the part that was kept is not there any more
    }
  }, [isGone]);
  const choose = (next: string) => {
    setSplit(next);
    host.keepSplit?.(next);
  };
  return (
    <section className="labdl-data" aria-label={trans.__('Data set')}>
      {problem && (
        <div className="labdl-data-notice" role="alert">
          <span>{problemText(trans, problem)}</span>
          <button type="button" onClick={retry}>
            {trans.__('Try again')}
          </button>
        </div>
      )}
      {shown ? (
        <OpenData
          shown={shown}
          host={host}
          split={split || (shown.summary.split ?? '')}
          onSplit={choose}
          trans={trans}
        />
      ) : (
        !problem && (
          <p className="labdl-data-empty" aria-live="polite">
            {trans.__('Opening the data set…')}
          </p>
        )
      )}
    </section>
  );
}

interface OpenDataProps extends DataViewProps {
  /** What is in view: the data set, or one of its parts. */
  shown: Shown;
  /** The part that is chosen, which may not be in view yet. */
  split: string;
  onSplit: (split: string) => void;
}

function OpenData(props: OpenDataProps): JSX.Element {
  const { shown, host, trans } = props;
  const { summary } = shown;
  const id = useId();
  const [tab, setTab] = useState<TabId>('samples');
  const [label, setLabel] = useState<string | null>(null);
  const [index, setIndex] = useState(0);
  const pipeline = usePipeline(host, summary);
  useEffect(() => {
    setIndex(0);
    // a part without labels has no classes
    setLabel(own =>
      own !== null && summary.classes?.includes(own) ? own : null
    );
  }, [shown.host]);
  const trainButton = useRef<HTMLButtonElement>(null);
  const [visited, setVisited] = useState<ReadonlySet<TabId>>(
    new Set(['samples'])
  );
  const open = (next: TabId) => {
    setVisited(new Set([...visited, next]));
    setTab(next);
  };
  const tabs: TabItem<TabId>[] = [
    { id: 'samples', label: trans.__('Samples') },
    { id: 'statistics', label: trans.__('Statistics') },
    {
      id: 'transforms',
      label: trans.__('Transforms'),
      badge: pipeline.state.now.steps.length || null
    }
  ];
  const contents: Record<TabId, () => JSX.Element> = {
    samples: () => (
      <SamplesTab
        key={summary.split}
        summary={summary}
        host={shown.host}
        label={label}
        onLabel={setLabel}
        onPreview={sample => {
          setIndex(sample.index);
          open('transforms');
        }}
        trans={trans}
      />
    ),
    statistics: () => (
      <StatisticsTab
        key={summary.split}
        host={shown.host}
        isShown={tab === 'statistics'}
        onClass={name => {
          setLabel(name);
          open('samples');
        }}
        trans={trans}
      />
    ),
    transforms: () => (
      <TransformsTab
        summary={summary}
        state={pipeline.state}
        onEdit={pipeline.onEdit}
        index={index}
        onIndex={setIndex}
        host={shown.host}
        isShown={tab === 'transforms'}
        trans={trans}
      />
    )
  };
  return (
    <>
      <DataHeader
        summary={summary}
        pipeline={pipeline}
        split={props.split}
        onSplit={props.onSplit}
        trainButton={trainButton}
        trans={trans}
      />
      {pipeline.problem && (
        <div className="labdl-data-notice" role="alert">
          <span>{pipeline.problem}</span>
        </div>
      )}
      {pipeline.used && (
        <UseInTraining
          used={pipeline.used}
          splits={summary.splits ?? []}
          onClose={() => {
            pipeline.forgetUsed();
            trainButton.current?.focus();
          }}
          trans={trans}
        />
      )}
      <TabList
        id={id}
        label={trans.__('Data set')}
        tabs={tabs}
        selected={tab}
        onSelect={open}
      />
      {tabs.map(
        ({ id: name }) =>
          visited.has(name) && (
            <TabPanel key={name} id={id} tab={name} hidden={name !== tab}>
              <ErrorBoundary trans={trans}>{contents[name]()}</ErrorBoundary>
            </TabPanel>
          )
      )}
    </>
  );
}
