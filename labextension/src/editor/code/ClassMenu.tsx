// List of a kernel's classes over the canvas; the chosen one is added to the graph.
import { KeyboardEvent, RefObject, useEffect, useRef, useState } from 'react';

import { EditorActions } from '../commands/actions';
import { KernelClass, KernelClasses } from './kernel-classes';
import { useEditorContext } from '../context';
import { EditorHost } from '../host';
import { IconButton } from '../../ui/Icon';
import { Translator } from '../../ui/translator';

export interface ClassMenuProps {
  found: KernelClasses;
  onChoose: (chosen: KernelClass) => void;
  onClose: () => void;
}

export function ClassMenu({ found, onChoose, onClose }: ClassMenuProps) {
  const { trans } = useEditorContext();
  const menu = useRef<HTMLDivElement>(null);
  useEffect(() => {
    menu.current?.querySelector('button')?.focus();
  }, []);
  const keyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const all = [...(menu.current?.querySelectorAll('li button') ?? [])];
    const at = all.indexOf(document.activeElement as Element);
    if (event.key === 'Escape') {
      event.stopPropagation();
      onClose();
    } else if (step && all.length) {
      event.preventDefault();
      const next = all[(at + step + all.length) % all.length];
      (next as HTMLElement).focus();
    }
  };
  return (
    <div
      ref={menu}
      className="labdl-class-menu nokey"
      role="dialog"
      aria-label={trans.__('Classes of the kernel')}
      onKeyDown={keyDown}
      onBlur={event => {
        const next = event.relatedTarget;
        if (next instanceof Node && !event.currentTarget.contains(next)) {
          onClose();
        }
      }}
    >
      <ul>
        {found.classes.map(one => (
          <li key={one.name}>
            <button
              type="button"
              title={one.problem ?? one.summary}
              onClick={() => onChoose(one)}
            >
              <span className="labdl-class-name">{one.name}</span>
              <span className="labdl-class-kind">
                {one.layer !== null ? trans.__('Layer') : trans.__('Block')}
              </span>
              <span className="labdl-class-summary">
                {one.problem ?? one.summary}
              </span>
            </button>
          </li>
        ))}
      </ul>
      <div className="labdl-class-foot">
        <span title={found.from}>
          {found.from ?? trans.__('Classes of the kernel')}
        </span>
        <IconButton icon="close" label={trans.__('Close')} onClick={onClose} />
      </div>
    </div>
  );
}

/** Asks the host for classes and shows them; does nothing if the host has no kernel. */
export function useClassMenu(
  host: EditorHost,
  say: (notice: string) => void,
  trans: Translator,
  canvas: RefObject<HTMLElement | null>
) {
  const [found, setFound] = useState<KernelClasses | null>(null);
  const ask = async () => {
    try {
      const answer = await host.classes?.();
      if (answer && answer.classes.length === 0) {
        say(
          trans.__(
            'This kernel has no subclass of nn.Module: run the cell that defines one.'
          )
        );
        return;
      }
      setFound(answer ?? null);
    } catch (error) {
      // Errors of the kernel are shown to the user.
      const message = error instanceof Error ? error.message : String(error);
      say(
        trans.__('The classes of the kernel could not be listed: %1', message)
      );
    }
  };
  const close = () => {
    setFound(null);
    canvas.current?.focus({ preventScroll: true });
  };
  const show = (actions: EditorActions) =>
    found && (
      <ClassMenu
        found={found}
        onClose={close}
        onChoose={chosen => {
          close();
          void actions.addClass(chosen);
        }}
      />
    );
  return { ask, show };
}
