// Favorites and saved blocks in the person's settings.
import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import { Signal } from '@lumino/signaling';

import { PaletteSettings } from '../palette-settings';

/** Settings on a server whose answers the test controls. */
class Registry {
  saved: { [key: string]: unknown } = { favorites: ['Conv'], keptBlocks: {} };
  isBroken = false;
  settings = {
    composite: { ...this.saved },
    changed: new Signal<object, void>({}),
    set: async (key: string, value: unknown) => {
      await undefined;
      if (this.isBroken) {
        throw new Error('no room');
      }
      this.saved = { ...this.saved, [key]: value };
      this.arrive();
    }
  };
  load = () => Promise.resolve(this.settings);
  reload = async () => this.arrive();
  arrive() {
    this.settings.composite = { ...this.saved };
    this.settings.changed.emit();
  }
}

async function follow(registry: Registry) {
  const failed = jest.fn();
  const kept = new PaletteSettings(failed);
  await kept.follow(registry as unknown as ISettingRegistry, 'labdl:palette');
  return { kept, failed };
}

const settled = async () => {
  for (let turn = 0; turn < 30; turn++) {
    await undefined;
  }
};

beforeEach(() => window.localStorage.clear());

it('shows what is set, and writes changes one after the other', async () => {
  const registry = new Registry();
  const { kept } = await follow(registry);
  const seen: unknown[] = [];
  kept.subscribe(() => seen.push(kept.state()?.favorites));
  kept.change(old => ({ ...old, favorites: [...old.favorites, 'Pool'] }));
  // another page adds something before this one has saved
  registry.saved = { ...registry.saved, favorites: ['Conv', 'Sum'] };
  kept.change(old => ({ ...old, blocks: { stem: 'text' } }));
  expect(kept.state()).toEqual({
    favorites: ['Conv', 'Pool'],
    blocks: { stem: 'text' }
  });
  await settled();
  expect(registry.saved).toEqual({
    favorites: ['Conv', 'Sum', 'Pool'],
    keptBlocks: { stem: 'text' }
  });
  expect(kept.state()?.favorites).toEqual(['Conv', 'Sum', 'Pool']);
  expect(window.localStorage).toHaveLength(0);
  registry.saved = { favorites: [], keptBlocks: {} };
  registry.arrive();
  expect(kept.state()).toEqual({ favorites: [], blocks: {} });
});

it('writes later what a page that went had no time for', async () => {
  const registry = new Registry();
  const { kept } = await follow(registry);
  kept.change(old => ({ ...old, blocks: { stem: 'text' } }));
  const late = new Registry(); // the first page's request never arrives
  await follow(late);
  await settled();
  expect(late.saved.keptBlocks).toEqual({ stem: 'text' });
});

it('shows what cannot be written, and says so', async () => {
  const registry = new Registry();
  const { kept, failed } = await follow(registry);
  registry.isBroken = true;
  kept.change(old => ({ ...old, favorites: [] }));
  await settled();
  expect(kept.state()?.favorites).toEqual([]);
  expect(failed).toHaveBeenCalledWith(new Error('no room'));
  registry.isBroken = false;
  kept.change(old => ({ ...old, blocks: { a: 'b' } }));
  await settled();
  expect(registry.saved.keptBlocks).toEqual({ a: 'b' });
});
