import type { PlotContent } from '../plot-content';
import { Plot, type PlotSettings } from '../plot';
import { Clock } from '../../store/clock';
import { xAxis } from '../x-axis';

interface Drawn {
  data: unknown[][];
  scale: { min: number; max: number };
}

const drawn: Drawn[] = [];
let options: {
  hooks: { setSelect: (() => void)[] };
  cursor: { bind: { dblclick: () => () => null } };
};

// jsdom has no canvas: only the calls are tested here, the appearance in a browser.
jest.mock('uplot', () => {
  class Fake {
    width = 0;
    height = 0;
    over = { clientWidth: 100, clientHeight: 50 };
    select = { left: 0, top: 0, width: 0, height: 0 };
    private _data: unknown[][] = [];
    constructor(given: typeof options) {
      options = given;
      Fake.last = this;
    }
    static last: Fake;
    batch(change: () => void) {
      change();
    }
    setData(data: unknown[][]) {
      this._data = data;
    }
    setScale(_key: string, scale: Drawn['scale']) {
      drawn.push({ data: this._data, scale });
    }
    setSelect() {}
    posToVal(at: number) {
      return at / 10;
    }
    redraw() {}
    destroy() {}
  }
  return { __esModule: true, default: Fake };
});

const { default: Fake } = jest.requireMock('uplot');

let isVisible: (visible: boolean) => void;

function content(to: number): PlotContent {
  return {
    extent: [0, to],
    marks: [],
    columns: (visible, pixels) => [[...visible], [pixels, pixels]]
  };
}

function plot() {
  const zoom = jest.fn();
  const settings: PlotSettings = {
    style: { kind: 'lines', colors: ['train'] },
    syncKey: 'x',
    axis: xAxis('epoch', new Clock(), 10),
    logarithmic: false,
    colors: () => ({}) as ReturnType<PlotSettings['colors']>,
    hover: () => {},
    zoom
  };
  const element = document.createElement('div');
  return {
    plot: new Plot(element, { width: 100, height: 50 }, settings),
    zoom
  };
}

const frame = () => new Promise(resolve => requestAnimationFrame(resolve));

beforeEach(() => {
  drawn.length = 0;
  globalThis.IntersectionObserver = class {
    constructor(tell: (entries: { isIntersecting: boolean }[]) => void) {
      isVisible = visible => tell([{ isIntersecting: visible }]);
    }
    observe() {}
    disconnect() {}
  } as unknown as typeof IntersectionObserver;
});

describe('Plot', () => {
  it('draws once a frame, what came last', async () => {
    const { plot: shown } = plot();
    for (let to = 1; to <= 50; to++) {
      shown.show(content(to));
    }
    expect(drawn).toHaveLength(0);
    await frame();
    expect(drawn).toHaveLength(1);
    // epochs of ten steps
    expect(drawn[0].scale).toEqual({ min: 0, max: 5 });
    expect(drawn[0].data[1]).toEqual([100, 100]);
  });

  it('draws nothing while nobody can see it, and then what there is', async () => {
    const { plot: shown } = plot();
    isVisible(false);
    for (let to = 1; to <= 50; to++) {
      shown.show(content(to));
      await frame();
    }
    expect(drawn).toHaveLength(0);
    isVisible(true);
    await frame();
    expect(drawn.map(({ scale }) => scale.max)).toEqual([5]);
  });

  it('stays where somebody has zoomed to', async () => {
    const { plot: shown, zoom } = plot();
    shown.show(content(50));
    Fake.last.select = { left: 10, top: 0, width: 20, height: 50 };
    options.hooks.setSelect.forEach(hook => hook());
    expect(zoom).toHaveBeenLastCalledWith([10, 30]);
    shown.setWindow([10, 30]);
    await frame();
    shown.show(content(80));
    await frame();
    expect(drawn.map(({ scale }) => [scale.min, scale.max])).toEqual([
      [1, 3],
      [1, 3]
    ]);
    options.cursor.bind.dblclick()();
    expect(zoom).toHaveBeenLastCalledWith(null);
  });

  it('takes a short drag for a click, and draws nothing after its end', async () => {
    const { plot: shown, zoom } = plot();
    shown.show(content(50));
    Fake.last.select = { left: 10, top: 0, width: 2, height: 50 };
    options.hooks.setSelect.forEach(hook => hook());
    expect(zoom).not.toHaveBeenCalled();
    shown.destroy();
    await frame();
    expect(drawn).toHaveLength(0);
  });
});
