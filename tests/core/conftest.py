"""What the tests of the framework-free core share: a fresh interpreter, and a graph that uses most of what graphs can hold."""

import os
import subprocess
import sys
from dataclasses import dataclass

import pytest

import labdl
from labdl.graph import Edge, Graph, Node


@dataclass
class Fresh:
    """An interpreter of its own, running a piece of code; starting is not waiting."""

    process: subprocess.Popen

    def result(self, timeout=150):
        out, err = self.process.communicate(timeout=timeout)
        assert self.process.returncode == 0, f"exit status {self.process.returncode}\n{out}\n{err}"
        return out


def start_python(code, *args, **variables):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("LABDL_")} | variables
    return Fresh(
        subprocess.Popen(
            [sys.executable, "-c", code, *args],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
    )


@pytest.fixture(scope="session")
def fresh_python():
    return start_python


@pytest.fixture
def residual():
    """A graph with a skip connection, an operator, several inputs to one port, positions and non-default settings."""
    return Graph(
        {
            "i": Node("Input", "input", {"shape": (None, 3, 8, 8)}),
            "a": Node("Conv2d", "stem", {"out_channels": 4, "padding": "same"}),
            "b": Node("BatchNorm", "norm"),
            "c": Node("ops.relu", "relu"),
            "d": Node("Conv2d", "second", {"out_channels": 4, "padding": ((1, 1), (1, 1))}),
            "e": Node("Add", "skip"),
            "f": Node("Flatten", "flatten"),
            "g": Node("Linear", "head", {"out_features": 10}),
        },
        {
            "e1": Edge("i", "a"),
            "e2": Edge("a", "b"),
            "e3": Edge("b", "c"),
            "e4": Edge("c", "d"),
            "e5": Edge("d", "e", target_port="xs"),
            "e6": Edge("c", "e", target_port="xs"),
            "e7": Edge("e", "f"),
            "e8": Edge("f", "g"),
        },
        name="residual",
        positions={"i": (0.0, 0.0), "a": (120.5, -3.0)},
    )


@pytest.fixture
def saved(residual, tmp_path):
    """A model with its two files."""
    model = residual.to_module().build(backend="numpy", seed=0)
    structure, weights = labdl.save(model, tmp_path / "net")
    return model, structure, weights
