"""Whether a loss function compares every output with every target by mistake, found by shape inference."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from labdl import dispatch
from labdl.errors import UnknownValueError
from labdl.ops.operator import Operator
from labdl.spec import Spec

_BATCH = 7919  # a size that no other axis has


def aligned_ranks(loss: Callable[[Any, Any], Any], output: Spec) -> frozenset[int]:
    """The numbers of axes of targets whose axes must be aligned with those of the output.

    These are targets (N) of an output (N, 1), and targets (N, 1) of an output (N), for which the function would broadcast to
    (N, N) or refuses the shapes. A function that handles them itself, such as one of ``output[:, 0]``, is left alone.
    """
    if not output.shape or output.shape[0] is not None:
        return frozenset()
    shape = (_BATCH, *output.shape[1:])
    targets = [(*shape, 1), *([shape[:-1]] if len(shape) > 1 and shape[-1] == 1 else [])]
    return frozenset(
        len(target)
        for target in targets
        if not _accepts(loss, shape, target, output.dtype) and _accepts(loss, shape, shape, output.dtype)
    )


def _accepts(loss: Callable[[Any, Any], Any], output: tuple, target: tuple, dtype: str) -> bool:
    _flag.squared = False
    try:
        loss(_Probe(output, dtype), _Probe(target, dtype))
    except UnknownValueError:
        return not _flag.squared
    except ValueError:  # of shapes that do not fit
        return False
    except Exception:  # a function of the user may call a framework, which takes no Specs: what came before counts
        return not _flag.squared
    return not _flag.squared


class _Probe(Spec):
    """A Spec whose operators record whether a result has the axis of the batch twice."""


class _ProbeBackend:
    """Shape inference on probes."""

    name = "probe"
    precedence = 3.5  # above Specs
    only_shapes = True

    def implementation(self, entry: Operator) -> Callable:
        return lambda *args, **kwargs: _record(entry.infer(args, kwargs))

    def spec_of(self, value: Spec) -> Spec:
        return value


def _record(result: Any) -> Any:
    if isinstance(result, list | tuple):
        return type(result)(map(_record, result))
    if not isinstance(result, Spec):
        return result
    _flag.squared |= result.shape.count(_BATCH) > 1
    return _Probe(result.shape, result.dtype)


class _Flag(threading.local):
    squared = False


_flag = _Flag()
dispatch.claim(_Probe, _ProbeBackend())
