// Traceback of a failed run.

import { useCode } from './code-files';
import { CopyButton } from '../../ui/CopyButton';
import type { LoggedEvent } from '../store/log';
import type { RunSource } from '../store/source';
import { terminalText } from '../../ui/terminal-text';
import type { Translator } from '../../ui/translator';

/** File in the folder of a run with the traceback. */
export const ERROR_FILE = 'error.txt';

export interface TracebackProps {
  source: RunSource;
  /** Last end event, if the run has ended. */
  end: LoggedEvent | undefined;
  trans: Translator;
}

export function Traceback(props: TracebackProps): JSX.Element | null {
  const { source, end, trans } = props;
  const isFailed = end?.kind === 'end' && end.status === 'failed';
  const { files } = useCode(source, isFailed);
  const text = terminalText(files?.[ERROR_FILE] ?? '');
  return isFailed && text ? (
    <details className="labdl-code-file" open>
      <summary>{trans.__('Traceback')}</summary>
      <CopyButton label={trans.__('Copy')} text={() => text} trans={trans} />
      <pre tabIndex={0}>{text}</pre>
    </details>
  ) : null;
}
