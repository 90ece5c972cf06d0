"""Run-time imports between modules of labdl form no cycles."""

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def check():
    spec = importlib.util.spec_from_file_location("check_cycles", ROOT / "scripts" / "check_cycles.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["check_cycles"] = module
    spec.loader.exec_module(module)
    return module


def write(folder, **files):
    (folder / "labdl").mkdir()
    for name, source in {"__init__": "", **files}.items():
        path = folder / "labdl" / f"{name.replace('__init__', '-').replace('__', '/').replace('-', '__init__')}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(source)
    return folder


@pytest.mark.sample(False)
def test_labdl_has_no_cycles(check):
    imports = check.Imports(ROOT)
    assert len(imports.modules) > 400
    assert imports.cycles(lazy=False) == []
    assert imports.cycles(without=check.ALLOWED) == []
    assert check.unused(imports, check.ALLOWED) == []


def test_cycle_is_found(check, tmp_path):
    imports = check.Imports(write(tmp_path, a="import labdl.b", b="from labdl import c", c="from labdl.a import x"))
    assert imports.cycles(lazy=False) == [["labdl.a", "labdl.b", "labdl.c"]]


def test_cycle_through_function_import_is_found(check, tmp_path):
    imports = check.Imports(write(tmp_path, a="import labdl.b", b="def f():\n    from labdl.a import x\n"))
    assert imports.cycles(lazy=False) == []
    assert imports.cycles() == [["labdl.a", "labdl.b"]]
    assert imports.cycles(without=[("labdl.b", "labdl.a")]) == []


def test_unused_exception_is_found(check, tmp_path):
    imports = check.Imports(write(tmp_path, a="import labdl.b", b="def f():\n    from labdl.c import x\n", c=""))
    assert check.unused(imports, [("labdl.b", "labdl.c"), ("labdl.b", "labdl.a")]) == [
        ("labdl.b", "labdl.a"),
        ("labdl.b", "labdl.c"),
    ]


def test_type_checking_import_does_not_count(check, tmp_path):
    guarded = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from labdl.a import x\n"
    assert check.Imports(write(tmp_path, a="import labdl.b", b=guarded)).cycles() == []


def test_reexported_name_counts_as_its_definition(check, tmp_path):
    files = {
        "ops____init__": "from labdl.ops.shapes import reshape\nfrom labdl.ops.sums import total\n",
        "ops__shapes": "from labdl import tensors\n",
        "ops__sums": "import math\n",
    }
    by_name = write(tmp_path, tensors="from labdl.ops import total\n", **files)
    assert check.Imports(by_name).cycles() == []
    (by_name / "labdl" / "tensors.py").write_text("from labdl import ops\n\nf = ops.total\n")
    assert check.Imports(by_name).cycles() == []
    (by_name / "labdl" / "tensors.py").write_text("from labdl import ops\n\nf = ops.reshape\n")
    assert check.Imports(by_name).cycles() == [["labdl.ops.shapes", "labdl.tensors"]]
