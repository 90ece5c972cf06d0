// Log of a run in words, newest last; it scrolls along while the end is visible.

import { memo, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { formatCount, formatTime } from '../../ui/number-format';
import type { LoggedEvent } from '../store/log';
import type { Translator } from '../../ui/translator';
import type { TabProps } from '.';
import { CopyButton } from '../../ui/CopyButton';
import { EmptyState } from '../../ui/EmptyState';
import { Traceback } from './Traceback';
import { LOG_LEVELS, logLevel, logText, type LogLevel } from './log-text';

/** Maximum distance (pixels) to the end that counts as the end. */
const NEAR = 8;

export function LogTab({ view, source, trans }: TabProps): JSX.Element {
  const { lines, forgotten } = view.log;
  const [least, setLeast] = useState<LogLevel>('info');
  const shown = useMemo(
    () =>
      lines
        .map(({ number, event }) => ({
          number,
          event,
          level: logLevel(event)
        }))
        .filter(
          ({ level }) => LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(least)
        ),
    [lines, least]
  );
  const frame = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const end = [...lines]
    .reverse()
    .find(({ event }) => event.kind === 'end')?.event;
  useLayoutEffect(() => {
    if (frame.current && follows.current) {
      frame.current.scrollTop = frame.current.scrollHeight;
    }
  }, [shown]);
  if (!lines.length) {
    return (
      <EmptyState>
        {trans.__(
          'Epochs, commands, checkpoints, alerts, Python warnings and errors appear here when the run starts.'
        )}
      </EmptyState>
    );
  }
  const words = ({ event, level }: (typeof shown)[number]) =>
    [
      formatTime(event.time),
      levelNames(trans)[level],
      logText(event, trans)
    ].join('  ');
  return (
    <div className="labdl-log">
      <div className="labdl-tab-tools">
        <label>
          {trans.__('Show')}{' '}
          <select
            value={least}
            onChange={event => setLeast(event.target.value as LogLevel)}
          >
            <option value="debug">{trans.__('everything')}</option>
            <option value="info">{trans.__('info and above')}</option>
            <option value="warning">{trans.__('warnings and errors')}</option>
            <option value="error">{trans.__('errors')}</option>
          </select>
        </label>
        <CopyButton
          label={trans.__('Copy all')}
          text={() => shown.map(words).join('\n')}
          trans={trans}
        />
        {forgotten > 0 && (
          <span className="labdl-tab-note">
            {trans._n(
              '%2 earlier line is in the run’s folder.',
              '%2 earlier lines are in the run’s folder.',
              forgotten,
              formatCount(forgotten)
            )}
          </span>
        )}
      </div>
      <div
        className="labdl-log-lines"
        ref={frame}
        role="log"
        aria-label={trans.__('Log of the run')}
        tabIndex={0}
        onScroll={({ currentTarget: at }) => {
          follows.current =
            at.scrollHeight - at.scrollTop - at.clientHeight < NEAR;
        }}
      >
        {shown.map(line => (
          <Line key={line.number} {...line} trans={trans} />
        ))}
      </div>
      <Traceback source={source} end={end} trans={trans} />
      {!shown.length && (
        <p className="labdl-tab-note">
          {trans.__('No messages of this level.')}
        </p>
      )}
    </div>
  );
}

/** Memoized, since lines never change and there may be two thousand of them. */
const Line = memo(function Line({
  event,
  level,
  trans
}: {
  event: LoggedEvent;
  level: LogLevel;
  trans: Translator;
}): JSX.Element {
  return (
    <div className="labdl-log-line" data-level={level} data-kind={event.kind}>
      <time>{formatTime(event.time)}</time>
      <span className="labdl-level" data-level={level}>
        {levelNames(trans)[level]}
      </span>
      <span className="labdl-log-words" dir="auto">
        {logText(event, trans)}
      </span>
    </div>
  );
});

function levelNames(trans: Translator): Record<LogLevel, string> {
  return {
    debug: trans.__('Debug'),
    info: trans.__('Info'),
    warning: trans.__('Warning'),
    error: trans.__('Error')
  };
}
