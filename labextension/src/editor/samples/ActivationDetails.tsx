// Activations of the selected layer in detail.
import { useSyncExternalStore } from 'react';

import { Pixels } from '../../runs/charts/Pixels';
import { pictureText } from './Activation';
import { useEditorContext } from '../context';
import { ArrayStatistics } from '../inspector/ArrayStatistics';
import { originText } from './sample-run';
import { CollapsibleSection } from '../inspector/CollapsibleSection';

export function ActivationDetails({ id }: { id: string }) {
  const { sample, trans } = useEditorContext();
  const { store } = sample;
  const outputs = useSyncExternalStore(store.subscribe, () => store.node(id));
  const { origin, isStale } = useSyncExternalStore(
    store.subscribe,
    store.state
  );
  if (!outputs || !origin) {
    return null;
  }
  const ports = Object.entries(outputs);
  return (
    <CollapsibleSection name="sample" title={trans.__('One sample')}>
      {isStale && (
        <p className="labdl-stale-note">
          {trans.__('The model has changed since then. Run the sample again.')}
        </p>
      )}
      <div className={isStale ? 'labdl-mod-stale' : ''}>
        {ports.map(([port, values]) => {
          const { picture } = values;
          return (
            <div key={port}>
              <ArrayStatistics
                name={ports.length > 1 ? port : trans.__('Output')}
                figures={values}
              />
              {picture && (
                <figure className="labdl-maps">
                  <Pixels
                    picture={picture}
                    columns={Math.ceil(Math.sqrt(picture.tiles))}
                    label={pictureText(picture, trans)}
                  />
                  <figcaption className="labdl-quiet">
                    {pictureText(picture, trans)}
                  </figcaption>
                </figure>
              )}
            </div>
          );
        })}
      </div>
      <p className="labdl-quiet">{originText(origin, trans)}</p>
    </CollapsibleSection>
  );
}
