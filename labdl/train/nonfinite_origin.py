"""The origin of each NaN and infinity of a forward pass: the operator or module that made it from finite values."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from labdl import ops
from labdl.nn.module import Module
from labdl.ops.operator import Operator
from labdl.train.data_adapter import flatten
from labdl.train.monitor.activations import ModuleCall
from labdl.train.source_location import Location, caller_location

# operators without a finite gradient where an input is 0
_STEEP_AT_ZERO = (
    "sqrt",
    "rsqrt",
    "log",
    "log2",
    "log10",
    "xlogy",
    "vector_norm",
    "hypot",
    "pow",
    "reciprocal",
    "divide",
)


class Line(NamedTuple):
    """A call of an operator in a person's code."""

    operator: str
    location: Location
    bounds: tuple[float, float] | None  # of its inputs

    def describe(self, what: str) -> str:
        """The call, what it does, and the bounds of its inputs, for an error message."""
        between = " for inputs between {:.3g} and {:.3g}".format(*self.bounds) if self.bounds else ""
        return f"ops.{self.operator} in {self.location}, {what}{between}"


class Place(NamedTuple):
    """A call of a module or graph node: ``largest`` is the largest of its inputs, NaN or infinity if one of them is."""

    name: str
    kind: str
    node: str
    largest: float


@dataclass(eq=False)
class Origin:
    """The source of a NaN or infinity: an operator and its line, a module, or code that is not observed."""

    nan: bool
    observed: bool = True
    line: Line | None = None
    module: Place | None = None  # the innermost one that returned the value
    receiver: Place | None = None  # the module that took it, if no module returned it before
    given: bool = False  # an infinity that the model wants, such as the -inf of a mask

    @property
    def has_place(self) -> bool:
        """True when the module that returned or took the value first is known."""
        return self.module is not None or self.receiver is not None


class _Reader:
    """Reads the floating-point tensors of nested values."""

    def __init__(self, backend: Any):
        self.to_numpy, self.types = backend.to_numpy, backend.tensor_types()

    def floats(self, value: Any) -> list[tuple[Any, np.ndarray]]:
        """The tensors, each once, with their arrays."""
        tensors = {id(v): v for v in flatten(value)[0] if isinstance(v, self.types)}
        pairs = [(tensor, self.to_numpy(tensor)) for tensor in tensors.values()]
        return [(t, a) for t, a in pairs if a.dtype.kind == "f" or a.dtype.name == "bfloat16"]

    def nonfinite(self, value: Any) -> list[tuple[Any, bool]]:
        """The tensors that are not finite, and whether they have NaN."""
        return [(t, bool(np.isnan(a).any())) for t, a in self.floats(value) if not np.isfinite(a).all()]

    def largest(self, value: Any) -> float:
        """The largest absolute value, which is not finite if one is not."""
        return float(np.max([np.abs(a).max(initial=0.0) for _, a in self.floats(value)], initial=0.0))

    def line(self, entry: Operator, inputs: Any) -> Line | None:
        """The line that called the operator that is running; None in the code of LabDL."""
        location = caller_location()
        if location is None:
            return None
        bounds = [float(end) for _, a in self.floats(inputs) if a.size for end in (a.min(), a.max())]
        return Line(entry.name, location, (min(bounds), max(bounds)) if bounds else None)


class OriginTracker:
    """Follows the values of a forward pass that are not finite, as an observer of its operators and modules.

    Only the origins of tensors that are alive are kept, no tensors. An operator is the origin of its result if that is not
    finite even with other numbers in place of the NaN and infinities among its inputs: a `where` that does not select a NaN,
    or the softmax of masked scores, ends its way.
    """

    def __init__(self, backend: Any, model: Module):
        self.read = _Reader(backend)
        self.largest: float | None = None  # of the model's outputs, None until they are finite
        self._origins: dict[int, tuple[Any, Origin]] = {}  # by id of the tensor, with a weak reference to it
        self._latest: dict[bool, Origin] = {}  # of NaN and of infinity
        self._parameters = {id(p.value) for p in model.parameters()}
        self._repeating = False

    # -- observers

    def operator_called(self, entry: Operator, args: tuple, options: Mapping[str, Any], result: Any) -> None:
        """Note the origin of an operator's result."""
        results = [] if self._repeating else self.read.nonfinite(result)
        if results:
            nan = any(has_nan for _, has_nan in results)
            origin = self._latest[nan] = self._origin_of_call(entry, args, options, nan)
            for tensor, _ in results:
                self._keep(tensor, origin)

    def module_called(self, call: ModuleCall) -> None:
        """Note which module returned a value that is not finite, or took it, first."""
        place = Place(call.name, call.kind, call.node, self.read.largest(call.inputs))
        taken = [self.origin(*each) for each in self.read.nonfinite(call.inputs)]
        for origin in taken:
            if not origin.has_place and (origin.line is not None or not origin.observed):
                origin.receiver = place
        returned = self.read.nonfinite(call.outputs)
        for tensor, nan in returned:
            origin = self._find_origin(tensor) or self._origin_of_output(tensor, nan, taken)
            if not origin.has_place and origin not in taken:
                origin.module = place
        if not call.name:  # the model itself
            self.largest = None if returned else self.read.largest(call.outputs)

    # -- origins

    def origin(self, tensor: Any, nan: bool) -> Origin:
        """The origin of a tensor that is not finite; that of the last such result for a tensor that no operator made."""
        found = self._find_origin(tensor)
        if found is None:
            latest = None if id(tensor) in self._parameters else self._latest.get(nan)
            found = self._keep(tensor, latest or Origin(nan, observed=False, given=not nan))
        return found

    def _find_origin(self, tensor: Any) -> Origin | None:
        return self._origins.get(id(tensor), (None, None))[1]

    def _keep(self, tensor: Any, origin: Origin) -> Origin:
        key = id(tensor)  # used again when the tensor is deleted
        self._origins[key] = weakref.ref(tensor, lambda _: self._origins.pop(key, None)), origin
        return origin

    def _origin_of_output(self, tensor: Any, nan: bool, taken: list[Origin]) -> Origin:
        """The origin of an output that no operator made, as of a layer of a framework."""
        latest = self._latest.get(nan)
        passed = next((o for o in taken if not _ends(o, nan)), None)
        inside = latest if latest is not None and not latest.has_place else None
        return self._keep(tensor, passed or inside or Origin(nan, given=bool(taken) and not nan))

    def _origin_of_call(self, entry: Operator, args: tuple, options: Mapping[str, Any], nan: bool) -> Origin:
        sources = [(tensor, self.origin(tensor, has_nan)) for tensor, has_nan in self.read.nonfinite((args, options))]
        sources.sort(key=lambda source: (source[1].nan != nan, source[1].given))
        source = sources[0][1] if entry.random and sources else self._source(entry, args, options, nan, sources)
        if source is not None and not _ends(source, nan):
            return source
        return Origin(
            nan, line=self.read.line(entry, (args, options)), given=not nan and _has_infinity((args, options))
        )

    def _source(self, entry, args, options, nan: bool, sources: list[tuple[Any, Origin]]) -> Origin | None:
        """The origin of a result among those of the inputs; None if the operator makes it, whatever they are."""

        def is_result_of(kept: Any) -> bool:
            """True if the result is not finite though only this input is not."""
            replaced = {id(t): t for t, _ in sources if t is not kept}
            return self._repeat(entry, args, options, replaced, nan)

        if not sources or is_result_of(None):
            return None
        alone = (o for tensor, o in sources if len(sources) == 1 or is_result_of(tensor))
        return next(alone, sources[0][1])

    def _repeat(self, entry, args, options, replaced: Mapping[int, Any], nan: bool) -> bool:
        """Compute an operator with numbers in place of the NaN and infinities of some inputs; True if the result has them."""
        self._repeating = True
        try:
            new = {key: ops.where(ops.isfinite(tensor), tensor, 0.5) for key, tensor in replaced.items()}
            result = entry.function(*_replace(args, new), **_replace(options, new))
        except Exception:  # such as a matrix that is singular now, in words of the framework
            return False
        finally:
            self._repeating = False
        return any(has_nan == nan for _, has_nan in self.read.nonfinite(result))


class GradientTracker:
    """Finds the last operator in a person's code whose gradient is not finite, as an observer of a forward pass.

    The gradient of each is computed on its own: backpropagation multiplies it with 0 where the result is not selected, which
    is NaN.
    """

    def __init__(self, backend: Any):
        self.backend, self.read = backend, _Reader(backend)
        self.line: Line | None = None
        self._differentiating = False

    def operator_called(self, entry: Operator, args: tuple, options: Mapping[str, Any], result: Any) -> None:
        """Note the line of an operator whose gradient is not finite."""
        if self._differentiating or entry.random or not entry.differentiable:
            return
        line, inputs = self.read.line(entry, (args, options)), [t for t, _ in self.read.floats((args, options))]
        if line is None or not inputs:
            return

        def total(*values):
            new = dict(zip(map(id, inputs), values, strict=True))
            found = self.read.floats(entry.function(*_replace(args, new), **_replace(options, new)))
            return functools.reduce(ops.add, [ops.sum(tensor) for tensor, _ in found])

        self._differentiating = True
        try:
            gradients = self.backend.gradients(total, inputs)[1]
        except Exception:  # the framework has no gradient for these arguments, in words of its own
            return
        finally:
            self._differentiating = False
        if self.read.nonfinite(list(gradients)):
            self.line = line


def _replace(value: Any, new: Mapping[int, Any]) -> Any:
    """The arguments of a call with other tensors, by the ``id`` of those in their place."""
    if isinstance(value, Mapping):
        return {name: _replace(v, new) for name, v in value.items()}
    if isinstance(value, list | tuple):
        return type(value)([_replace(v, new) for v in value])
    return new.get(id(value), value)


def _ends(origin: Origin, nan: bool) -> bool:
    """True if a value is not due to this input: what makes NaN of an infinity that the model wants is the cause."""
    return nan and origin.given


def _has_infinity(inputs: Any) -> bool:
    return any(isinstance(v, float) and np.isinf(v) for v in flatten(inputs)[0])
