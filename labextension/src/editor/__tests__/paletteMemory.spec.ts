// Favourites and recent layers: kept, shared between editors, and safe without storage.
import { PaletteMemory } from '../paletteMemory';

beforeEach(() => window.localStorage.clear());

describe('the palette', () => {
  it('remembers favourites across reloads', () => {
    const memory = new PaletteMemory();
    memory.toggle('Conv');
    memory.toggle('Pool');
    memory.toggle('Conv');
    memory.toggle('Sum');
    expect(new PaletteMemory().state().favourites).toEqual(['Pool', 'Sum']);
  });

  it('remembers the last six, each once, the latest first', () => {
    const memory = new PaletteMemory();
    [...'abcdefgc'].forEach(memory.use);
    expect(new PaletteMemory().state().recent).toEqual([...'cgfedb']);
  });

  it('keeps blocks, one for each name', () => {
    const memory = new PaletteMemory();
    memory.keepBlock('stem', 'old');
    memory.keepBlock('stem', 'new');
    memory.keepBlock('head', 'other');
    memory.dropBlock('head');
    expect(new PaletteMemory().state().blocks).toEqual({ stem: 'new' });
  });

  it('is the same in all editors of a page', () => {
    const [one, two] = [new PaletteMemory(), new PaletteMemory()];
    const listener = jest.fn();
    const ends = [one.start(), two.start(), two.subscribe(listener)];
    one.toggle('Conv');
    two.use('Pool');
    expect(listener).toHaveBeenCalledTimes(2);
    expect(one.state()).toMatchObject({
      favourites: ['Conv'],
      recent: ['Pool']
    });
    expect(two.state()).toEqual(one.state());
    ends.forEach(end => end());
  });

  it.each(['', 'no JSON', '3', '{"favourites": 3, "recent": [1, "Pool"]}'])(
    'reads no nonsense: %p',
    text => {
      window.localStorage.setItem('labdl:palette', text);
      const { favourites, recent } = new PaletteMemory().state();
      expect(favourites).toEqual([]);
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
      const memory = new PaletteMemory(storage);
      memory.toggle('Conv');
      memory.use('Pool');
      expect(memory.state()).toMatchObject({
        favourites: ['Conv'],
        recent: ['Pool']
      });
    }
  });
});
