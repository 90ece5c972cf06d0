// Requests a layout from the host; reports failures and long waits.
import { useMemo } from 'react';

import { EditorHost } from '../host';
import { Translator } from '../../ui/translator';
import { LayoutRequest, Places } from './layout-request';

/** Milliseconds before a message says that the layout is still running. */
const PATIENCE = 1000;

export function useArrange(
  host: EditorHost,
  say: (notice: string) => void,
  trans: Translator
) {
  return useMemo(() => {
    const onFailure = (message: string) =>
      say(trans.__('The layers could not be arranged: %1', message));
    return {
      onFailure,
      async arrange(request: LayoutRequest): Promise<Places | null> {
        const timer = setTimeout(
          () => say(trans.__('Waiting for Python to arrange the layers…')),
          PATIENCE
        );
        try {
          return await host.layout(request);
        } catch (error) {
          onFailure(error instanceof Error ? error.message : String(error));
          return null;
        } finally {
          clearTimeout(timer);
        }
      }
    };
  }, [host, say, trans]);
}
