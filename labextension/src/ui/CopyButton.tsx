// Button that copies a text and briefly confirms it.

import { useEffect, useState } from 'react';
import { Icon } from './Icon';
import type { Translator } from './translator';

const SHOWN = 1500;

export interface CopyButtonProps {
  /** Called on click. */
  text: () => string;
  label: string;
  /** Whether it is an icon, with its words as a tooltip. */
  isIcon?: boolean;
  trans: Translator;
}

export function CopyButton({
  text,
  label,
  isIcon = false,
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
  if (isIcon) {
    return (
      <button
        type="button"
        className="labdl-icon-button labdl-copy"
        aria-label={label}
        title={words[state]}
        data-state={state}
        onClick={() => void copy()}
      >
        <Icon name={state === 'copied' ? 'check' : 'copy'} />
        <span aria-live="polite" className="labdl-copy-words">
          {state !== 'idle' && words[state]}
        </span>
      </button>
    );
  }
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
