// Position of the inspector: beside the canvas, or in an element of the host.
import { createPortal } from 'react-dom';

import { useEditorContext } from '../context';
import { IconButton } from '../../ui/Icon';
import { Inspector, InspectorProps } from './Inspector';

interface InspectorSlotProps extends Omit<InspectorProps, 'onClose'> {
  isBeside: boolean;
  /** Element of the host, if it provides one. */
  aside: HTMLElement | null | undefined;
  onPlace: (isBeside: boolean) => void;
}

export function InspectorSlot(props: InspectorSlotProps) {
  const { isBeside, aside, onPlace, ...rest } = props;
  const { trans } = useEditorContext();
  const there = isBeside ? (
    <p className="labdl-aside-empty">
      {trans.__(
        'The properties are shown beside the canvas. Hide them there to show them here.'
      )}
    </p>
  ) : (
    <Inspector {...rest} />
  );
  return (
    <>
      {isBeside ? (
        <Inspector {...rest} onClose={() => onPlace(false)} />
      ) : (
        <IconButton
          icon="back"
          className="labdl-pane-opener"
          label={trans.__('Show the properties')}
          onClick={() => onPlace(true)}
        />
      )}
      {aside &&
        createPortal(
          <div className="labdl-editor labdl-aside">{there}</div>,
          aside
        )}
    </>
  );
}
