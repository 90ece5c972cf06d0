"""What tests of graphs compare: a model, its trace, data, source and the model of its graph."""

import json

import numpy as np

import labdl
from labdl import nn
from labdl.graph import Graph
from labdl.spec import Spec


def canonical(graph):
    """What must agree when ids and the names of inputs may differ."""
    inputs = graph.inputs()
    name = {i: f"input {inputs.index(i)}" if i in inputs else n.name for i, n in graph.nodes.items()}
    nodes = {name[i]: (n.type, dict(n.params), name.get(n.shares)) for i, n in graph.nodes.items()}
    edges = [(name[e.source], e.source_port, name[e.target], e.target_port) for e in graph.edges.values()]
    ends = [name[i] for i in graph.outputs()]
    listed = {t: [e[0] for e in edges if e[2:] == (t, "xs")] for t in nodes}  # where several edges enter, order counts
    return nodes, sorted(edges), ends, listed, dict(graph.groups), dict(graph.ties)


def from_source(graph):
    """The model that the graph's source defines."""
    space: dict = {}
    exec(compile(graph.to_python(), "generated.py", "exec"), space)
    return [v for v in space.values() if isinstance(v, type) and issubclass(v, nn.Module)][-1]()


def input_specs(graph):
    return [
        Spec(tuple(graph.nodes[i].params["shape"]), graph.nodes[i].params.get("dtype", "float32"))
        for i in graph.inputs()
    ]


def flat(result):
    return list(result) if isinstance(result, list | tuple) else [result]


def assert_same_everywhere(model, *arrays):
    """Model, trace, JSON, source and the graph's model agree, for this batch and for its shape."""
    specs = [Spec(a.shape, str(a.dtype)) for a in arrays]
    labdl.seed(0, portable=True)
    expected = [np.array(v) for v in flat(model(*[a.copy() for a in arrays]))]
    graph = labdl.trace(model, *specs)
    found, problems = graph.check()
    assert problems == []
    shapes = [next(iter(found[i].values())).shape for i in graph.outputs() if graph.nodes[i].type != "Input"]
    assert [len(s) for s in shapes] == [e.ndim for e in expected]
    # None: a size that depends on values
    assert all(n in (None, m) for s, e in zip(shapes, expected, strict=True) for n, m in zip(s, e.shape, strict=True))
    again = Graph.from_dict(json.loads(json.dumps(graph.to_dict())))
    assert again == graph
    written = labdl.trace(from_source(graph), *input_specs(graph))
    assert canonical(written) == canonical(graph)
    assert canonical(Graph.from_python(graph.to_python(), *input_specs(graph))) == canonical(graph)
    for other in (again.to_module().build(backend="numpy"), from_source(graph).build(*specs, backend="numpy")):
        other.eval().load_state_dict(model.state_dict())
        labdl.seed(0, portable=True)
        for actual, value in zip(flat(other(*[a.copy() for a in arrays])), expected, strict=True):
            np.testing.assert_allclose(actual, value, rtol=1e-6)
    return graph
