"""Calls of a layer in a program, replaced by one call of a framework's layer that is an attribute of the model."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from labdl.graph.lowering.program import Call, Program, Ref, operands, refs


def layer_call(
    program: Program, path: str, target: str, *, is_tuple: bool = False, once: bool = False
) -> Program | None:
    """The program with the calls of the layer ``path`` as one call of ``target``; None where they are no such call.

    That is one after the other, of one tensor that is no parameter, with one result that others use, and no other call uses
    the layer's parameters. With ``is_tuple`` the result is the first of several. ``once`` is for layers that use each of
    their parameters once in a call.
    """
    places = [at for at, call in enumerate(program.calls) if call.place == path]
    if not places or places != list(range(places[0], places[-1] + 1)):
        return None
    inner, before, after = (
        program.calls[places[0] : places[-1] + 1],
        program.calls[: places[0]],
        program.calls[places[-1] + 1 :],
    )
    own = {ref.number for key, ref in program.parameters.items() if key.rpartition("/")[0] == path}
    results = {n for call in inner for n in refs(call.results)}
    inputs = {n for call in inner for n in operands(call)} - results - own - set(program.constants)
    others = {n for call in (*before, *after) for n in operands(call)} | set(refs(program.outputs))
    used = results & others
    parameters = {ref.number for ref in program.parameters.values()}
    if len(inputs) != 1 or len(used) != 1 or inputs & parameters or own & others:
        return None
    if once and any([n for call in inner for n in operands(call)].count(number) > 1 for number in own):
        return None
    result: Any = Ref(used.pop())
    call = Call(target, (Ref(inputs.pop()),), {}, (result, None) if is_tuple else result, path)
    used_parameters = {key: ref for key, ref in program.parameters.items() if ref.number not in own}
    return dataclasses.replace(program, calls=[*before, call, *after], parameters=used_parameters)


def without_calls(program: Program, targets: Iterable[str]) -> Program:
    """The program in which calls of these targets return their first argument."""
    gone, calls = {}, []
    for call in program.calls:
        call = _rename(call, gone)
        if call.target in targets:
            gone[call.results.number] = call.args[0]
        else:
            calls.append(call)
    return dataclasses.replace(program, calls=calls, outputs=_replace(program.outputs, gone))


def _rename(call: Call, gone: Mapping[int, Ref]) -> Call:
    blocks = tuple(
        dataclasses.replace(b, calls=[_rename(c, gone) for c in b.calls], outputs=_replace(b.outputs, gone))
        for b in call.blocks
    )
    return dataclasses.replace(call, args=_replace(call.args, gone), kwargs=_replace(call.kwargs, gone), blocks=blocks)


def _replace(value: Any, gone: Mapping[int, Ref]) -> Any:
    if isinstance(value, Ref):
        return gone.get(value.number, value)
    if isinstance(value, slice):
        return slice(*(_replace(v, gone) for v in (value.start, value.stop, value.step)))
    if isinstance(value, dict):
        return {k: _replace(v, gone) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_replace(v, gone) for v in value)
    return value
