"""Classes of a notebook for the editor, and their source."""

import linecache
import sys
from types import SimpleNamespace

import pytest
from jupyter_client.manager import start_new_kernel

from labdl import lab, nn, ops
from labdl.lab.editor import python_code
from labdl.lab.editor.kernel_classes import MIME, MOST, classes_of
from labdl.nn.schema import LAYERS


def cell(source: str, namespace: dict | None = None, name: str = "<ipython-input-1>") -> dict:
    """What a notebook's namespace is after a cell."""
    space = {"nn": nn, "ops": ops, "__name__": "__main__"} if namespace is None else namespace
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    exec(compile(source, name, "exec"), space)
    return space


BLOCK = '''
print = lambda *_: None
FEATURES = 12
SIZES = (3, "same")


class Part(nn.Module):
    def __init__(self, features=FEATURES):
        super().__init__()
        self.linear = nn.Linear(features)

    def forward(self, x):
        return ops.relu(self.linear(x))


class Block(nn.Module):
    """Two parts in a row.

    And more.
    """

    def __init__(self):
        super().__init__()
        self.parts = nn.Sequential(Part(), Part(FEATURES + 1))

    def forward(self, x):
        FEATURES = x
        return self.parts(FEATURES)


print("defined")
'''


def test_classes_come_with_all_that_they_need_and_can_be_read():
    found = classes_of(cell(BLOCK))
    assert [(f["name"], f["summary"], f["layer"], f["problem"]) for f in found] == [
        ("Block", "Two parts in a row.", None, None),
        ("Part", "", None, None),
    ]
    answer = python_code.read(found[0]["source"], None)
    assert answer["problem"] is None
    nodes = {n["name"]: n["params"] for n in answer["graph"]["nodes"].values()}
    assert nodes["parts/0/linear"] == {"out_features": 12}
    assert nodes["parts/1/linear"] == {"out_features": 13}


def test_a_class_defined_again_is_the_later_one():
    space = cell(BLOCK)
    cell("class Part(nn.Module):\n    def forward(self, x):\n        return ops.tanh(x)\n", space, "<ipython-input-2>")
    found = {f["name"]: f["source"] for f in classes_of(space)}
    assert "tanh" in found["Part"]
    assert "tanh" in found["Block"]  # it would use that one from now on


def test_class_without_source_has_a_problem():
    def forward(self, x):
        return x

    made = type("Made", (nn.Module,), {"forward": forward, "__module__": "__main__"})
    (found,) = classes_of({"Made": made})
    assert found["source"] is None
    assert "its source is not available: run the cell that defines it" in found["problem"]
    space = cell("class A(nn.Module):\n    def forward(self, x):\n        return x\n", name="<ipython-input-3>")
    linecache.cache["<ipython-input-3>"] = (1, None, ["%matplotlib inline\n"], "<ipython-input-3>")
    assert "without magics" in classes_of(space)[0]["problem"]


@pytest.fixture
def without_own_layers():
    known = dict(LAYERS)
    yield
    LAYERS.clear()
    LAYERS.update(known)


@pytest.mark.usefixtures("without_own_layers")
def test_a_layer_of_the_notebook_is_one():
    space = cell(
        "@nn.layer()\nclass Scale(nn.Module):\n    factor: float = 1.0\n\n    def forward(self, x):\n"
        "        return x * self.factor\n",
        name="<ipython-input-4>",
    )
    (found,) = classes_of(space)
    assert (found["name"], found["layer"], found["source"], found["problem"]) == ("Scale", "Scale", None, None)


def test_nothing_else_is_listed_and_nothing_runs():
    class Odd(type(nn.Module)):  # a class whose every attribute is an accident
        def __getattribute__(cls, name):
            if name in ("__module__", "__mro__", "__dict__", "__doc__", "__name__", "__qualname__"):
                return super().__getattribute__(name)
            raise AttributeError(name)

    space = {"nn": nn, "Linear": nn.Linear, "x": 3, "f": len, "t": int, "odd": Odd("Odd", (), {}), "self": None}
    space["self"] = space
    assert classes_of(space) == []
    many = {f"A{n}": type(f"A{n}", (nn.Module,), {"__module__": "__main__"}) for n in range(MOST + 5)}
    assert len(classes_of(many)) == MOST


def test_a_widget_answers_with_the_classes_of_its_notebook(monkeypatch):
    sent = []
    editor = lab.Editor(nn.Sequential(nn.Linear(3)).build((None, 4), backend="numpy"))
    monkeypatch.setattr(editor, "send", lambda content, buffers=None: sent.append(content))
    space = cell(BLOCK, name="<ipython-input-5>")
    monkeypatch.setitem(sys.modules, "__main__", SimpleNamespace(**space))
    editor._handle_custom_msg({"type": "request", "id": "a", "name": "classes"}, [])
    assert [c["name"] for c in sent[-1]["result"]["classes"]] == ["Block", "Part"]
    editor.close()


@pytest.mark.timeout(120)
def test_a_kernel_shows_the_classes_of_its_cells_and_keeps_no_name():
    manager, client = start_new_kernel()
    try:
        ask = "__import__('labdl.lab.editor.kernel_classes', fromlist=['show_classes']).show_classes()"
        client.execute_interactive("from labdl import nn, ops\n" + BLOCK, timeout=60, output_hook=lambda _: None)
        client.execute_interactive("before = set(globals())", timeout=60)
        shown = []
        client.execute_interactive(ask, store_history=False, timeout=60, output_hook=shown.append)
        (data,) = [m["content"]["data"] for m in shown if m["msg_type"] == "display_data"]
        classes = data[MIME]["classes"]
        assert [(c["name"], c["problem"]) for c in classes] == [("Block", None), ("Part", None)]
        assert python_code.read(classes[0]["source"], None)["problem"] is None
        texts = []
        client.execute_interactive(
            "print(set(globals()) - before - {'before'})",
            timeout=60,
            output_hook=lambda m: texts.append(m["content"].get("text", "")),
        )
        assert not any("labdl" in t or "show" in t for t in texts), texts
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
