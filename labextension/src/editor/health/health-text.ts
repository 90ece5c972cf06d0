// Texts for the health of a layer: tooltips, screen readers and the inspector.
import { HealthFigure, LayerHealth } from '../../runs/store/health-figures';
import { Fault, Measured } from './health-store';
import { formatSignificant, formatPercent } from '../../ui/number-format';
import { Translator } from '../../ui/translator';

export function faultText(what: Fault['what'], trans: Translator): string {
  switch (what) {
    case 'gradient':
      return trans.__('The gradient first became infinite or NaN here.');
    case 'update':
      return trans.__('An update made the parameters infinite or NaN here.');
    case 'inputs':
      return trans.__('The input data contained infinite or NaN values.');
    default:
      return trans.__('The output first became infinite or NaN here.');
  }
}

/** The figures of a layer with their names and formatted values. */
export function healthFacts(
  health: LayerHealth,
  trans: Translator
): { figure: HealthFigure; term: string; text: string; hint: string }[] {
  const number = (value: number) => formatSignificant(value, 3);
  const facts: [
    HealthFigure,
    string,
    string,
    ((value: number) => string) | undefined
  ][] = [
    [
      'gradient',
      trans.__('Gradient'),
      trans.__(
        'Norm of the gradient of the loss with respect to the parameters'
      ),
      undefined
    ],
    [
      'update',
      trans.__('Update'),
      trans.__(
        'Norm of the update of a step relative to the norm of the weights'
      ),
      value => `${formatSignificant(value * 100, 2)} %`
    ],
    [
      'weights',
      trans.__('Weights'),
      trans.__('Norm of the parameters'),
      undefined
    ],
    ['mean', trans.__('Mean'), trans.__('Mean of the output'), undefined],
    [
      'std',
      trans.__('Std'),
      trans.__('Standard deviation of the output'),
      undefined
    ],
    [
      'largest',
      trans.__('Largest'),
      trans.__('Largest magnitude in the output'),
      undefined
    ],
    [
      'zeros',
      trans.__('Zeros'),
      trans.__('Fraction of zeros in the output'),
      value => formatPercent(value)
    ],
    [
      'notFinite',
      trans.__('Not finite'),
      trans.__('Infinite or NaN values'),
      undefined
    ]
  ];
  return facts.flatMap(([figure, term, hint, write]) => {
    const value = health[figure];
    if (value === undefined) {
      return [];
    }
    const text =
      value === null ? trans.__('not finite') : (write ?? number)(value);
    return [{ figure, term, text, hint }];
  });
}

/** All figures of a layer, one per line. */
export function healthLines(
  health: LayerHealth | undefined,
  measured: Measured | null,
  trans: Translator
): string[] {
  const facts = health ? healthFacts(health, trans) : [];
  const lines = facts.map(({ term, text }) => trans.__('%1: %2', term, text));
  return measured ? [...lines, measuredText(measured, trans)] : lines;
}

/** Step of the measurement and number of samples, as text. */
export function measuredText(
  { step, samples }: Measured,
  trans: Translator
): string {
  return trans._n(
    'After step %2, for %1 sample',
    'After step %2, for %1 samples',
    samples,
    step
  );
}
