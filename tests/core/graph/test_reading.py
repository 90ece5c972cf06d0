"""Python source to graph: common source is read, and only layers and operators are executed."""

import pytest

import labdl
from labdl.errors import ModelError
from labdl.graph import Graph

HEAD = "from labdl import nn, ops\n\n\n"


def model(init: str, forward: str, more: str = "") -> str:
    return f"""{HEAD}{more}class Net(nn.Module):
    \"\"\"A model.\"\"\"

    def __init__(self):
        super().__init__()
        {init}

    def forward(self, x):
        {forward}
"""


def types(source: str, shape=(None, 4)) -> list[str]:
    return [node.type for node in Graph.from_python(source, shape).nodes.values()]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        (model("self.a = nn.Linear(3)", "return ops.relu(self.a(x))"), ["Input", "Linear", "ops.relu"]),
        (
            model("self.a = nn.Sequential(nn.Linear(3), nn.ReLU())", "return self.a(x) * 2 + x[:, 0:1]"),
            ["Input", "Linear", "ReLU", "ops.multiply", "ops.getitem", "ops.add"],
        ),
        (
            model(
                "self.parts = nn.ModuleList([nn.Linear(4), nn.Linear(4)])",
                "for part in self.parts:\n            x = part(x)\n        return x",
            ),
            ["Input", "Linear", "Linear"],
        ),
        (
            model(
                "self.a = nn.Linear(3)",
                "y = self.a(x)\n        y += 1\n        return y, ops.reshape(x, (x.shape[1], -1))",
            ),
            ["Input", "Linear", "ops.add", "ops.reshape"],
        ),
        (
            model(
                "self.a = Inner(3)\n        self.b = Inner(4)",
                "return self.b(self.a(x))",
                "class Inner(nn.Module):\n    def __init__(self, size):\n        super().__init__()\n"
                "        self.linear = nn.Linear(size * 2)\n\n    def forward(self, x):\n        return self.linear(x)\n\n\n",
            ),
            ["Input", "Linear", "Linear"],
        ),
    ],
)
def test_common_source_is_read(source, found):
    assert types(source) == found
    space: dict = {}
    exec(source, space)
    assert Graph.from_python(source, (None, 4)).nodes == labdl.trace(space["Net"](), (None, 4)).nodes


ATTACK = "__import__('os').abort()"


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (ATTACK, "only imports and classes"),
        ("import os", "only imports and classes"),
        ("from os import abort", "is not a known layer"),
        ("from labdl import saving", "is not a known layer"),
        (model("self.a = nn.Linear(3)", f"return {ATTACK}"), "line 12"),
        (model(f"self.a = {ATTACK}", "return x"), "line 9"),
        (model("self.a = open('x', 'w')", "return x"), "open is not a layer"),
        (model("self.a = nn.Linear(3)", "return self.a.save('x')"), "self.a.save is not a layer of this class"),
        (model("self.a = nn.Linear(3)", "return self.a.__class__"), "the attribute __class__"),
        (model("self.a = ().__class__", "return x"), "the attribute __class__"),
        (model("self.a = nn.initializers", "return x"), "nn.initializers is not a layer"),
        (model("self.a = nn.Linear(3)", "return ops.operator"), "ops.operator is not an operator"),
        (model("self.a = (lambda: 1)", "return x"), "lambda cannot be read"),
        (model("self.a = [i for i in (1, 2)]", "return x"), "listcomp cannot be read"),
        (model("self.a = nn.Linear(3)", "while True: x = x\n        return x"), "while cannot be read"),
        (model("self.a = nn.Linear(3)", "for x in (1, 2): x = x\n        return x"), "a loop runs over layers"),
        (model("self.a = [0] * 10", "return x"), "arithmetic with a list"),
        (model("self.a = 'ab' * 10", "return x"), "arithmetic with a list or a text"),
        (model("self.a = f'{self}'", "return x"), "joinedstr cannot be read"),
        (model("nn.Linear = 3", "return x"), "only attributes of self are set"),
        (model("self.a = nn.Linear(3)", "return x.tolist()"), "x.tolist is not a layer"),
        (
            model("self.a = nn.Linear(3)\n        self.load_state_dict = self.a", "return self.a.load_state_dict({})"),
            "every model has something named 'load_state_dict'",
        ),
        (model("global x", "return x"), "global cannot be read"),
        (HEAD + "class Net(object):\n    pass", "a class of a model is one of nn.Module"),
        (HEAD + "@print\nclass Net(nn.Module):\n    pass", "a class of a model is one of nn.Module"),
        (HEAD + "class Net(nn.Module):\n    def save(self):\n        pass", "a class has __init__ and forward"),
        (HEAD + "class Net(nn.Module, metaclass=print):\n    pass", "a class of a model is one of nn.Module"),
        (HEAD + "class Net(nn.Module):\n    def forward(self, x: print(1)):\n        return x", "line 5"),
        ("def f(:", "not valid Python: line 1"),
        ("x" * 2_000_000, "the maximum is"),
        ("", "contains no class"),
        ("\x00", "not valid Python"),
        (model("self.a = nn.Linear(0)", "return self.a(x)"), "cannot be created"),
        (model("self.a = nn.Linear(3)", "return self.b(x)"), "self.b is not a layer"),
    ],
)
def test_other_source_is_rejected_with_its_line(source, why):
    with pytest.raises(ModelError, match=why):
        Graph.from_python(source, (None, 4))
