// Sounds and clips: of a sample, and of the results of a preview.

import {
  act,
  fireEvent,
  render,
  screen,
  waitFor,
  within
} from '@testing-library/react';

import type { PartView, SampleView } from '../../api/data';
import { plainTranslator } from '../../ui/translator';
import { Part } from '../parts/Part';
import { PreviewGrid } from '../pipeline/PreviewGrid';
import { MockHost, sample } from './mock-host';

const SOUND: PartView = {
  name: 'audio',
  kind: 'audio',
  description: '1.00 s',
  waveform: [[-1, 1]],
  seconds: 1
};
const CLIP: PartView = {
  name: 'clip',
  kind: 'video',
  description: '8 × 4 × 4 × 3 uint8',
  picture: 'data:image/webp;base64,a',
  width: 4,
  height: 4
};
let playing: HTMLMediaElement[] = [];

beforeEach(() => {
  playing = [];
  let count = 0;
  URL.createObjectURL = () => `blob:${++count}`;
  URL.revokeObjectURL = jest.fn();
  HTMLMediaElement.prototype.play = async function () {
    playing.push(this);
    await Promise.resolve(); // as in a browser
    fireEvent.play(this);
  };
  HTMLMediaElement.prototype.pause = function () {
    if (playing.includes(this)) {
      playing = playing.filter(element => element !== this);
      fireEvent.pause(this);
    }
  };
});

class SoundHost extends MockHost {
  constructor(private readonly part: PartView) {
    super();
  }

  override async preview(query: Parameters<MockHost['preview']>[0]) {
    const { original, results } = await super.preview(query);
    const sounding = (view: SampleView) => ({ ...view, parts: [this.part] });
    return { original: sounding(original), results: results.map(sounding) };
  }
}

const SPLIT = { fraction: 0.8, seed: 0, stratify: true };
const STEP = {
  id: 1,
  type: 'Gain',
  settings: { gain_db: 3 },
  phase: 'always' as const
};

async function preview(host: MockHost, isShown = true) {
  const grid = (index: number, shown: boolean) => (
    <PreviewGrid
      pipeline={{ steps: [{ inner: [], object: null, ...STEP }], split: SPLIT }}
      selected={1}
      index={index}
      samples={100}
      onIndex={() => undefined}
      host={host}
      isShown={shown}
      onProblems={() => undefined}
      classes={[]}
      trans={plainTranslator}
    />
  );
  const view = render(grid(5, isShown));
  await screen.findByRole('button', { name: 'Play: Result 3' });
  return {
    ...view,
    show: (index: number, shown = true) => view.rerender(grid(index, shown))
  };
}
const button = (name: string) => screen.getByRole('button', { name });

it('plays the result that is shown, one at a time', async () => {
  const host = new SoundHost(SOUND);
  await preview(host);
  fireEvent.click(button('Play: Result 3'));
  await screen.findByRole('button', { name: 'Pause: Result 3' });
  expect(host.played).toEqual([
    {
      index: 5,
      entry: 'audio',
      variant: {
        pipeline: {
          steps: [{ type: 'Gain', settings: { gain_db: 3 }, phase: 'always' }],
          split: SPLIT
        },
        step: 1,
        seed: 0,
        phase: 'training',
        number: 2
      }
    }
  ]);
  fireEvent.click(button('Play: Result 1'));
  await screen.findByRole('button', { name: 'Pause: Result 1' });
  button('Play: Result 3');
  expect(playing).toHaveLength(1);
  // again without another request
  fireEvent.click(button('Play: Result 3'));
  await screen.findByRole('button', { name: 'Pause: Result 3' });
  expect(host.played.map(({ variant }) => variant?.number)).toEqual([2, 0]);
  fireEvent.click(button('Pause: Result 3'));
  expect(playing).toHaveLength(0);
  fireEvent.click(button('Play: The sample dog/5.png'));
  await waitFor(() => expect(host.played).toHaveLength(3));
  expect(host.played[2]).toEqual({ index: 5, entry: 'audio' });
});

it('ends with the preview it belongs to, and out of view', async () => {
  const host = new SoundHost(SOUND);
  const { show } = await preview(host);
  fireEvent.click(button('Play: Result 1'));
  await screen.findByRole('button', { name: 'Pause: Result 1' });
  show(6);
  await screen.findByRole('button', { name: 'Play: The sample cat/6.png' });
  await waitFor(() =>
    expect(screen.queryByRole('button', { name: /^Pause/ })).toBeNull()
  );
  expect(URL.revokeObjectURL).toHaveBeenCalledWith('blob:1');
  fireEvent.click(button('Play: Result 1'));
  await screen.findByRole('button', { name: 'Pause: Result 1' });
  expect(host.played[1].index).toBe(6);
  show(6, false);
  expect(screen.queryByRole('button', { name: /^Pause/ })).toBeNull();
  expect(document.querySelector('audio')).toBeNull();
});

it('says in the tile why a result cannot be played, and tries again', async () => {
  const host = new SoundHost(SOUND);
  host.media = () => Promise.reject(new Error('Gain: the sound is silent'));
  await preview(host);
  fireEvent.click(button('Play: Result 2'));
  const alert = await screen.findByRole('alert');
  expect(alert.textContent).toBe('Gain: the sound is silent');
  expect(alert.closest('[data-result]')?.getAttribute('data-result')).toBe('1');
  host.media = () => Promise.resolve({ mime: 'audio/wav', data: btoa('RIFF') });
  fireEvent.click(button('Play: Result 2'));
  await screen.findByRole('button', { name: 'Pause: Result 2' });
  expect(screen.queryByRole('alert')).toBeNull();
  HTMLMediaElement.prototype.play = () =>
    Promise.reject(new DOMException('no', 'NotSupportedError'));
  fireEvent.click(button('Play: Result 4'));
  expect((await screen.findByRole('alert')).textContent).toMatch(
    /^The browser cannot play this file/
  );
});

it('gives up what is loading when it goes away', async () => {
  const signals: AbortSignal[] = [];
  const load = (_: string, signal: AbortSignal) => {
    signals.push(signal);
    return new Promise<never>(() => undefined);
  };
  const { unmount } = render(
    <Part
      part={SOUND}
      alt="a tone"
      load={load}
      classes={[]}
      isTile={false}
      showsLabels
      trans={plainTranslator}
    />
  );
  fireEvent.click(button('Play'));
  fireEvent.click(button('Play')); // while it loads
  expect(signals).toHaveLength(1);
  act(() => unmount());
  expect(signals[0].aborted).toBe(true);
});

it('plays a clip in the place of its picture, until there is another', async () => {
  const host = new SoundHost(CLIP);
  const { show } = await preview(host);
  const tile = document.querySelector('[data-result="2"]') as HTMLElement;
  within(tile).getByRole('img', { name: 'Result 3' });
  fireEvent.click(button('Play: Result 3'));
  await screen.findByRole('button', { name: 'Pause: Result 3' });
  expect(tile.querySelector('video')).toHaveProperty('loop', true);
  expect(tile.querySelector('img')).toBeNull();
  show(7);
  await screen.findByRole('button', { name: 'Play: The sample dog/7.png' });
  await waitFor(() => expect(document.querySelector('video')).toBeNull());
  expect(sample(7).index).toBe(7);
});
