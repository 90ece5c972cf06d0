// Message in the status bar.
import { useCallback, useEffect, useState } from 'react';

import type { GraphDocument } from './model/document';

const NOTICE_TIME = 5000;

/** A message that disappears after a few seconds, and with the next change of the graph. */
export function useNotice(
  document: Pick<GraphDocument, 'subscribe'>
): [string, (notice: string) => void] {
  const [notice, setNotice] = useState({ text: '' });
  const say = useCallback((text: string) => setNotice({ text }), []);
  useEffect(() => {
    if (notice.text === '') {
      return;
    }
    const clear = () => setNotice({ text: '' });
    const timer = setTimeout(clear, NOTICE_TIME);
    const leave = document.subscribe(clear);
    return () => {
      clearTimeout(timer);
      leave();
    };
  }, [document, notice]);
  return [notice.text, say];
}
