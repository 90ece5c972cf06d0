// Samples of a data set: a grid that is filtered by class, with a large view of one sample.

import { useId, useState } from 'react';
import type { DatasetSummary, SampleView } from '../../api/data';
import { formatCount } from '../../ui/number-format';
import { useStoredChoice } from '../../ui/stored-choice';
import type { Translator } from '../../ui/translator';
import type { DataHost } from '../host';
import { Segments } from '../Segments';
import { SampleDialog } from './SampleDialog';
import { SampleGrid } from './SampleGrid';
import { pictureSize, TILE_SIZES } from './tile-sizes';
import { useSamplePages } from './useSamplePages';

interface SamplesTabProps {
  summary: DatasetSummary;
  host: DataHost;
  /** Class whose samples are shown; null shows all. */
  label: string | null;
  onLabel: (label: string | null) => void;
  onPreview: (sample: SampleView) => void;
  trans: Translator;
}

export function SamplesTab(props: SamplesTabProps): JSX.Element {
  const { summary, host, label, onLabel, trans } = props;
  const [size, setSize] = useStoredChoice('data-tiles', TILE_SIZES, 'medium');
  const density = typeof devicePixelRatio === 'number' ? devicePixelRatio : 1;
  const pages = useSamplePages(
    host,
    label,
    pictureSize(size, density),
    summary.samples
  );
  const [open, setOpen] = useState<number | null>(null);
  const [returned, setReturned] = useState<number | null>(null);
  const field = useId();
  const classes = summary.classes ?? [];
  // the first answer tells how many samples a class has
  const total = pages.total ?? 1;
  const sizes = {
    small: trans.__('Small'),
    medium: trans.__('Medium'),
    large: trans.__('Large')
  };

  if (summary.samples === 0) {
    return (
      <p className="labdl-data-empty">
        {trans.__(
          'This data set has no samples. Put files of its kind into the folder and open it again.'
        )}
      </p>
    );
  }
  return (
    <div className="labdl-data-samples">
      <div className="labdl-data-bar">
        {classes.length > 0 && (
          <>
            <label htmlFor={field}>{trans.__('Class')}</label>
            <select
              id={field}
              value={label === null ? '' : `=${label}`}
              onChange={({ target }) =>
                onLabel(target.value === '' ? null : target.value.slice(1))
              }
            >
              <option value="">{trans.__('All classes')}</option>
              {classes.map(name => (
                <option key={name} value={`=${name}`}>
                  {name}
                </option>
              ))}
            </select>
          </>
        )}
        <span className="labdl-data-quiet" aria-live="polite">
          {pages.total !== null &&
            trans._n(
              '%2 sample',
              '%2 samples',
              pages.total,
              formatCount(pages.total)
            )}
        </span>
        <Segments
          label={trans.__('Size of the pictures')}
          choices={TILE_SIZES.map(id => ({ id, label: sizes[id] }))}
          chosen={size}
          onChoose={setSize}
        />
      </div>
      {pages.problem && (
        <div className="labdl-data-notice" role="alert">
          <span>{pages.problem}</span>
          <button type="button" onClick={() => pages.retry()}>
            {trans.__('Try again')}
          </button>
        </div>
      )}
      {total === 0 ? (
        <p className="labdl-data-empty">
          {trans.__('No sample has this class.')}
        </p>
      ) : (
        <SampleGrid
          pages={pages}
          total={total}
          size={size}
          classes={classes}
          returned={returned}
          onOpen={position => {
            setReturned(null);
            setOpen(position);
          }}
          trans={trans}
        />
      )}
      {open !== null && (
        <SampleDialog
          position={open}
          total={total}
          label={label}
          host={host}
          classes={classes}
          onMove={setOpen}
          onClose={() => {
            setReturned(open);
            setOpen(null);
          }}
          onPreview={sample => {
            setOpen(null);
            props.onPreview(sample);
          }}
          trans={trans}
        />
      )}
    </div>
  );
}
