// Search field over the canvas: the number of matches, and the previous and next one.
import {
  KeyboardEvent,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore
} from 'react';

import { useEditorContext } from '../context';
import { Icon, IconButton } from '../../ui/Icon';
import { GraphData, LayerTable } from '../model/graph-data';
import { findLayers } from './find-layers';

export interface FindBarProps {
  graph: GraphData;
  layers: LayerTable;
  /** Number of requests to search; each moves the focus into the field. */
  requests: number;
  onShow: (id: string) => void;
  onClose: () => void;
}

export function FindBar(props: FindBarProps) {
  const { graph, layers, requests, onShow, onClose } = props;
  const { checks, trans } = useEditorContext();
  const state = useSyncExternalStore(checks.subscribe, checks.state);
  const [query, setQuery] = useState('');
  /** The match that is shown; null before the first. */
  const [shown, setShown] = useState<string | null>(null);
  const input = useRef<HTMLInputElement>(null);
  const matches = useMemo(
    () => findLayers(query, graph, layers, id => checks.node(id), trans),
    // the results of the check are outside of React: `state` says when they change
    [query, graph, layers, checks, state, trans]
  );
  const at = shown === null ? -1 : matches.indexOf(shown);

  useLayoutEffect(() => {
    input.current?.focus({ preventScroll: true });
    input.current?.select();
  }, [requests]);

  const show = (id: string | undefined) => {
    if (id !== undefined) {
      setShown(id);
      onShow(id);
    }
  };
  const move = (step: number) => {
    const from = at < 0 && step < 0 ? 0 : at;
    show(matches[(from + step + matches.length) % matches.length]);
  };

  // The first match is shown while the query is typed.
  const first = matches[0];
  const showFirst = useRef(show);
  useEffect(() => {
    showFirst.current = show;
  });
  useEffect(() => {
    if (query.trim()) {
      showFirst.current(first);
    }
  }, [query, first]);

  const keyDown = (event: KeyboardEvent) => {
    // Keys must not reach the shortcuts of the canvas.
    event.stopPropagation();
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Escape') {
      onClose();
    } else if (event.key === 'Enter') {
      move(event.shiftKey ? -1 : 1);
    } else if (step !== undefined) {
      move(step);
    } else {
      return;
    }
    event.preventDefault();
  };

  return (
    <div
      className="labdl-find"
      role="search"
      aria-label={trans.__('Find layers')}
    >
      <div className="labdl-search">
        <Icon name="search" />
        <input
          ref={input}
          type="text"
          value={query}
          placeholder={trans.__('Name, type, setting, shape, problem')}
          aria-label={trans.__('Find layers')}
          autoComplete="off"
          spellCheck={false}
          onChange={event => setQuery(event.target.value)}
          onKeyDown={keyDown}
        />
      </div>
      <span className="labdl-find-count" role="status">
        {query.trim() &&
          (matches.length
            ? trans.__('%1 of %2', Math.max(0, at) + 1, matches.length)
            : trans.__('No layer'))}
      </span>
      <IconButton
        icon="up"
        label={trans.__('Previous match (Shift+Enter)')}
        disabled={!matches.length}
        onClick={() => move(-1)}
      />
      <IconButton
        icon="down"
        label={trans.__('Next match (Enter)')}
        disabled={!matches.length}
        onClick={() => move(1)}
      />
      <IconButton
        icon="close"
        label={trans.__('Close (Esc)')}
        onClick={onClose}
      />
    </div>
  );
}
