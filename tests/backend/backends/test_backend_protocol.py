"""Every backend has the members of `labdl.backends.protocol`, with compatible signatures."""

import importlib
import inspect

import pytest

from labdl import framework_info
from labdl.backends import protocol


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


@pytest.mark.parametrize("reference", [False, True], ids=["backend", "numpy"])
def test_a_backend_has_the_members_of_the_protocol(reference, backend):
    name = "numpy" if reference else backend.name
    module = importlib.import_module(f"labdl.backends.{name}.backend")
    contract = protocol.Backend if framework_info.FACTS[name].trains else protocol.ReferenceBackend
    assert problems(contract, module) == []
    for optional in protocol.OPTIONAL:
        if any(hasattr(module, member) for member in members(optional)):
            assert problems(optional, module) == []
    if hasattr(module, "layout"):
        assert problems(protocol.ChannelsLast, module.layout) == []
    if hasattr(module, "SOURCE"):
        keys = protocol.SourceWords.__required_keys__
        assert keys <= set(module.SOURCE) <= keys | protocol.SourceWords.__optional_keys__


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
