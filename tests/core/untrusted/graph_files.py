"""Structures and ONNX files of graphs that ask for more time or memory than their file has."""

import h5py
import numpy as np
from file_parts import written

from labdl.graph import Edge, Graph, Node
from labdl.saving import encode


def graph_file(folder, nodes, edges, shape=(None, 3), **rest):
    """A structure file with these nodes and one Input, which nodes without edges are connected to."""
    nodes = {"i": Node("Input", "input", {"shape": shape}), **nodes}
    return written(folder / "net.labdl", encode(Graph(nodes, dict(enumerate_edges(edges)), **rest)))


def enumerate_edges(edges):
    return ((f"e{n}", edge) for n, edge in enumerate(edges))


def layer(folder, kind, shape, **params):
    return graph_file(folder, {"a": Node(kind, "a", params)}, [Edge("i", "a")], shape)


def named(folder, name):
    """A structure file with a node of this name, which is replaced in its bytes: a graph does not have such nodes."""
    path = graph_file(folder, {"a": Node("ReLU", "a")}, [Edge("i", "a")])
    with h5py.File(path, "r+") as file:
        del file["nodes/name"], file.attrs["checksum"]
        file.create_dataset("nodes/name", data=np.array([b"input", name.encode()]))
    return path


def loop(folder, count=60_000):
    """Two nodes on a loop, before a chain of others."""
    nodes = {f"n{n}": Node("ReLU", f"n{n}") for n in range(count)}
    edges = [Edge(f"n{n - 1}", f"n{n}") for n in range(1, count)]
    return graph_file(folder, nodes, [*edges, Edge("n1", "n0", target_port="x")])


def many_optional(folder, count=10_000):
    inputs = {f"i{n}": Node("Input", f"i{n}", {"shape": (None, 3), "optional": True}) for n in range(count)}
    nodes = {f"n{n}": Node("ReLU", f"n{n}") for n in range(count)}
    return graph_file(folder, inputs | nodes, [Edge(f"i{n}", f"n{n}") for n in range(count)])


def deep_layers(folder):
    nodes = {f"n{n}": Node("TransformerEncoder", f"n{n}", {"heads": 1, "layers": 1000}) for n in range(2000)}
    return graph_file(folder, nodes, [Edge("i", n) for n in nodes], (None, 4, 2))


def many_parts(folder):
    nodes = {f"n{n}": Node("ops.unstack", f"n{n}", {"axis": 1}) for n in range(5000)}
    return graph_file(folder, nodes, [Edge("i", n) for n in nodes], (None, 60_000))


def shared_settings(folder):
    """An operator of 200,000 numbers that thousands of nodes share."""
    nodes = {f"n{n}": Node("ops.reshape", f"n{n}", {} if n else {"shape": [1] * 200_000}, "n0" if n else "")
             for n in range(5000)}  # fmt: skip
    return graph_file(folder, nodes, [Edge("i", n) for n in nodes])


def onnx_chain(folder, count, kind="Relu", weight=(), name="act", text=False):
    """An .onnx of nodes one after the other that all have one name, each with the same second input if there is one."""
    import onnx
    from onnx import helper, numpy_helper

    second = ["w"] if len(weight) else []
    nodes = [helper.make_node(kind, [f"x{n}", *second], [f"x{n + 1}"], name=name) for n in range(count)]
    values = [numpy_helper.from_array(np.asarray(weight, object if text else "float32"), "w")] if second else []
    if kind == "MatMul":  # a constant: a layer for each node
        nodes.insert(0, helper.make_node("Constant", [], ["w"], value=values.pop()))
    ends = [
        helper.make_tensor_value_info(f"x{n}", onnx.TensorProto.FLOAT, shape)
        for n, shape in ((0, [1, 3]), (count, None))
    ]
    if kind == "MatMul":
        ends[0] = helper.make_tensor_value_info("x0", onnx.TensorProto.FLOAT, [1, len(weight)])
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], values)
    return written(
        folder / "net.onnx", helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString()
    )
