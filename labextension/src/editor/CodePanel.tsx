// The model as Python source, asked from the host, to read and to copy.
import { useEffect, useRef, useState } from 'react';

import { writeClipboard } from './clipboard';
import { useEditorContext } from './context';
import { EditorHost } from './host';
import { IconButton } from './Icon';
import { GraphData } from './model';

export interface CodePanelProps {
  host: EditorHost;
  graph: GraphData;
  onClose: () => void;
}

type Answer = { source: string } | { failure: string } | null;

export function CodePanel({ host, graph, onClose }: CodePanelProps) {
  const { trans } = useEditorContext();
  const [answer, setAnswer] = useState<Answer>(null);
  const panel = useRef<HTMLDivElement>(null);

  useEffect(() => {
    let isCurrent = true;
    host.code(graph).then(
      source => isCurrent && setAnswer({ source }),
      (error: unknown) =>
        isCurrent &&
        setAnswer({
          failure: error instanceof Error ? error.message : String(error)
        })
    );
    return () => {
      isCurrent = false;
    };
  }, [host, graph.nodes, graph.edges, graph.name]);

  useEffect(() => panel.current?.focus(), []);

  return (
    <div
      ref={panel}
      className="labdl-code"
      role="dialog"
      aria-label={trans.__('Python code of the model')}
      tabIndex={-1}
      onKeyDown={event => {
        if (event.key === 'Escape') {
          event.stopPropagation();
          onClose();
        }
      }}
    >
      <div className="labdl-code-head">
        <strong>{trans.__('Python code')}</strong>
        {answer && 'source' in answer && (
          <IconButton
            icon="copy"
            label={trans.__('Copy the code')}
            onClick={() => void writeClipboard(answer.source)}
          />
        )}
        <IconButton
          icon="close"
          label={trans.__('Close the code')}
          onClick={onClose}
        />
      </div>
      {answer === null && (
        <p className="labdl-code-message">{trans.__('Writing the code…')}</p>
      )}
      {answer && 'failure' in answer && (
        <p className="labdl-code-message labdl-mod-problem" role="alert">
          {trans.__('The code could not be written: %1', answer.failure)}
        </p>
      )}
      {answer && 'source' in answer && (
        <pre tabIndex={0}>
          <code>{answer.source}</code>
        </pre>
      )}
    </div>
  );
}
