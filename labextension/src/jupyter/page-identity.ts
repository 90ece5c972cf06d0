// Id of this page, and detection of the browser's other open pages.

import { UUID } from '@lumino/coreutils';

const PREFIX = 'labdl-page:';

/** Id of this page, until it is reloaded. */
export const PAGE = UUID.uuid4();

let held = false;

/**
 * Ids of the open pages, including this one. The browser releases their locks when they end for any reason; without
 * locks (insecure connection) other pages are not detected.
 */
export async function livingPages(): Promise<Set<string>> {
  const locks = (navigator as Partial<Navigator>).locks;
  const living = new Set([PAGE]);
  if (locks) {
    if (!held) {
      held = true;
      void locks.request(PREFIX + PAGE, () => new Promise(() => undefined));
    }
    const { held: all = [] } = await locks.query();
    for (const { name } of all) {
      if (name?.startsWith(PREFIX)) {
        living.add(name.slice(PREFIX.length));
      }
    }
  }
  return living;
}
