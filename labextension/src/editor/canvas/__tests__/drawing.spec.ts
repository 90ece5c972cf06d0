// Compares the drawing code with the results of Python (scripts/generate_drawing.py).
import { readFileSync } from 'fs';
import path from 'path';

import { Position as Side } from '@xyflow/react';

import { framesOf } from '../../blocks/frame-geometry';
import { huesOf } from '../../context';
import { GraphData, Json, LayerSchema } from '../../model/graph-data';
import { shortSettings } from '../../model/short-settings';
import { edgePath } from '../edge-path';
import { sceneOf } from '../scene';

type Four = [number, number, number, number];
type Table<T> = { [name: string]: T };

interface Samples {
  categories: { categories: string[]; hues: Table<number> }[];
  layers: LayerSchema[];
  scenes: {
    graph: GraphData;
    nodes: string[];
    edges: Table<[string, string, string, string]>;
    bundles: Table<string[]>;
    frames: string[];
    blocks: Table<{ members: string[]; inputs: string[]; outputs: string[] }>;
  }[];
  frames: { paths: string[]; content: [string, Four][]; rects: Table<Four> }[];
  edges: {
    start: [number, number];
    end: [number, number];
    down: boolean;
    path: string;
  }[];
  settings: {
    type: string;
    declared: string[];
    defaults: Table<Json>;
    params: Table<Json>;
    text: string;
  }[];
}

const FILE = '../../../../../tests/core/graph/files/drawing.json';
const samples: Samples = JSON.parse(
  readFileSync(path.join(__dirname, FILE), 'utf-8')
);
const layers = new Map(samples.layers.map(schema => [schema.type, schema]));

const namesOf = (ports: { name: string }[]) => ports.map(({ name }) => name);

/** The commands of a path, and its numbers. */
const partsOf = (line: string) => ({
  commands: line.replace(/[^A-Z]/g, ''),
  numbers: (line.match(/-?\d+(\.\d+)?/g) ?? []).map(Number)
});

describe('as in pictures', () => {
  test.each(samples.settings)(
    'settings: $text',
    ({ type, declared, defaults, params, text }) => {
      const properties = Object.fromEntries(
        declared.map(name => [
          name,
          name in defaults ? { default: defaults[name] } : {}
        ])
      );
      const schema = { schema: { properties } } as unknown as LayerSchema;
      expect(shortSettings(type, params, schema)).toBe(text);
    }
  );

  it.each(samples.scenes)('blocks are folded', sample => {
    const scene = sceneOf(sample.graph, layers, '');
    const edges = Object.entries(scene.graph.edges);
    expect(Object.keys(scene.graph.nodes)).toEqual(sample.nodes);
    expect(
      edges.map(([id, edge]) => [
        id,
        [edge.source, edge.source_port, edge.target, edge.target_port]
      ])
    ).toEqual(Object.entries(sample.edges));
    expect(edges.map(([id]) => [id, scene.edgesOf(id)])).toEqual(
      Object.entries(sample.bundles)
    );
    expect(scene.frames).toEqual(sample.frames);
    const blocks = [...scene.blocks].map(([id, { members, ports }]) => {
      const [inputs, outputs] = [ports.inputs, ports.outputs].map(namesOf);
      return [id, { members, inputs, outputs }];
    });
    expect(Object.fromEntries(blocks)).toEqual(sample.blocks);
  });

  it.each(samples.frames)('frames surround their blocks', sample => {
    const frames = framesOf(
      sample.paths,
      sample.content.map(([name, [left, top, right, bottom]]) => ({
        name,
        at: [left, top],
        size: { width: right - left, height: bottom - top }
      }))
    );
    const rects = [...frames].map(([name, { x, y, width, height }]) => [
      name,
      [x, y, x + width, y + height]
    ]);
    expect(Object.fromEntries(rects)).toEqual(sample.rects);
  });

  it.each(samples.edges)('edges lead from $start to $end', sample => {
    const line = partsOf(
      edgePath({
        sourceX: sample.start[0],
        sourceY: sample.start[1],
        targetX: sample.end[0],
        targetY: sample.end[1],
        sourcePosition: sample.down ? Side.Bottom : Side.Right,
        targetPosition: sample.down ? Side.Top : Side.Left
      })
    );
    const expected = partsOf(sample.path);
    expect(line.commands).toBe(expected.commands);
    expect(line.numbers).toHaveLength(expected.numbers.length);
    line.numbers.forEach((number, at) =>
      expect(Math.abs(number - expected.numbers[at])).toBeLessThan(0.06)
    );
  });

  it.each(samples.categories)('categories have hues', sample => {
    const table = sample.categories.map(category => ({ category }));
    const listed = table.map((schema, at) => [`${at}`, schema] as const);
    const hues = huesOf(new Map(listed) as unknown as typeof layers);
    expect(Object.fromEntries(hues)).toEqual(sample.hues);
  });
});
