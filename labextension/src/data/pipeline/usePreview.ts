// React hook for what the steps make of a sample; only the latest question counts.

import { useEffect, useState } from 'react';
import type { PreviewAnswer } from '../../api/data';
import { errorText } from '../error-text';
import type { DataHost, PreviewQuery } from '../host';

/** Milliseconds after the last change. */
const WAIT = 150;

export interface Preview {
  answer: PreviewAnswer | null;
  /** The question of the answer. */
  query: PreviewQuery | null;
  problem: string | null;
  isWaiting: boolean;
}

interface Answered {
  /** The last question. */
  text: string | null;
  answer: PreviewAnswer | null;
  query: PreviewQuery | null;
  problem: string | null;
}

/** Null asks for nothing. */
export function usePreview(
  host: DataHost,
  query: PreviewQuery | null
): Preview {
  const [answered, setAnswered] = useState<Answered>({
    text: null,
    answer: null,
    query: null,
    problem: null
  });
  const text = query && JSON.stringify(query);
  useEffect(() => {
    if (text === null) {
      return;
    }
    const controller = new AbortController();
    const { signal } = controller;
    const timer = setTimeout(() => {
      const request = JSON.parse(text) as PreviewQuery;
      host.preview(request, signal).then(
        answer => {
          if (!signal.aborted) {
            setAnswered({ text, answer, query: request, problem: null });
          }
        },
        (error: unknown) => {
          if (!signal.aborted) {
            const problem = errorText(error);
            setAnswered(last => ({ ...last, text, problem }));
          }
        }
      );
    }, WAIT);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [host, text]);
  const { answer, query: asked, problem } = answered;
  return {
    answer,
    query: asked,
    problem,
    isWaiting: text !== null && text !== answered.text
  };
}
