// Tests of the edges that close a gap.
import { bridgesOf } from '../bridging';
import { GraphData } from '../graph-data';

function graphOf(...links: string[]): GraphData {
  const edges = Object.fromEntries(
    links.map(link => {
      const [source, target] = link.split('');
      const ports = { source_port: 'output', target_port: 'x' };
      return [link, { source, target, ...ports }];
    })
  );
  const ids = new Set(links.join(''));
  const nodes = Object.fromEntries(
    [...ids].map(id => [id, { type: 'ReLU', name: id, params: {} }])
  );
  return { version: 2, name: 'net', nodes, edges, positions: {} };
}

const bridges = (links: string[], gone: string, cut: string[] = []) =>
  bridgesOf(graphOf(...links), new Set(gone), new Set(cut)).edges.map(
    ({ source, target }) => source + target
  );

describe('removing layers', () => {
  it.each([
    ['one of a chain', ['ab', 'bc'], 'b', ['ac']],
    ['two of a chain', ['ab', 'bc', 'cd'], 'bc', ['ad']],
    ['one before a branch', ['ab', 'bc', 'bd'], 'b', ['ac', 'ad']],
    ['the first', ['ab', 'bc'], 'a', []],
    ['the last', ['ab', 'bc'], 'c', []],
    ['one of two inputs', ['ac', 'bc', 'cd'], 'c', []],
    ['a loop', ['bc', 'cb', 'cd'], 'bc', []]
  ])('%s', (_, links, gone, expected) => {
    expect(bridges(links, gone)).toEqual(expected);
  });

  it('leaves a gap where an edge is removed with it', () => {
    expect(bridges(['ab', 'bc'], 'b', ['ab'])).toEqual([]);
    expect(bridges(['ab', 'bc'], 'b', ['bc'])).toEqual([]);
  });
});
