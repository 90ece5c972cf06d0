// Banner that offers unsaved changes of a closed page.

import { DocumentRegistry } from '@jupyterlab/docregistry';
import * as React from 'react';

import { Banner, Button } from '../../editor';
import type { Translator } from '../../editor';
import type { LabDLModel } from './document';
import type { Recovery } from './recovery';

export interface RecoveryBannerProps {
  recovery: Recovery;
  context: DocumentRegistry.IContext<LabDLModel>;
  trans: Translator;
}

export function RecoveryBanner(
  props: RecoveryBannerProps
): React.JSX.Element | null {
  const { recovery, context, trans } = props;
  const { lock } = context.model.graph;
  const offer = React.useSyncExternalStore(recovery.subscribe, recovery.offer);
  const locked = React.useSyncExternalStore(lock.subscribe, lock.state);
  if (!offer || locked?.kind === 'host') {
    return null;
  }
  const saved = context.contentsModel?.last_modified;
  const isOlder = saved !== undefined && new Date(saved).getTime() > offer.at;
  return (
    <Banner
      icon="history"
      actions={
        <>
          <Button onClick={recovery.restore}>{trans.__('Restore')}</Button>
          <Button onClick={recovery.discard}>{trans.__('Discard')}</Button>
        </>
      }
    >
      {trans.__(
        'There are unsaved changes from %1.',
        timeOf(new Date(offer.at))
      )}
      {isOlder && ` ${trans.__('The file has been saved since then.')}`}
    </Banner>
  );
}

/** Time of day, with the date if it is not today. */
function timeOf(moment: Date): string {
  const isToday = moment.toDateString() === new Date().toDateString();
  return isToday
    ? moment.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })
    : moment.toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' });
}
