"""Source of unfinished models, of snippets, and hostile source."""

import contextlib
import subprocess
import sys
import time

import pytest

from labdl.errors import ModelError
from labdl.graph import Edge, Graph, Node
from labdl.graph.parsing.grammar import ReadingError
from labdl.graph.parsing.limits import time_limit
from labdl.graph.parsing.parser import read_draft, read_piece
from labdl.spec import Spec

HEAD = "from labdl import nn, ops\n\n\n"


def model(init: str, forward: str, more: str = "") -> str:
    return f"""{HEAD}{more}class Net(nn.Module):
    def __init__(self):
        super().__init__()
        {init}

    def forward(self, x):
        {forward}
"""


def names(graph: Graph) -> dict[str, list[str]]:
    """Names of the nodes with those of the nodes that enter them."""
    return {
        n.name: [graph.nodes[e.source].name for e in graph.edges.values() if e.target == i]
        for i, n in graph.nodes.items()
    }


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("nn.Linear(10), nn.ReLU()", {"linear": [], "relu": ["linear"]}),
        ("nn.Linear(10)\nnn.ReLU()\n", {"linear": [], "relu": ["linear"]}),
        ("[nn.Linear(10), nn.ReLU(), nn.Linear(3)]", {"linear": [], "relu": ["linear"], "linear_1": ["relu"]}),
        ("nn.Sequential(nn.Conv2d(8), nn.Sequential(nn.ReLU()))", {"conv2d": [], "relu": ["conv2d"]}),
        ("conv = nn.Conv2d(8)\nact = nn.ReLU()", {"conv": [], "act": ["conv"]}),
        ("self.conv = nn.Conv2d(8)\nself.act = nn.ReLU()\nx = self.act(self.conv(x))", {"conv": [], "act": ["conv"]}),
        (
            "x = nn.Linear(10)(x)\ny = ops.relu(x)\nz = nn.Linear(3)(y) + x",
            {"linear": [], "relu": ["linear"], "linear_1": ["relu"], "add": ["linear_1", "linear"]},
        ),
        ("y = nn.LSTM(3)(x)", {"lstm": []}),
        ("from labdl import nn\nnn.ReLU()(x)", {"relu": []}),
        (
            model("self.a = nn.Sequential(nn.Linear(3), nn.ReLU())", "return self.a(x) * 2"),
            {"a/0": [], "a/1": ["a/0"], "multiply": ["a/1"]},
        ),
    ],
)
def test_snippets(source, found):
    graph = read_piece(source)
    assert names(graph) == found
    assert not graph.inputs()


def test_layer_called_twice_is_shared_in_a_snippet():
    graph = read_piece("layer = nn.Linear(4)\nx = layer(layer(x))")
    first, second = graph.nodes.items()
    assert (first[1].params, second[1].shares) == ({"out_features": 4}, first[0])


@pytest.mark.parametrize(
    ("source", "why", "line"),
    [
        ("hello world", "not valid Python", 1),
        ("print(1)", "print is not a layer", 1),
        ("nn.ReLU()\nnn.Linaer(3)", "did you mean 'Linear'", 2),
        ("nn.Concatenate()", r"not a layer. Keras's Concatenate is nn.Concat, which differs", 1),
        ("nn.Conv2D(3)", "Keras's Conv2D: missing a required argument: 'kernel_size'", 1),
        ("import torch.nn as nn\nnn.Linear(3)", "PyTorch's Linear: missing a required argument", 2),
        ("nn.ReLU()\nnn.Linear(0)", "out_features wants an integer at least 1", 2),
        ("x = ops.reshape(x, (x.shape[0], -1))", "a piece of a model has no inputs", 1),
        ("while True: pass", "a piece is a class", 1),
        ("x = __import__('os').abort()", "not a layer", 1),
        ("y = ops.relu(3)", "given no tensor", 1),
    ],
)
def test_invalid_snippets(source, why, line):
    with pytest.raises(ReadingError, match=why) as caught:
        read_piece(source)
    assert caught.value.line == line


def test_draft_may_have_shape_errors():
    source = model("self.a = nn.Conv2d(3)\n        self.b = nn.Linear(2)", "return self.b(self.a(x)) + 1")
    with pytest.raises(ReadingError, match="line"):
        Graph.from_python(source, (None, 4))
    graph = read_draft(source, [Spec((None, 4))])
    assert names(graph) == {"input": [], "a": ["input"], "b": ["a"], "add": ["b"]}
    assert graph.check()[1], "the problem is the canvas's to show"


def test_source_with_missing_connections_is_read():
    nodes = {
        "1": Node("Input", "input", {"shape": (None, 4)}),
        "2": Node("Linear", "a", {"out_features": 3}),
        "3": Node("ops.relu", "relu"),
        "4": Node("Concat", "join"),
        "5": Node("ops.add", "add"),
    }
    edges = {"1": Edge("1", "4", target_port="xs"), "2": Edge("4", "5")}
    graph = Graph(nodes, edges)
    found = read_draft(graph.to_python(), [Spec((None, 4))])
    assert names(found) == names(graph)


def test_forward_takes_the_inputs_of_the_canvas():
    with pytest.raises(ReadingError, match=r"forward\(self, x\) does not match the 2 input"):
        read_draft(model("self.a = nn.ReLU()", "return self.a(x)"), [Spec((None, 4)), Spec((None, 4))])


def doubling(classes: int) -> str:
    part = "class C0(nn.Module):\n    def forward(self, x):\n        return ops.relu(x)\n\n\n"
    for n in range(1, classes):
        part += (
            f"class C{n}(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            f"        self.a = C{n - 1}()\n        self.b = C{n - 1}()\n\n"
            "    def forward(self, x):\n        return self.b(self.a(x))\n\n\n"
        )
    return part


def loops(depth: int) -> str:
    lines = [f"{'    ' * n}for m{n} in self.b:" for n in range(depth)]
    return "\n        ".join([*lines, "    " * depth + "x = x", "return x"])


def repeated(line: str) -> str:
    return "\n        ".join(["s = x.shape[1]", *[line] * 60, "return x"])


# time may run out in a callback of the garbage collector (Hypothesis has one), where Python reports the error and goes on
@pytest.mark.sample(every=4)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(
    ("source", "why"),
    [
        (model("self.a = C40()", "return self.a(x)", doubling(41)), "longer than 1 s"),
        (model(f"self.b = nn.ModuleList([{'nn.ReLU(), ' * 60}])", loops(9)), "longer than 1 s"),
        (model("self.a = nn.ReLU()", repeated("s = s ** s ** s")), "grow too large"),
        (model("self.a = nn.ReLU()", repeated("s *= s")), "grow too large"),
        (
            model("self.a = nn.ReLU()", repeated("x = x\n        s = x.shape\n        s += s * 1000000000")),
            "more than 10,000",
        ),
        (
            model("self.a = nn.ReLU()", "s = x.shape\n" + "        s = [*s, *s]\n" * 60 + "        return x"),
            "more than 10,000",
        ),
        (model("s = 'ab'\n        t = s * 10000000000", "return x"), "more than 10,000"),
        (model("self.a = nn.Reshape([" + "1," * 90_000 + "])", "return self.a(x)"), "a list has 90,000 items"),
        (model(f"self.a = nn.Linear(0x{'f' * 5000})", "return self.a(x)"), "a number has 20,000 bits"),
        (model("self.a = self", "return self.a(x)"), "calls itself"),
        (model("self.a = nn.Linear(4)", "for i in range(10**9): x = x\n        return x"), "a loop runs over layers"),
        (model("self.a = nn.Linear(4)", "return ops.tile(1.0, (100000, 100000))"), "given no tensor"),
        (model("self.f = self.a.build", "return self.f(x, backend='torch')"), "the attribute build"),
        (model("self.f = nn.Linear(3).state_dict", "return self.f()"), "the attribute state_dict"),
        (model("self.a = nn.ReLU()", "return x.recorder"), "the attribute recorder"),
        (model("self.a = nn.ReLU()", "return self" + ".a" * 80 + "(x).b()"), "…"),
        ("-" * 200_000 + "1", "nested too deeply"),
        ("(" * 5000, "too many nested parentheses"),
        ("x" + ".a" * 50_000, "recursion"),
        ("1+" * 50_000 + "1", "recursion"),
    ],
)
def test_reading_has_a_time_limit(source, why):
    with pytest.raises(ReadingError, match=why):  # and not after hours
        read_draft(source, [Spec((None, 4))], seconds=1.0 if "longer" in why else 15.0)


def test_large_numbers_are_rejected_fast():
    graph = read_draft(model("self.a = nn.Linear(1000000000)", "return self.a(x)"), [Spec((None, 4))])
    assert graph.check()[1] == []


def losing_the_error() -> None:
    with time_limit(0.05, "this"):
        for _ in range(3):
            with contextlib.suppress(BaseException):
                while True:
                    pass
        while True:
            pass


def test_time_limit_where_its_error_is_lost():
    """As in a callback whose errors Python ignores, such as one of the garbage collector."""
    with pytest.raises(ModelError, match=r"longer than 0\.05 s"):
        losing_the_error()


def test_functions_can_be_traced_after_the_block():
    """As by a debugger, coverage or hypothesis: CPython 3.11 would not return from a call if an exception were taken back."""
    code = """
import sys
from labdl.graph.parsing.limits import time_limit
with time_limit(5, "this"):
    pass
sys.settrace(lambda *arguments: None)
print(len("abc"), (lambda: 1)())
"""
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert printed.stdout.split() == ["3", "1"]


def waiting_without_an_end() -> None:
    with time_limit(0.05, "this"):
        while True:
            time.sleep(0.02)


@pytest.mark.skipif(
    not hasattr(time, "pthread_getcpuclockid"), reason="this system does not tell what a thread has had"
)
def test_seconds_in_which_others_have_the_processor_do_not_count():
    with time_limit(0.2, "this"):
        time.sleep(0.6)
    with pytest.raises(ModelError, match=r"longer than 0\.05 s"):
        waiting_without_an_end()


def test_nothing_is_raised_after_the_block():
    for _ in range(200):
        with contextlib.suppress(ModelError), time_limit(0.0005, "this"):
            time.sleep(0.0004)
            sum(range(2000))
    for _ in range(100_000):
        pass
