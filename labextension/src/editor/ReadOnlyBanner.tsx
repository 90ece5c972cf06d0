// Banner that says why a model cannot be edited, such as unknown layers.
import { useEffect } from 'react';

import { Banner } from '../ui/Banner';
import { Button } from '../ui/Button';
import { useEditorContext } from './context';
import { GraphDocument } from './model/document';
import { LayerTable } from './model/graph-data';
import { useLock } from './model/useLock';

const SHOWN = 5;

export interface ReadOnlyBannerProps {
  document: GraphDocument;
  layers: LayerTable;
}

export function ReadOnlyBanner({ document, layers }: ReadOnlyBannerProps) {
  const { trans } = useEditorContext();
  const lock = useLock(document);
  useEffect(() => {
    // While the layers are loading, or failed to load, nothing can be compared.
    if (layers.size > 0) {
      document.lock.compare(document.snapshot(), layers);
    }
  }, [document, layers]);

  if (!lock) {
    return null;
  }
  if (lock.kind === 'host') {
    return <Banner icon="lock">{lock.reason}</Banner>;
  }
  const { types } = lock;
  const shown = types.slice(0, SHOWN).join(', ');
  const more = types.length - SHOWN;
  const names = more > 0 ? trans.__('%1 and %2 more', shown, more) : shown;
  return (
    <Banner
      icon="lock"
      actions={
        <Button
          title={trans.__('Edit the model and replace unknown layers')}
          onClick={document.lock.editAnyway}
        >
          {trans.__('Edit anyway')}
        </Button>
      }
    >
      {trans._n(
        'This model uses a layer that is not available here: %2.',
        'This model uses layers that are not available here: %2.',
        types.length,
        names
      )}{' '}
      {trans.__(
        'Open it in a notebook that imports the package with the missing layers.'
      )}
    </Banner>
  );
}
