// A host for the editor that answers from this page instead of Python.
import { EditorHost } from '../src/editor/host';
import { CheckResult, GraphData, Problem, Shape } from '../src/editor/model/graph-data';
import { LAYERS, RULES } from './layers';

function check(graph: GraphData): CheckResult {
  const answer: CheckResult = { nodes: {}, parameters: 0, problems: [] };
  const shapes = new Map<string, Shape>();
  const edges = Object.values(graph.edges);
  const waiting = new Set(Object.keys(graph.nodes));
  for (let size = -1; size !== waiting.size;) {
    size = waiting.size;
    for (const id of waiting) {
      const sources = edges.filter(e => e.target === id).map(e => e.source);
      if (sources.some(source => waiting.has(source))) {
        continue;
      }
      waiting.delete(id);
      visit(id, sources);
    }
  }

  function visit(id: string, sources: string[]): void {
    const node = graph.nodes[id];
    const layer = RULES.get(node.type);
    const inputs = sources.flatMap(source => {
      const shape = shapes.get(source);
      return shape ? [shape] : [];
    });
    let problem: string | null = null;
    let parameters = 0;
    const outputs: CheckResult['nodes'][string]['outputs'] = {};
    if (!layer) {
      problem = `There is no layer called ${node.type}: install the package it comes from.`;
    } else if (layer.schema.inputs.length > 0 && sources.length === 0) {
      problem = `Nothing is connected to the input ${layer.schema.inputs[0].name}.`;
    } else if (inputs.length === sources.length) {
      try {
        const result = layer.rule(inputs, node.params);
        parameters = result.parameters ?? 0;
        outputs.output = { shape: result.shape, dtype: 'float32' };
        shapes.set(id, result.shape);
      } catch (error) {
        problem = (error as Error).message;
      }
    }
    answer.nodes[id] = { outputs, parameters, problem };
    answer.parameters += parameters;
    if (problem) {
      const item: Problem = { node: id, edge: null, message: problem };
      answer.problems.push(item);
    }
  }
  return answer;
}

const wait = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));

export function mockHost(failing: boolean): EditorHost {
  return {
    async layers() {
      return LAYERS.map(layer => layer.schema);
    },
    async check(graph) {
      await wait(15);
      if (failing) {
        throw new Error('the server does not answer');
      }
      return check(graph);
    },
    async code(graph) {
      const lines = Object.values(graph.nodes).map(
        ({ name, type, params }) =>
          `        self.${name} = nn.${type}(${Object.entries(params)
            .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
            .join(', ')})`
      );
      return [
        'class Net(nn.Module):',
        '    def __init__(self):',
        ...lines
      ].join('\n');
    }
  };
}
