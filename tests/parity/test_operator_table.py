"""The generated table docs/operators.md is up to date, and what it says of the frameworks is so."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from labdl import ops
from labdl.ops import OPERATORS

ROOT = Path(__file__).parents[2]
# written by hand, from the frameworks' documentation
CALLS = {
    "torch": {
        "sigmoid": "torch.sigmoid",
        "exp": "torch.exp",
        "sum": "torch.sum",
        "matmul": "torch.matmul",
        "softmax": "torch.softmax",
        "where": "torch.where",
        "concat": "torch.cat",
        "conv2d": "torch.nn.functional.conv2d",
        "layer_norm": "torch.nn.functional.layer_norm",
        "embedding": "torch.nn.functional.embedding",
        "max_pool2d": "torch.nn.functional.max_pool2d",
    },
    "tensorflow": {
        "relu": "tf.raw_ops.Relu",
        "exp": "tf.raw_ops.Exp",
        "sum": "tf.raw_ops.Sum",
        "matmul": "tf.raw_ops.MatMul",
        "softmax": "tf.raw_ops.Softmax",
        "where": "tf.raw_ops.SelectV2",
        "concat": "tf.raw_ops.ConcatV2",
        "conv2d": "tf.raw_ops.Conv2D tf.raw_ops.BiasAdd",
        "tanh": "tf.raw_ops.Tanh",
        "embedding": "tf.raw_ops.GatherV2",
        "max_pool2d": "tf.raw_ops.MaxPool",
    },
    "paddle": {
        "sigmoid": "paddle._C_ops.sigmoid",
        "exp": "paddle._C_ops.exp",
        "sum": "paddle._C_ops.sum",
        "matmul": "paddle._C_ops.matmul",
        "softmax": "paddle._C_ops.softmax",
        "where": "paddle._C_ops.where",
        "concat": "paddle._C_ops.concat",
        "conv2d": "paddle._C_ops.conv2d paddle._C_ops.add",
        "layer_norm": "paddle._C_ops.layer_norm",
        "tanh": "paddle._C_ops.tanh",
        "sin": "paddle._C_ops.sin",
    },
    "mindspore": {
        "exp": "mindspore.ops.Exp",
        "matmul": "mindspore.ops.MatMul",
        "where": "mindspore.ops.Select",
        "conv2d": "mindspore.ops.Conv2D mindspore.ops.BiasAdd",
        "layer_norm": "mindspore.ops.LayerNorm",
        "embedding": "mindspore.ops.Gather",
        "batch_norm": "mindspore.ops.BatchNorm",
        "reshape": "mindspore.Tensor.reshape",
        "cos": "mindspore.ops.Cos",
        "erf": "mindspore.ops.Erf",
        "sin": "mindspore.ops.Sin",
    },
}


def rows():
    """Cells of each operator's row: the call, the sentence, and one for each framework."""
    text = (ROOT / "docs" / "operators.md").read_text().partition("## functions")[0]
    return {
        match[1]: re.split(r"(?<!\\) \| ", line.removeprefix("| ").removesuffix(" |"))
        for line in text.splitlines()
        if (match := re.match(r"\| `(\w+)\(", line))
    }


@pytest.mark.parametrize("backend", CALLS)
def test_calls_in_the_table_are_those_of_the_framework(backend):
    table, place = rows(), 2 + [*CALLS].index(backend)
    cells = {name: " ".join(re.findall("`([^`]*)`", table[name][place])) for name in CALLS[backend]}
    assert cells == CALLS[backend]


def test_the_table_has_every_operator_with_its_arguments():
    table = rows()
    assert table.keys() == OPERATORS.keys()
    for name, entry in OPERATORS.items():
        arguments = str(entry.signature).replace("|", "\\|").replace(", /", "").replace("/", "")
        assert table[name][0] == f"`{name}{arguments}`"
        assert table[name][1] == (entry.body.__doc__ or "").strip().splitlines()[0].replace("|", "\\|")


@pytest.mark.sample(False)
def test_operator_table_is_up_to_date(tmp_path):
    """`python scripts/operator_table.py` generates the same file."""
    made = tmp_path / "operators.md"
    subprocess.run([sys.executable, str(ROOT / "scripts" / "operator_table.py"), str(made)], check=True, timeout=300)
    text = made.read_text()
    assert "| missing |" not in text
    listed = set(re.findall(r"^\| `(\w+)\(", text, re.MULTILINE))
    assert {name for name in ops.__all__ if inspect.isfunction(getattr(ops, name))} - listed == {"operator"}
    assert text == (ROOT / "docs" / "operators.md").read_text()
