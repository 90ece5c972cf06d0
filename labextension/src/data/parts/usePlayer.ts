// React hook for the player of a sound or a clip, whose file is requested on the first play.

import { useEffect, useRef, useState, type RefCallback } from 'react';
import type { MediaAnswer } from '../../api/data';
import type { Translator } from '../../ui/translator';
import { errorText } from '../error-text';
import { mediaUrl } from './media-url';

export type LoadMedia = (signal: AbortSignal) => Promise<MediaAnswer>;

export interface Player {
  state: 'idle' | 'loading' | 'playing';
  /** Share that was played; undefined before the start and after the end. */
  played: number | undefined;
  problem: string | null;
  toggle: () => void;
  /** Properties of the element that plays. */
  media: {
    ref: RefCallback<HTMLMediaElement>;
    src: string | undefined;
    onPlay: () => void;
    onPause: () => void;
    onEnded: () => void;
    onTimeUpdate: () => void;
    onError: () => void;
  };
}

/** The element that plays: one at a time. */
let playing: HTMLMediaElement | null = null;

/** `load` stays the same function as long as it is about the same file. */
export function usePlayer(load: LoadMedia, trans: Translator): Player {
  const element = useRef<HTMLMediaElement | null>(null);
  const request = useRef<AbortController | null>(null);
  const [url, setUrl] = useState<string | undefined>();
  const [state, setState] = useState<Player['state']>('idle');
  const [played, setPlayed] = useState<number | undefined>();
  const [problem, setProblem] = useState<string | null>(null);

  // another file: nothing of the last one goes on
  useEffect(
    () => () => {
      request.current?.abort();
      setUrl(undefined);
      setState('idle');
      setPlayed(undefined);
      setProblem(null);
    },
    [load]
  );
  useEffect(() => {
    if (!url) {
      return;
    }
    start();
    return () => URL.revokeObjectURL(url);
  }, [url]);

  const fail = (text: string) => {
    setState('idle');
    setProblem(text);
  };
  const cannotPlay = () =>
    fail(
      trans.__(
        'The browser cannot play this file: its format or its sampling rate is not supported.'
      )
    );
  const start = () => {
    void element.current?.play()?.catch((error: unknown) => {
      if (!(error instanceof Error) || error.name !== 'AbortError') {
        cannotPlay(); // a pause before the start is an AbortError
      }
    });
  };
  const fetchFile = async () => {
    const controller = new AbortController();
    request.current = controller;
    setState('loading');
    try {
      const answer = await load(controller.signal);
      if (!controller.signal.aborted) {
        setUrl(mediaUrl(answer));
      }
    } catch (error) {
      if (!controller.signal.aborted) {
        fail(errorText(error));
      }
    }
  };
  const toggle = () => {
    setProblem(null);
    if (state === 'playing') {
      element.current?.pause();
    } else if (url) {
      start();
    } else if (state === 'idle') {
      void fetchFile();
    }
  };

  return {
    state,
    played,
    problem,
    toggle,
    media: {
      ref: next => {
        element.current = next;
      },
      src: url,
      onPlay: () => {
        if (playing !== element.current) {
          playing?.pause();
          playing = element.current;
        }
        setState('playing');
      },
      onPause: () => setState('idle'),
      onEnded: () => {
        setState('idle');
        setPlayed(undefined);
      },
      onTimeUpdate: () => {
        const { currentTime, duration } = element.current as HTMLMediaElement;
        setPlayed(currentTime > 0 ? currentTime / (duration || 1) : undefined);
      },
      onError: cannotPlay
    }
  };
}
