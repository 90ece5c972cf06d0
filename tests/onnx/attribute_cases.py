"""Nodes for attributes of which no node case of the `onnx` package has two valid values."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

_DRAWS = np.random.default_rng(0)
_STEPS = [(3, 2, 4), (1, 5, 4), (1, 5, 5)]  # x, w and r of an RNN


def _draw(*shape: int) -> np.ndarray:
    return _DRAWS.normal(size=shape).astype("float32")


def _counts(*values: int) -> np.ndarray:
    return np.array(values, "int64")


def _gates(number: int) -> list[np.ndarray]:
    return [_draw(3, 2, 4), _draw(1, number * 5, 4), _draw(1, number * 5, 5)]


# operator, attributes, inputs
_NODES: list[tuple[str, dict[str, Any], list[np.ndarray]]] = [
    ("Constant", {"value_float": 1.5}, []),
    ("Constant", {"value_floats": [1.5, 2.5]}, []),
    ("Constant", {"value_int": 3}, []),
    ("Constant", {"value_ints": [3, 4]}, []),
    ("Col2Im", {"strides": [3, 3]}, [_draw(1, 4, 4), _counts(6, 6), _counts(2, 2)]),
    ("DeformConv", {"strides": [3, 3], "dilations": [1, 1]}, [_draw(1, 1, 6, 6), _draw(1, 1, 2, 2), _draw(1, 8, 2, 2)]),
    ("DeformConv", {"pads": [0, 0, 2, 2]}, [_draw(1, 1, 5, 5), _draw(1, 1, 3, 3), 0.1 * _draw(1, 18, 5, 5)]),
    ("LRN", {"size": 3, "alpha": 1.0}, [_draw(1, 6, 2, 2)]),
    ("LpPool", {"kernel_shape": [2, 2], "strides": [2, 2]}, [_draw(1, 1, 5, 5)]),
    (
        "MaxUnpool",
        {"kernel_shape": [2, 2], "strides": [2, 2]},
        [_draw(1, 1, 2, 2), _counts(0, 1, 2, 3).reshape(1, 1, 2, 2)],
    ),
    ("Reshape", {"allowzero": 0}, [_draw(2, 0), _counts(0, 0)]),
    ("RNN", {"hidden_size": 5, "activations": ["LeakyRelu"], "activation_alpha": [0.1]}, _gates(1)),
    ("RNN", {"hidden_size": 5, "activations": ["HardSigmoid"], "activation_beta": [0.4]}, _gates(1)),
    ("GRU", {"hidden_size": 5, "activations": ["HardSigmoid", "Tanh"], "activation_alpha": [0.3]}, _gates(3)),
    ("GRU", {"hidden_size": 5, "activations": ["HardSigmoid", "Tanh"], "activation_beta": [0.4]}, _gates(3)),
    ("LSTM", {"hidden_size": 5, "activations": ["HardSigmoid", "Tanh", "Tanh"], "activation_alpha": [0.3]}, _gates(4)),
    ("LSTM", {"hidden_size": 5, "activations": ["HardSigmoid", "Tanh", "Tanh"], "activation_beta": [0.4]}, _gates(4)),
    ("TensorScatter", {"axis": -2, "mode": "circular"}, [_draw(2, 4, 4, 3), _draw(2, 4, 4, 3), _counts(1, 2)]),
]
_OPSETS = {"TensorScatter": 24}


def make_cases() -> Iterator[Any]:
    """The nodes as cases: name, model and inputs."""
    for at, (operator, attributes, arrays) in enumerate(_NODES):
        names = [f"x{place}" for place in range(len(arrays))]
        inputs = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for name, array in zip(names, arrays, strict=True)
        ]
        kind = TensorProto.FLOAT if "value_int" not in "".join(attributes) else TensorProto.INT64
        graph = helper.make_graph(
            [helper.make_node(operator, names, ["y"], **attributes)],
            "case",
            inputs,
            [onnx.ValueInfoProto(name="y", type=helper.make_tensor_type_proto(kind, None))],
        )
        opset = helper.make_opsetid("", _OPSETS.get(operator, 22))
        model = helper.make_model(graph, opset_imports=[opset], ir_version=10)
        yield SimpleNamespace(name=f"{operator.lower()}_{at}", model=model, data_sets=[(arrays, [])])
