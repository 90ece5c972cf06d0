// Button that copies a text and briefly confirms it.

import { useEffect, useState } from 'react';
import type { Translator } from './translator';

const SHOWN = 1500;

export interface CopyButtonProps {
  /** Called on click. */
  text: () => string;
  label: string;
  trans: Translator;
}

export function CopyButton({
  text,
  label,
  trans
}: CopyButtonProps): JSX.Element {
  const [state, setState] = useState<'idle' | 'copied' | 'refused'>('idle');
  useEffect(() => {
    if (state === 'idle') {
      return;
    }
    const timer = setTimeout(() => setState('idle'), SHOWN);
    return () => clearTimeout(timer);
  }, [state]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text());
      setState('copied');
    } catch {
      setState('refused'); // no permission, or a page without https
    }
  };
  const words = {
    idle: label,
    copied: trans.__('Copied'),
    refused: trans.__('The browser does not allow this page to copy')
  };
  return (
    <button
      type="button"
      className="labdl-dashboard-small labdl-copy"
      onClick={() => void copy()}
    >
      <span aria-live="polite">{words[state]}</span>
    </button>
  );
}
