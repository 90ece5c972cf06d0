"""Every backend has the members of `labdl.backends.protocol`, with compatible signatures."""

import ast
import importlib
import inspect
import re
import sys
import tomllib
from pathlib import Path

import pytest

from labdl import framework_info
from labdl.backends import facts, protocol

FOLDER = Path(protocol.__file__).parents[1]
PYPROJECT = Path(__file__).parents[3] / "pyproject.toml"


def members(contract) -> dict[str, object]:
    """The members of a protocol: a function for a method, None for an attribute."""
    found: dict[str, object] = {}
    for base in reversed(contract.__mro__):
        if getattr(base, "_is_protocol", False):
            found.update(dict.fromkeys(inspect.get_annotations(base)))
            found.update({n: f for n, f in vars(base).items() if inspect.isfunction(f) and not n.startswith("_")})
    return found


def incompatible(declared, function) -> str | None:
    """How a function cannot be called as a protocol's method says, or None."""
    wanted = list(inspect.signature(declared).parameters.values())[1:]
    given = list(inspect.signature(function).parameters.values())
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in given):
        return None
    if [p.name for p in wanted] != [p.name for p in given[: len(wanted)]]:
        return f"has parameters {[p.name for p in given]}, the protocol {[p.name for p in wanted]}"
    for ours, theirs in zip(wanted, given, strict=False):
        if ours.default is not ours.empty and theirs.default is theirs.empty:
            return f"wants {ours.name}, which the protocol makes optional"
    extra = [p.name for p in given[len(wanted) :] if p.default is p.empty]
    return f"wants {extra} besides" if extra else None


def problems(contract, backend) -> list[str]:
    found = []
    for name, declared in members(contract).items():
        if not hasattr(backend, name):
            found.append(f"{name} is missing")
        elif declared is not None:
            problem = incompatible(declared, getattr(backend, name))
            found += [f"{name} {problem}"] if problem else []
    return found


def check(name: str) -> None:
    backend = importlib.import_module(f"labdl.backends.{name}.backend")
    contract = protocol.Backend if framework_info.FACTS[name].trains else protocol.ReferenceBackend
    assert problems(contract, backend) == []
    for optional in protocol.OPTIONAL:
        if any(hasattr(backend, member) for member in members(optional)):
            assert problems(optional, backend) == []
    if hasattr(backend, "layout"):
        assert problems(protocol.ChannelsLast, backend.layout) == []
    if hasattr(backend, "SOURCE"):
        keys = protocol.SourceWords.__required_keys__
        assert keys <= set(backend.SOURCE) <= keys | protocol.SourceWords.__optional_keys__


@pytest.mark.slow
@pytest.mark.parametrize("name", framework_info.NAMES)
def test_every_backend_has_the_members_of_the_protocol(name, fresh_python):
    """In a process of its own: frameworks are not imported together here."""
    code = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
    fresh_python(code + f"import test_backend_protocol; test_backend_protocol.check({name!r}); print('ok')").result()


def test_a_missing_member_and_another_signature_are_found():
    class Half:
        @staticmethod
        def device_of(tensor, other):
            """Has another name and one parameter too many."""

        @staticmethod
        def devices():
            """As declared."""

    found = problems(protocol.Devices, Half)
    assert "set_device is missing" in found
    assert any(text.startswith("device_of has parameters") for text in found)
    assert not any(text.startswith("devices ") for text in found)


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
