"""The rule of names, and that the canvas has the same one."""

import subprocess
import sys
from pathlib import Path

import pytest

import labdl
from labdl.errors import ModelError
from labdl.graph import Graph, Node
from labdl.nn.names import fault_of, fault_of_word, valid_path, valid_word

ROOT = Path(__file__).parents[3]


def test_the_rule_of_the_canvas_is_up_to_date():
    command = [sys.executable, ROOT / "scripts" / "generate_names.py", "--check"]
    assert subprocess.run(command, check=False).returncode == 0


@pytest.mark.parametrize("name", ["conv", "卷积层", "é", "मॉडल", "слой/0/卷积", "class", "1x1"])
def test_a_graph_holds_words_of_any_language(name):
    assert fault_of(name) is None
    assert Graph({"a": Node("ReLU", name)}).nodes["a"].name == name


@pytest.mark.parametrize("name", ["my layer", "a.b", "", "/a", "a//b", "e\u0301", "ﬁlter", "😀", 3, "a\u200db"])
def test_other_names_are_refused_with_one_that_is_held(name):
    with pytest.raises(ModelError, match="letters, digits and _"):
        Graph({"a": Node("ReLU", name)})
    if isinstance(name, str):
        assert fault_of(valid_path(name)) is None


@pytest.mark.parametrize(
    ("word", "fault", "valid"),
    [
        ("class", "keyword", "class_"),
        ("my layer", "characters", "my_layer"),
        ("1conv", "digit", "layer_1conv"),
        ("", "empty", "layer"),
        ("卷积层", None, "卷积层"),
    ],
)
def test_a_word_that_is_no_identifier_is_not_typed(word, fault, valid):
    assert fault_of_word(word) == fault
    assert valid_word(word) == valid
    assert fault_of_word(valid) is None


def test_layers_of_a_module_keep_their_names_of_any_language():
    class Net(labdl.nn.Module):
        def __init__(self):
            super().__init__()
            self.卷积层 = labdl.nn.Linear(3)
            self.é = labdl.nn.Linear(2)

        def forward(self, x):
            return self.é(self.卷积层(x))

    graph = labdl.trace(Net(), (None, 4))
    assert [node.name for node in graph.nodes.values()] == ["input", "卷积层", "é"]
    assert Graph.from_python(graph.to_python(), (None, 4)).to_python() == graph.to_python()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("model", "Model"),
        ("my net", "MyNet"),
        ("数字识别", "数字识别"),
        ("None", "NoneModel"),
        ("3", "Model"),
        ("😀", "Model"),
    ],
)
def test_the_class_of_a_model_has_its_name(name, expected):
    graph = Graph({"i": Node("Input", "input", {"shape": (None, 4)})}, name=name)
    source = graph.to_python()
    assert f"class {expected}(nn.Module):" in source
    assert Graph.from_python(source, (None, 4)).name == expected
