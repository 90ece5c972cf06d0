// Storage of unsaved changes in the browser's database, since the server may be unreachable.

import { createStore, del, get, keys, set } from 'idb-keyval';

import type { GraphData } from '../../editor';

/** Graph with its time in milliseconds since 1970. */
export interface Kept {
  graph: GraphData;
  at: number;
}

/** Owner of changes: a document of a server, in one page. */
export interface Owner {
  server: string;
  path: string;
  page: string;
}

export interface RecoveryStore {
  owners(): Promise<Owner[]>;
  get(owner: Owner): Promise<Kept | undefined>;
  set(owner: Owner, kept: Kept): Promise<void>;
  delete(owner: Owner): Promise<void>;
}

/**
 * IndexedDB rather than the simpler localStorage: writes survive a crash of the browser at once, not only after
 * seconds, and may be large.
 */
export function databaseStore(): RecoveryStore {
  const database = createStore('labdl-recovery', 'graphs');
  return {
    owners: async () => (await keys<string>(database)).map(ownerOf),
    get: owner => get<Kept>(keyOf(owner), database),
    set: (owner, kept) => set(keyOf(owner), kept, database),
    delete: owner => del(keyOf(owner), database)
  };
}

function keyOf({ server, path, page }: Owner): string {
  return JSON.stringify([server, path, page]);
}

function ownerOf(key: string): Owner {
  const [server, path, page] = JSON.parse(key) as string[];
  return { server, path, page };
}
