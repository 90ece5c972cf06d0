// Statistics of an array: histogram, mean, deviation, range, zeros and non-finite values.
import { formatSignificant, formatPercent } from '../../ui/number-format';
import { Histogram } from '../../runs/charts/Histogram';
import { useEditorContext } from '../context';
import { fullCount, shapeText } from '../model/shape-format';
import { ArrayStats } from '../samples/inspection-data';

export interface ArrayStatisticsProps {
  name: string;
  figures: ArrayStats;
}

export function ArrayStatistics({ name, figures }: ArrayStatisticsProps) {
  const { trans } = useEditorContext();
  const { histogram, not_finite: notFinite, counted, size } = figures;
  const facts: [string, string, string?][] = [
    [trans.__('Mean'), formatSignificant(figures.mean)],
    [
      trans.__('Std'),
      formatSignificant(figures.std),
      trans.__('Standard deviation')
    ],
    [trans.__('Min'), formatSignificant(figures.min), trans.__('Minimum')],
    [trans.__('Max'), formatSignificant(figures.max), trans.__('Maximum')],
    [
      trans.__('Zeros'),
      formatPercent(figures.zeros),
      trans.__('Fraction of zeros')
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
          title={trans.__('Infinite or NaN values')}
        >
          <dt>{trans.__('Not finite')}</dt>
          <dd>{notFinite === null ? '–' : fullCount(notFinite)}</dd>
        </div>
      </dl>
      {counted < size && (
        <p className="labdl-quiet">
          {trans.__(
            'sample of %1 of %2 values',
            fullCount(counted),
            fullCount(size)
          )}
        </p>
      )}
    </div>
  );
}
