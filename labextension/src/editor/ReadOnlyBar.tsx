// Finds out whether the layers of a model are known here, and says why it cannot be edited.
import { useEffect } from 'react';

import { Bar } from './Bar';
import { Button } from './Button';
import { useEditorContext } from './context';
import { GraphDocument } from './document';
import { LayerTable } from './model';
import { useLock } from './useLock';

const SHOWN = 5;

export interface ReadOnlyBarProps {
  document: GraphDocument;
  layers: LayerTable;
}

export function ReadOnlyBar({ document, layers }: ReadOnlyBarProps) {
  const { trans } = useEditorContext();
  const lock = useLock(document);
  useEffect(() => {
    // While they are loaded, or could not be, nobody knows.
    if (layers.size > 0) {
      document.lock.compare(document.snapshot(), layers);
    }
  }, [document, layers]);

  if (!lock) {
    return null;
  }
  if (lock.kind === 'host') {
    return <Bar icon="lock">{lock.reason}</Bar>;
  }
  const { types } = lock;
  const shown = types.slice(0, SHOWN).join(', ');
  const more = types.length - SHOWN;
  const names = more > 0 ? trans.__('%1 and %2 more', shown, more) : shown;
  return (
    <Bar
      icon="lock"
      actions={
        <Button
          title={trans.__('Edit the model, and replace what is not known')}
          onClick={document.lock.editAnyway}
        >
          {trans.__('Edit anyway')}
        </Button>
      }
    >
      {trans._n(
        'This model uses a layer that is not known here: %2.',
        'This model uses layers that are not known here: %2.',
        types.length,
        names
      )}{' '}
      {trans.__(
        'To work with all of it, show it in a notebook that imports the package that defines what is missing.'
      )}
    </Bar>
  );
}
