// An array in figures: histogram, mean, deviation, range, zeros, and what is not a number.
import { numberText, shareText } from '../dashboard/format';
import { Histogram } from '../dashboard/Histogram';
import { useEditorContext } from './context';
import { fullCount, shapeText } from './format';
import { ArrayFigures } from './looking';

export interface FigureListProps {
  name: string;
  figures: ArrayFigures;
}

export function FigureList({ name, figures }: FigureListProps) {
  const { trans } = useEditorContext();
  const { histogram, not_finite: notFinite, counted, size } = figures;
  const facts: [string, string, string?][] = [
    [trans.__('Mean'), numberText(figures.mean)],
    [trans.__('Std'), numberText(figures.std), trans.__('Standard deviation')],
    [trans.__('Min'), numberText(figures.min), trans.__('Minimum')],
    [trans.__('Max'), numberText(figures.max), trans.__('Maximum')],
    [
      trans.__('Zeros'),
      shareText(figures.zeros),
      trans.__('Share of the values that are 0')
    ]
  ];
  return (
    <div className="labdl-array">
      <div className="labdl-array-head">
        <strong title={name}>{name}</strong>
        <span>
          {shapeText(figures.shape, trans.__('one number'))}{' '}
          <small>{figures.dtype}</small>
        </span>
      </div>
      {histogram && <Histogram data={histogram} name={name} trans={trans} />}
      <dl className="labdl-figures">
        {facts.map(([term, value, title]) => (
          <div key={term} title={title}>
            <dt>{term}</dt>
            <dd>{value}</dd>
          </div>
        ))}
        <div
          className={notFinite ? 'labdl-mod-problem' : ''}
          title={trans.__('Values that are infinite or not a number (NaN)')}
        >
          <dt>{trans.__('Not finite')}</dt>
          <dd>{notFinite === null ? '–' : fullCount(notFinite)}</dd>
        </div>
      </dl>
      {counted < size && (
        <p className="labdl-quiet">
          {trans.__(
            'from %1 of %2 values',
            fullCount(counted),
            fullCount(size)
          )}
        </p>
      )}
    </div>
  );
}
