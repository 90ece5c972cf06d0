// Button beside an error message that shows the layer in which the failure occurred.

import type { FaultPlace } from '../store/source';
import type { Translator } from '../../ui/translator';

export interface ShowLayerButtonProps {
  place: FaultPlace;
  onShow: (layer: string) => void;
  trans: Translator;
}

export function ShowLayerButton(
  props: ShowLayerButtonProps
): JSX.Element | null {
  const { place, onShow, trans } = props;
  const { node } = place;
  return node === null ? null : (
    <button
      type="button"
      className="labdl-dashboard-where"
      title={trans.__('Show %1 in the graph', node)}
      onClick={() => onShow(node)}
    >
      {trans.__('Show layer')}
    </button>
  );
}
