// Tests of favorites and recent layers: stored, shared between editors, and safe without storage.
import {
  SavedItems,
  HostStorage,
  PaletteStorage,
  ROOM
} from '../palette-storage';

beforeEach(() => window.localStorage.clear());

describe('the palette', () => {
  it('remembers favorites across reloads', () => {
    const memory = new PaletteStorage();
    memory.toggle('Conv');
    memory.toggle('Pool');
    memory.toggle('Conv');
    memory.toggle('Sum');
    expect(new PaletteStorage().state().favorites).toEqual(['Pool', 'Sum']);
  });

  it('remembers the last six, each once, the latest first', () => {
    const memory = new PaletteStorage();
    [...'abcdefgc'].forEach(memory.use);
    expect(new PaletteStorage().state().recent).toEqual([...'cgfedb']);
  });

  it('keeps blocks, one for each name', () => {
    const memory = new PaletteStorage();
    memory.keepBlock('stem', 'old');
    memory.keepBlock('stem', 'new');
    memory.keepBlock('head', 'other');
    memory.dropBlock('head');
    expect(new PaletteStorage().state().blocks).toEqual({ stem: 'new' });
  });

  it('is the same in all editors of a page', () => {
    const [one, two] = [new PaletteStorage(), new PaletteStorage()];
    const listener = jest.fn();
    const ends = [one.start(), two.start(), two.subscribe(listener)];
    one.toggle('Conv');
    two.use('Pool');
    expect(listener).toHaveBeenCalledTimes(2);
    expect(one.state()).toMatchObject({
      favorites: ['Conv'],
      recent: ['Pool']
    });
    expect(two.state()).toEqual(one.state());
    ends.forEach(end => end());
  });

  it.each(['', 'no JSON', '3', '{"favorites": 3, "recent": [1, "Pool"]}'])(
    'reads no nonsense: %p',
    text => {
      window.localStorage.setItem('labdl:palette', text);
      const { favorites, recent } = new PaletteStorage().state();
      expect(favorites).toEqual([]);
      expect(recent.every(type => typeof type === 'string')).toBe(true);
    }
  );

  it('works where nothing can be stored', () => {
    const full = {
      getItem: () => {
        throw new Error('forbidden');
      },
      setItem: () => {
        throw new Error('full');
      }
    } as unknown as Storage;
    for (const storage of [full, null]) {
      const memory = new PaletteStorage(storage);
      memory.toggle('Conv');
      memory.use('Pool');
      expect(memory.state()).toMatchObject({
        favorites: ['Conv'],
        recent: ['Pool']
      });
    }
  });
});

describe('what is kept elsewhere', () => {
  class Elsewhere implements HostStorage {
    kept: SavedItems | null = null;
    listener = () => undefined as void;
    state = () => this.kept;
    subscribe = (listener: () => void) => {
      this.listener = listener;
      return () => undefined;
    };
    change(edit: (kept: SavedItems) => SavedItems) {
      this.kept = edit(this.kept as SavedItems);
      this.listener();
    }
    arrive(kept: SavedItems) {
      this.kept = kept;
      this.listener();
    }
  }

  it('counts, and gets once what this browser had', () => {
    const browser = new PaletteStorage();
    browser.toggle('Conv');
    browser.keepBlock('stem', 'old');
    browser.use('Pool');
    const elsewhere = new Elsewhere();
    const memory = new PaletteStorage(undefined, elsewhere);
    const end = memory.start();
    expect(memory.state().favorites).toEqual(['Conv']);
    elsewhere.arrive({ favorites: ['Sum'], blocks: { stem: 'new' } });
    const both = { favorites: ['Sum', 'Conv'], blocks: { stem: 'new' } };
    expect(elsewhere.kept).toEqual(both);
    expect(memory.state()).toEqual({ ...both, recent: ['Pool'] });
    memory.toggle('Conv');
    memory.dropBlock('stem');
    memory.keepBlock('head', 'text');
    const next = { favorites: ['Sum'], blocks: { head: 'text' } };
    expect(elsewhere.kept).toEqual(next);
    end();

    const again = new PaletteStorage(undefined, elsewhere);
    again.start();
    expect(again.state()).toEqual({ ...next, recent: ['Pool'] });
    expect(new PaletteStorage().state().blocks).toEqual({ stem: 'old' });
  });

  it('stays within bounds', () => {
    const memory = new PaletteStorage();
    expect(memory.keepBlock('a', 'x'.repeat(ROOM - 1))).toBe(true);
    expect(memory.keepBlock('b', 'x')).toBe(false);
    expect(memory.keepBlock('a', 'x')).toBe(true);
    expect(Object.keys(memory.state().blocks)).toEqual(['a']);
  });
});
