// Python on the clipboard as a piece of a graph: classes of Modules, a row of layers, lines that call layers.
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

/** What paste needs of the editor. */
interface Around {
  readPiece(source: string): Promise<Reading>;
  arrange(request: LayoutRequest): Promise<Places | null>;
  direction: Direction;
  places: { [id: string]: Position };
  middle(): Position;
}

/** Whether a text is meant as layers in Python: whoever copies something else need not be told what is wrong with it. */
export function looksLikePython(text: string): boolean {
  return /\b(nn|ops|layers)\.\w+\s*\(|^\s*class\s+\w+.*:\s*$/m.test(text);
}

/** The piece with places in the middle of the view that cover no node, or the sentence that says why there is none. */
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
  // beside the flow, where there is no node
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
