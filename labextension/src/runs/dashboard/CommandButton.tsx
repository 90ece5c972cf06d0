// Button of a command: icon, label, and whether an answer is pending.

import type { RunCommand } from '../store/source';

const ICONS: Record<
  Exclude<RunCommand, 'learning_rate' | 'add_epochs' | 'save_to'>,
  string
> = {
  pause: 'M4 3h3v10H4zM9 3h3v10H9z',
  resume: 'M5 3l8 5-8 5z',
  step: 'M3 3l6 5-6 5zM10 3h3v10h-3z',
  stop: 'M4 4h8v8H4z',
  checkpoint: 'M7 2h2v5h3L8 11 4 7h3zM3 12h10v2H3z',
  branch:
    'M4 2h2v5.2A5 5 0 0 1 8 6.5 2.5 2.5 0 0 0 10.4 5H9l2-3 2 3h-1.2A4 4 0 0 1 8 8.200A2.500 2.500 0 0 0 6 10v4H4z'
};

export interface CommandButtonProps {
  name: keyof typeof ICONS;
  label: string;
  title: string;
  isPending: boolean;
  isEnabled: boolean;
  /** Whether the form that it opens is open; omitted where it opens nothing. */
  isOpen?: boolean;
  onClick: () => void;
}

export function CommandButton(props: CommandButtonProps): JSX.Element {
  const { name, label, title, isPending, isOpen } = props;
  return (
    <button
      type="button"
      className="labdl-dashboard-command"
      data-command={name}
      aria-label={title}
      aria-busy={isPending}
      aria-expanded={isOpen}
      aria-haspopup={isOpen === undefined ? undefined : 'dialog'}
      title={title}
      disabled={isPending || !props.isEnabled}
      onClick={props.onClick}
    >
      <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
        <path d={ICONS[name]} fill="currentColor" />
      </svg>
      <span>{label}</span>
    </button>
  );
}
