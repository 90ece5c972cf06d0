// Where a failed run came to its end, as Python told it.

import { useCode } from './code';
import { CopyButton } from './CopyButton';
import type { LoggedEvent } from '../parts/logged';
import type { RunSource } from '../source';
import type { Translator } from '../translator';

/** The file in the folder of a run that has it. */
export const ERROR_FILE = 'error.txt';

export interface TracebackProps {
  source: RunSource;
  /** The last end of the run, if it has ended. */
  end: LoggedEvent | undefined;
  trans: Translator;
}

export function Traceback(props: TracebackProps): JSX.Element | null {
  const { source, end, trans } = props;
  const isFailed = end?.kind === 'end' && end.status === 'failed';
  const { files } = useCode(source, isFailed);
  const text = files?.[ERROR_FILE];
  return isFailed && text ? (
    <details className="labdl-code-file" open>
      <summary>{trans.__('Traceback')}</summary>
      <CopyButton label={trans.__('Copy')} text={() => text} trans={trans} />
      <pre tabIndex={0}>{text}</pre>
    </details>
  ) : null;
}
