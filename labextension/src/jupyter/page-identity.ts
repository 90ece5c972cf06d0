// This page among the others of the browser: which of them still live.

import { UUID } from '@lumino/coreutils';

const PREFIX = 'labdl-page:';

/** What this page is known by, until it is loaded anew. */
export const PAGE = UUID.uuid4();

let held = false;

/**
 * The pages that live, this one among them. The browser gives their locks back when they end, however they end; where it
 * has no locks, because the connection is not secure, no other page is known.
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
