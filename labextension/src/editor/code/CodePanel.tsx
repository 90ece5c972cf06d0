// Python code of the model beside the canvas; changes on either side update the other.
import { useReactFlow, useStoreApi } from '@xyflow/react';
import {
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
  useSyncExternalStore
} from 'react';

import { isComposing } from '../../ui/composition';
import { writeClipboard } from '../../ui/clipboard';
import { CodeDivider } from './CodeDivider';
import { SourceEditor } from './source-editor';
import { CodeText } from './code-text';
import { useEditorContext } from '../context';
import { GraphDocument } from '../model/document';
import { EditorHost } from '../host';
import { IconButton } from '../../ui/Icon';
import { plainSource } from './plain-source-editor';
import { useLock } from '../model/useLock';

export interface CodePanelProps {
  host: EditorHost;
  document: GraphDocument;
  width: number;
  /** Number of requests for the panel: each one moves the focus to it. */
  requests: number;
  onResize: (width: number) => void;
  onClose: () => void;
  /** Returns the focus to the canvas. */
  onLeave: () => void;
}

export function CodePanel(props: CodePanelProps) {
  const { host, document, width, requests, onResize, onClose, onLeave } = props;
  const { trans } = useEditorContext();
  const [code] = useState(() => new CodeText(document, host));
  useEffect(() => code.start(), [code]);
  const { text, state, message, line } = useSyncExternalStore(
    code.subscribe,
    code.state
  );
  const isLocked = useLock(document) !== null;
  const place = useRef<HTMLDivElement>(null);
  const source = useRef<SourceEditor | null>(null);
  const label = trans.__('Python code of the model');

  useLayoutEffect(() => {
    const make = host.sourceEditor ?? plainSource;
    const made = make(place.current as HTMLElement, {
      label,
      changed: code.edit
    });
    source.current = made;
    return () => {
      source.current = null;
      made.dispose();
    };
  }, [host, code, label]);
  useLayoutEffect(() => source.current?.setText(text), [text]);
  useLayoutEffect(() => source.current?.mark(line), [line, text]);
  useLayoutEffect(
    () => source.current?.setReadOnly(isLocked),
    [isLocked, label]
  );
  useEffect(() => {
    if (requests) {
      source.current?.focus();
    }
  }, [requests]);

  // The center of the canvas stays in the center when the panel opens or closes.
  const { getViewport, setViewport } = useReactFlow();
  const store = useStoreApi();
  useEffect(() => {
    const shift = () => {
      // React Flow has not measured the canvas again yet; other panels may have closed too
      const { width, domNode } = store.getState();
      const by = ((domNode?.clientWidth ?? width) - width) / 2;
      const { x, y, zoom } = getViewport();
      void setViewport({ x: x + by, y, zoom });
    };
    shift();
    return shift;
  }, [store, getViewport, setViewport]);

  return (
    <>
      <CodeDivider width={width} onResize={onResize} />
      <section
        className="labdl-code nokey"
        style={{ width }}
        aria-label={trans.__('Python code')}
        onKeyDown={event => {
          // Escape closes the list of completions first
          if (
            event.key === 'Escape' &&
            !event.defaultPrevented &&
            !isComposing(event.nativeEvent)
          ) {
            event.stopPropagation();
            onLeave();
          }
        }}
      >
        <div className="labdl-code-head">
          <strong>{trans.__('Python code')}</strong>
          <IconButton
            icon="copy"
            label={trans.__('Copy the code')}
            onClick={() => void writeClipboard(text)}
          />
          {host.sendCode && (
            <IconButton
              icon="send"
              label={trans.__('Send the code to a notebook')}
              onClick={() => host.sendCode?.(text)}
            />
          )}
          <IconButton
            icon="close"
            label={trans.__('Close the code')}
            onClick={onClose}
          />
        </div>
        <div className="labdl-code-text" ref={place} />
        {state === 'unreadable' && (
          <div className="labdl-code-message labdl-mod-problem" role="alert">
            <p>{message}</p>
            <button type="button" onClick={code.takeBack}>
              {trans.__('Revert to the canvas')}
            </button>
          </div>
        )}
        {state === 'unwritable' && (
          <div className="labdl-code-message labdl-mod-problem" role="alert">
            <p>{trans.__('The code could not be written: %1', message)}</p>
          </div>
        )}
        <p className="labdl-code-state" aria-live="polite">
          {isLocked
            ? trans.__('The model cannot be edited now.')
            : words(state, trans.__.bind(trans))}
        </p>
      </section>
    </>
  );
}

function words(state: string, say: (text: string) => string): string {
  switch (state) {
    case 'writing':
      return say('Writing the code…');
    case 'edited':
      return say('Reading what you write…');
    case 'unreadable':
      return say('The canvas stays as it is until this can be read.');
    case 'unwritable':
      return say('The code is not that of the canvas.');
    default:
      return say('Code and canvas say the same.');
  }
}
