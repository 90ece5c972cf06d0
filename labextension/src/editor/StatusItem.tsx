// Item in the host's status bar: size of the model and number of problems.
import { useSyncExternalStore } from 'react';
import { createPortal } from 'react-dom';

import { useEditorContext } from './context';
import { fullCount } from './model/shape-format';

interface StatusItemProps {
  place: HTMLElement;
  nodes: number;
}

export function StatusItem({ place, nodes }: StatusItemProps) {
  const { checks, trans } = useEditorContext();
  const { total, problems } = useSyncExternalStore(
    checks.subscribe,
    checks.state
  );
  const parts = [trans._n('%1 layer', '%1 layers', nodes)];
  if (total) {
    const { parameters } = total;
    parts.push(
      trans._n(
        '%2 parameter',
        '%2 parameters',
        parameters,
        fullCount(parameters)
      )
    );
  }
  if (problems.length) {
    parts.push(trans._n('%1 problem', '%1 problems', problems.length));
  }
  return createPortal(parts.join(' · '), place);
}
