// Menu of a chart: save it as an image or as a table.

import {
  useEffect,
  useId,
  useRef,
  useState,
  type MutableRefObject
} from 'react';
import { csv, type Column } from './chart-table';
import { png, svg } from './chart-image';
import type { Plot } from './plot';
import type { Translator } from '../../ui/translator';

export interface ChartMenuProps {
  /** Name of the chart, and of the saved files. */
  name: string;
  plot: MutableRefObject<Plot | null>;
  table: () => Column[];
  trans: Translator;
}

export function ChartMenu(props: ChartMenuProps): JSX.Element {
  const { name, plot, table, trans } = props;
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const root = useRef<HTMLSpanElement>(null);
  const items: [
    label: string,
    make: () => Promise<Blob> | Blob,
    end: string
  ][] = [
    [trans.__('Download as PNG'), () => png(name, plot.current as Plot), 'png'],
    [trans.__('Download as SVG'), () => svg(name, plot.current as Plot), 'svg'],
    [
      trans.__('Download as CSV'),
      () => new Blob([csv(table())], { type: 'text/csv' }),
      'csv'
    ]
  ];

  useEffect(() => {
    if (!isOpen) {
      return;
    }
    root.current?.querySelector<HTMLElement>('[role="menuitem"]')?.focus();
    const away = (event: Event) => {
      if (!root.current?.contains(event.target as Node)) {
        setOpen(false);
      }
    };
    document.addEventListener('pointerdown', away, true);
    return () => document.removeEventListener('pointerdown', away, true);
  }, [isOpen]);

  const close = () => {
    setOpen(false);
    root.current?.querySelector<HTMLElement>('button')?.focus();
  };
  const choose = async (make: () => Promise<Blob> | Blob, end: string) => {
    close();
    download(await make(), `${fileName(name)}.${end}`);
  };
  return (
    <span className="labdl-chart-menu" ref={root}>
      <button
        type="button"
        className="labdl-chart-more"
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        aria-label={trans.__('Download %1', name)}
        title={trans.__('Download this chart')}
        onClick={() => setOpen(!isOpen)}
      >
        <svg viewBox="0 0 16 16" width="12" height="12" aria-hidden="true">
          <path d="M7 2h2v6h3l-4 4-4-4h3zM3 13h10v1.5H3z" fill="currentColor" />
        </svg>
      </button>
      {isOpen && (
        <div
          role="menu"
          id={id}
          className="labdl-chart-items"
          aria-label={trans.__('Download %1', name)}
          onKeyDown={event => {
            const all = [
              ...event.currentTarget.querySelectorAll<HTMLElement>(
                '[role="menuitem"]'
              )
            ];
            const at = all.indexOf(document.activeElement as HTMLElement);
            const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
            if (event.key === 'Escape' || event.key === 'Tab') {
              close();
            } else if (by) {
              all[(at + by + all.length) % all.length].focus();
            } else {
              return;
            }
            event.preventDefault();
            event.stopPropagation();
          }}
        >
          {items.map(([label, make, end]) => (
            <button
              key={end}
              type="button"
              role="menuitem"
              tabIndex={-1}
              data-download={end}
              onClick={() => void choose(make, end)}
            >
              {label}
            </button>
          ))}
        </div>
      )}
    </span>
  );
}

function fileName(name: string): string {
  return name.replace(/[^\p{L}\p{N}._-]+/gu, '-').slice(0, 80) || 'chart';
}

function download(content: Blob, name: string): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // revoke only after the browser has started the download
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
