// Parses Python from the clipboard into a fragment: Module classes, lists of layers, or calls of layers.
import { Reading } from '../code/source-editor';
import { Fragment } from '../model/fragment';
import {
  flatLayoutRequest,
  LayoutRequest,
  Places,
  placesInRow
} from '../canvas/layout-request';
import { Direction, NODE_SIZE } from '../canvas/node-size';
import { Position } from '../model/graph-data';
import { GAP } from '../canvas/placement';

/** State and services that pasting needs. */
interface Around {
  readPiece(source: string): Promise<Reading>;
  arrange(request: LayoutRequest): Promise<Places | null>;
  direction: Direction;
  places: { [id: string]: Position };
  middle(): Position;
}

/** Whether a text looks like layers in Python; other text is ignored without a message. */
export function looksLikePython(text: string): boolean {
  return (
    /\b(nn|ops|layers)\.\w+\s*\(|^\s*class\s+\w+.*:\s*$/m.test(text) ||
    // layers imported by name
    /^\s*from\s+[\w.]+\.(nn|layers)\s+import\s/m.test(text)
  );
}

/** The fragment at a free position in the center of the view, or an error message. */
export async function pieceOfPython(
  text: string,
  around: Around
): Promise<{ fragment: Fragment } | { problem: string }> {
  const { graph, problem } = await around.readPiece(text);
  if (!graph) {
    return { problem: problem?.message ?? '' };
  }
  const request = flatLayoutRequest(graph, around.direction);
  const arranged = (await around.arrange(request)) ?? placesInRow(request);
  const [left, top, right, bottom] = boundsOf(Object.values(arranged));
  const [x, y] = around.middle();
  const taken = Object.values(around.places);
  let shift: Position = [
    Math.round(x - (left + right) / 2),
    Math.round(y - (top + bottom) / 2)
  ];
  const isTaken = () =>
    taken.some(
      ([a, b]) =>
        a + NODE_SIZE.width > left + shift[0] &&
        a < right + shift[0] &&
        b + NODE_SIZE.height > top + shift[1] &&
        b < bottom + shift[1]
    );
  // move across the flow until there is no node
  for (let tries = 0; tries < taken.length && isTaken(); tries++) {
    shift =
      around.direction === 'down'
        ? [shift[0] + NODE_SIZE.width + GAP, shift[1]]
        : [shift[0], shift[1] + NODE_SIZE.height + GAP];
  }
  const positions = Object.fromEntries(
    Object.entries(arranged).map(([id, [a, b]]) => [
      id,
      [a + shift[0], b + shift[1]] as Position
    ])
  );
  const { nodes, edges, groups = {} } = graph;
  return { fragment: { nodes, edges, positions, groups } };
}

function boundsOf(corners: Position[]): [number, number, number, number] {
  const xs = corners.map(([x]) => x);
  const ys = corners.map(([, y]) => y);
  return [
    Math.min(...xs),
    Math.min(...ys),
    Math.max(...xs) + NODE_SIZE.width,
    Math.max(...ys) + NODE_SIZE.height
  ];
}
