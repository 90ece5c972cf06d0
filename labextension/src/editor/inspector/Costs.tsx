// Costs of layers, as lines of a tooltip and as facts in the inspector.
import { useSyncExternalStore } from 'react';

import { formatBytes, formatShortCount } from '../../ui/number-format';
import { useEditorContext } from '../context';
import { fullCount } from '../model/shape-format';
import { Costs } from '../model/graph-data';
import { Translator } from '../../ui/translator';

/** The costs as lines of text. */
export function costLines(costs: Costs, trans: Translator): string[] {
  return [
    trans._n(
      '%2 parameter',
      '%2 parameters',
      costs.parameters,
      fullCount(costs.parameters)
    ),
    trans.__('%1 FLOPs for one sample', formatShortCount(costs.operations)),
    trans.__('%1 of memory for one sample', formatBytes(costs.memory))
  ];
}

/** The cost that is chosen in the status bar, on a node; hidden if it is zero. */
export function CostBadge({ costs }: { costs: Costs }) {
  const { checks, trans } = useEditorContext();
  const figure = useSyncExternalStore(checks.subscribe, checks.figure);
  const amount = costs[figure];
  return amount > 0 ? (
    <span
      className="labdl-node-params"
      title={costLines(costs, trans).join('\n')}
    >
      {figure === 'memory' ? formatBytes(amount) : formatShortCount(amount)}
    </span>
  ) : null;
}

/** The costs as entries of a description list. */
export function CostFacts({ costs }: { costs: Costs }) {
  const { trans } = useEditorContext();
  return (
    <>
      <div>
        <dt>{trans.__('Parameters')}</dt>
        <dd>{fullCount(costs.parameters)}</dd>
      </div>
      <div title={trans.__('Floating-point operations for one sample')}>
        <dt>{trans.__('FLOPs')}</dt>
        <dd>{formatShortCount(costs.operations)}</dd>
      </div>
      <div
        title={trans.__(
          'Memory for training on one sample: parameters and activations'
        )}
      >
        <dt>{trans.__('Memory')}</dt>
        <dd>{formatBytes(costs.memory)}</dd>
      </div>
    </>
  );
}

/** The total costs of several layers. */
export function sumOfCosts(each: (Costs | undefined)[]): Costs {
  const sum = (figure: keyof Costs) =>
    each.reduce((total, costs) => total + (costs?.[figure] ?? 0), 0);
  return {
    parameters: sum('parameters'),
    operations: sum('operations'),
    memory: sum('memory')
  };
}
