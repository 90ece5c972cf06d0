"""What LabDL knows of each framework before it imports it, and what may import which."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

from labdl import framework_info
from labdl.backends import facts, protocol

FOLDER = Path(protocol.__file__).parents[1]
PYPROJECT = Path(__file__).parents[3] / "pyproject.toml"


@pytest.mark.parametrize("name", framework_info.NAMES)
def test_the_facts_of_a_framework_are_complete(name):
    known = framework_info.FACTS[name]
    assert known.name == name
    assert known.title
    assert known.distributions
    assert set(known.load_before) < set(framework_info.NAMES)
    if known.trains:
        extras = tomllib.loads(PYPROJECT.read_text())["project"]["optional-dependencies"]
        assert known.requires in extras[name]
        assert known.checkpoint_suffix.startswith(".")
        assert known.checkpoint_format
        assert known.safetensors_format


def test_facts_and_protocols_import_no_framework():
    for path in [*FOLDER.glob("*.py"), *FOLDER.glob("protocol/*.py"), *FOLDER.glob("*/facts.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            names = [node.module] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            roots = {str(name).partition(".")[0] for name in names}
            assert roots <= {*sys.stdlib_module_names, "labdl", "numpy"}, path


def test_preference_and_load_order_name_each_backend_once():
    assert sorted(framework_info.PREFERENCE) == sorted(framework_info.NAMES)
    assert len({f.preference for f in framework_info.FACTS.values()}) == len(framework_info.NAMES)
    assert all(isinstance(f, facts.FrameworkFacts) for f in framework_info.FACTS.values())


def test_private_kernels_of_paddle_are_imported_in_one_file():
    """And by the recorder, which replaces them for the time of a recording."""
    importers = {
        path.name
        for path in FOLDER.glob("paddle/*.py")
        if re.search(r"^from paddle(\._C_ops)? import .*(_C_ops|\()", path.read_text(), re.M)
        and "_C_ops" in path.read_text()
    }
    assert importers == {"kernels.py", "call_recorder.py"}
