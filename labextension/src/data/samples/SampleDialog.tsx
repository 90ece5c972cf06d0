// Large view of a sample with all of its parts, over the page; the arrows show its neighbors.

import { useEffect, useId, useRef, useState, type KeyboardEvent } from 'react';
import type { SampleView } from '../../api/data';
import { IconButton } from '../../ui/Icon';
import { formatCount } from '../../ui/number-format';
import type { Translator } from '../../ui/translator';
import type { DataHost } from '../host';
import { colorOf } from '../parts/label-colors';
import { SampleParts } from './SampleParts';
import { useSample } from './useSample';

interface SampleDialogProps {
  position: number;
  total: number;
  label: string | null;
  host: DataHost;
  classes: readonly string[];
  onMove: (position: number) => void;
  onClose: () => void;
  /** Shows what the transforms make of the sample. */
  onPreview: (sample: SampleView) => void;
  trans: Translator;
}

export function SampleDialog(props: SampleDialogProps): JSX.Element {
  const { position, total, label, host, classes, onMove, trans } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const title = useId();
  const { sample, problem } = useSample(host, position, label);
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    dialog.current?.showModal();
    setOpen(true);
  }, []);

  const move = (by: number) => {
    const next = position + by;
    if (next >= 0 && next < total) {
      onMove(next);
    }
  };
  const keyDown = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by && !event.altKey && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      move(by);
    }
    event.stopPropagation(); // the page behind has keys of its own
  };

  return (
    <dialog
      ref={dialog}
      className="labdl-data-dialog"
      aria-labelledby={title}
      onCancel={event => {
        event.preventDefault();
        props.onClose();
      }}
      onKeyDown={keyDown}
      onClick={event => event.target === dialog.current && props.onClose()}
    >
      {isOpen && (
        <div className="labdl-data-large" data-ready={sample !== undefined}>
          <header>
            <h2 id={title} title={sample?.name}>
              {sample?.name ?? trans.__('Sample %1', position + 1)}
            </h2>
            {sample?.label && (
              <span className="labdl-data-label">
                <span
                  className="labdl-data-dot"
                  data-hue={colorOf(sample.label, classes)}
                />
                <span className="labdl-data-label-text" title={sample.label}>
                  {sample.label}
                </span>
              </span>
            )}
            <span className="labdl-data-quiet" aria-live="polite">
              {trans.__(
                '%1 of %2',
                formatCount(position + 1),
                formatCount(total)
              )}
            </span>
            <span className="labdl-data-buttons">
              <IconButton
                icon="back"
                label={trans.__('Previous sample')}
                disabled={position === 0}
                onClick={() => move(-1)}
              />
              <IconButton
                icon="chevron"
                label={trans.__('Next sample')}
                disabled={position >= total - 1}
                onClick={() => move(1)}
              />
              <IconButton
                icon="close"
                label={trans.__('Close')}
                onClick={props.onClose}
              />
            </span>
          </header>
          {problem ? (
            <p className="labdl-data-problem" role="alert">
              {problem}
            </p>
          ) : (
            sample && (
              <SampleParts
                key={sample.index}
                sample={sample}
                host={host}
                classes={classes}
                trans={trans}
              />
            )
          )}
          {sample && !sample.problem && (
            <footer>
              <button type="button" onClick={() => props.onPreview(sample)}>
                {trans.__('Preview the transforms')}
              </button>
            </footer>
          )}
        </div>
      )}
    </dialog>
  );
}
