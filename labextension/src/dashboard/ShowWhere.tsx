// The button beside a failure's message that leads to the layer in which it happened.

import type { FaultPlace } from './source';
import type { Translator } from './translator';

export interface ShowWhereProps {
  place: FaultPlace;
  onShow: (layer: string) => void;
  trans: Translator;
}

export function ShowWhere(props: ShowWhereProps): JSX.Element | null {
  const { place, onShow, trans } = props;
  const { node } = place;
  return node === null ? null : (
    <button
      type="button"
      className="labdl-dashboard-where"
      title={trans.__('Show %1 in the graph', node)}
      onClick={() => onShow(node)}
    >
      {trans.__('Show where')}
    </button>
  );
}
