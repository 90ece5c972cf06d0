// Icons of the editor, drawn in the color of the text.

const PATHS = {
  undo: 'M9 14 4 9l5-5M4 9h10a6 6 0 0 1 0 12h-3',
  redo: 'm15 14 5-5-5-5M20 9H10a6 6 0 0 0 0 12h3',
  layout: 'M9 3h6v5H9zM3 16h6v5H3zM15 16h6v5h-6zM12 8v4M6 16v-4h12v4',
  down: 'M12 4v15M6 13l6 6 6-6',
  up: 'M12 20V5M6 11l6-6 6 6',
  right: 'M4 12h15M13 6l6 6-6 6',
  fit: 'M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5',
  plus: 'M12 5v14M5 12h14',
  minus: 'M5 12h14',
  code: 'm8 7-5 5 5 5M16 7l5 5-5 5',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  send: 'M4 4h10v6M4 4v16h7M7 8h4M7 12h3M13 16h8M18 13l3 3-3 3',
  play: 'M7 4v16l13-8z',
  pause: 'M8 5v14M16 5v14',
  drag: 'M9 5v.1M15 5v.1M9 12v.1M15 12v.1M9 19v.1M15 19v.1',
  shuffle:
    'M3 7h4l9 10h5M18 14l3 3-3 3M3 17h4l3-3.3M13 10.3l3-3.3h5M18 4l3 3-3 3',
  remove: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13',
  close: 'M6 6l12 12M18 6 6 18',
  check: 'm5 12.5 4.5 4.5L19 7',
  chevron: 'm9 6 6 6-6 6',
  back: 'm15 6-6 6 6 6',
  sample:
    'M2 12c3-5 6.4-7 10-7s7 2 10 7c-3 5-6.4 7-10 7s-7-2-10-7zM12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6',
  pulse: 'M3 12h4l3-7 4 14 3-7h4',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14M16 16l5 5',
  star: 'm12 3.5 2.6 5.5 6 .8-4.4 4.2 1.1 6-5.3-2.9L6.7 20l1.1-6-4.4-4.2 6-.8z',
  lock: 'M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3',
  history: 'M4 5v5h5M4.6 10a8 8 0 1 1-.4 4M12 8v4.5l3 2',
  link: 'M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1',
  note: 'M5 4h14v10l-6 6H5zM19 14h-6v6M8.5 8.5h7M8.5 12h3',
  kernel:
    'M7 7h10v10H7zM10 3v4M14 3v4M10 17v4M14 17v4M3 10h4M3 14h4M17 10h4M17 14h4',
  wrench: 'M14 6.5a4 4 0 0 0-5 5L4 16.5V20h3.5l5-5a4 4 0 0 0 5-5L15 12l-3-3z',
  info: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M12 11v6M12 7v.5',
  warning: 'M12 4 2.5 20h19zM12 10v5M12 17.5v.5'
};

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="labdl-icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}

export interface IconButtonProps {
  icon: IconName;
  label: string;
  onClick: () => void;
  disabled?: boolean;
  className?: string;
}

export function IconButton(props: IconButtonProps) {
  return (
    <button
      type="button"
      className={`labdl-icon-button ${props.className ?? ''}`}
      aria-label={props.label}
      title={props.label}
      disabled={props.disabled}
      onClick={props.onClick}
    >
      <Icon name={props.icon} />
    </button>
  );
}
