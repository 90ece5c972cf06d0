"""The cases that every operator is tried on, made from its samples: dtypes, edges, and how results are compared."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import ml_dtypes
import numpy as np

import labdl
from labdl.ops.operator import OPERATORS, Operator, Sample
from labdl.spec import COMPLEX, DTYPES, FLOATS

# relative and absolute: what rounding in that dtype leaves after a short computation
TOLERANCE = {
    "float16": (2e-2, 2e-2),
    "bfloat16": (6e-2, 6e-2),
    "float32": (2e-5, 2e-6),
    "complex64": (2e-5, 4e-6),
    "float64": (1e-9, 1e-11),
    "complex128": (1e-9, 1e-11),
}


def each_sample(value, function: Callable):
    """Replace every sample or array in nested arguments."""
    if isinstance(value, Sample | np.ndarray):
        return function(value)
    if isinstance(value, list | tuple):
        return type(value)(each_sample(v, function) for v in value)
    if isinstance(value, dict):
        return {k: each_sample(v, function) for k, v in value.items()}
    return value


@dataclass(frozen=True)
class Call:
    """One call of an operator: samples for tensors, the dtype of the free ones, and what is done to their values."""

    entry: Operator
    case: tuple
    dtype: str | None = None
    spoil: Callable | None = None

    def arrays(self, seed: int = 0):
        """Positional and named arguments, tensors as NumPy arrays; bfloat16 as ml_dtypes has it."""
        rng = np.random.default_rng(seed)

        def draw(sample: Sample):
            array = np.asarray(sample.draw(rng, self.dtype))
            if self.spoil and sample.free and array.dtype.kind == "f":
                array = np.asarray(self.spoil(array)).astype(array.dtype)
            bfloat16 = sample.free and self.dtype == "bfloat16"
            return array.astype(ml_dtypes.bfloat16) if bfloat16 else array

        return each_sample(self.case, draw)

    def __call__(self, args, kwargs, wrap: Callable = np.copy):
        """The results, in a list."""
        result = getattr(labdl.ops, self.entry.name)(*each_sample(args, wrap), **each_sample(kwargs, wrap))
        return list(result) if isinstance(result, list | tuple) else [result]

    def refused(self, args, kwargs) -> type[Exception] | None:
        """The kind of error that the operator's meaning gives, None when there is a result."""
        try:
            self(args, kwargs)
        except (TypeError, ValueError, IndexError) as error:
            return next(k for k in (TypeError, ValueError, IndexError) if isinstance(error, k))
        return None


def native(array: np.ndarray, backend: str):
    """The backend's tensor of a NumPy array."""
    if array.dtype == ml_dtypes.bfloat16:
        return labdl.tensor(array.astype("float32"), dtype="bfloat16", backend=backend)
    return labdl.tensor(array, backend=backend)


def assert_alike(call: Call, actual: list, expected: list, args, backend) -> None:
    """Shapes, dtypes and values, up to rounding; an operator with a free choice (signs of vectors) says how it is compared."""
    kinds = (*backend.tensor_types(), labdl.ops.StringTensor)
    assert all(isinstance(t, kinds) for t in actual), "the result must be the backend's own tensor"
    assert [labdl.dispatch.spec_of(t).dtype for t in actual] == [labdl.dispatch.spec_of(t).dtype for t in expected]
    arrays = [labdl.to_numpy(t) for t in actual]
    assert [a.shape for a in arrays] == [np.shape(e) for e in expected]
    if call.entry.random and not labdl.dispatch.portable():
        return
    if getattr(call.entry, "compare", None):
        plain = [a.astype("float32") if getattr(a, "dtype", None) == ml_dtypes.bfloat16 else a for a in args]
        arrays, expected = (call.entry.compare(r, *plain) for r in (arrays, expected))
    elementwise = (call.entry.rule or call.entry.body).__module__.endswith("elementwise")
    for ours, reference in zip(arrays, expected, strict=True):
        reference = np.asarray(reference)
        dtype = str(reference.dtype)
        if reference.dtype == ml_dtypes.bfloat16:
            reference = reference.astype("float32")
        if reference.dtype.kind not in "fc":
            np.testing.assert_array_equal(ours, reference)
            continue
        # an integer or bool operand is as exact as the result's dtype; a half one only as itself
        rtol, atol = max(TOLERANCE[d] for d in (dtype, call.dtype, "float64") if d in TOLERANCE)
        finite = np.isfinite(reference)
        largest = float(np.abs(reference[finite]).max(initial=0))
        if call.spoil:  # large terms may cancel
            atol = max(atol, rtol * largest)
        elif dtype == "bfloat16" and not elementwise:  # partial sums may be rounded to it
            atol = max(atol, 0.02 * largest)
        if not elementwise:  # where infinite terms meet, the order of a sum decides between NaN and infinity
            np.testing.assert_array_equal(np.isfinite(ours), finite)
            ours, reference = np.where(finite, ours, 0), np.where(finite, reference, 0)
        np.testing.assert_allclose(ours, reference, rtol=rtol, atol=atol)


def samples_of(call_case) -> list[Sample]:
    found: list[Sample] = []
    each_sample(call_case, lambda s: found.append(s) or s)
    return found


def parts_of(result):
    """What can be differentiated: real numbers, or the two parts of complex ones."""
    dtype = labdl.dispatch.spec_of(result).dtype
    if dtype.startswith("complex"):
        return [labdl.ops.real(result), labdl.ops.imag(result)]
    return [result] if "float" in dtype else []


# -- what is tried


def value_calls() -> Iterator[tuple[str, Call]]:
    for name, entry in OPERATORS.items():
        for i, case in enumerate(entry.samples):
            yield f"{name}-{i}", Call(entry, case)


def dtype_calls(taken: bool) -> Iterator[tuple[str, Call]]:
    """The first sample in every dtype that the operator takes, or in every one that it does not take."""
    for name, entry in OPERATORS.items():
        case = entry.samples[0]
        if any(s.free for s in samples_of(case)):
            for dtype in DTYPES:
                if (dtype in entry.takes) == taken:
                    yield f"{name}-{dtype}", Call(entry, case, dtype)


def _resized(case, size: int):
    """Each tensor that shares its first axis with the first tensor, in another size on it."""
    shapes = [s.shape for s in samples_of(case) if s.shape]
    if not shapes:
        return None
    first = shapes[0][0]
    return each_sample(case, lambda s: replace(s, shape=(size, *s.shape[1:])) if s.shape and s.shape[0] == first else s)


def _scalar(case):
    return each_sample(case, lambda s: replace(s, shape=()) if s.free else s)


def _single(case):
    """Every tensor of one element."""
    return each_sample(case, lambda s: replace(s, shape=(1,) * len(s.shape)))


def _broadcast(case, which: int):
    """One of the first two free tensors without its first axis, or with a first axis of size 1."""
    at = iter(range(99))
    return each_sample(case, lambda s: replace(s, shape=s.shape[1:]) if s.free and next(at) == which and s.shape else s)


def _put(last: float, first: float | None = None):
    """A value for the last element, and one for the first; what is sorted stays so, where NaN comes last."""

    def spoil(array):
        flat = array.reshape(-1).copy()
        if first is not None:
            flat[:1] = first
        flat[-1:] = last
        return flat.reshape(array.shape)

    return spoil


def _first_row(array):
    """The first row of the last axis all minus infinity, as an attention mask leaves it; vectors stay as they are."""
    array = array.copy()
    if array.ndim > 1 and array.size:
        array[(0,) * (array.ndim - 1)] = -math.inf
    return array


def _mix(array):
    """NaN between infinities of both signs, in no order."""
    flat = array.reshape(-1).copy()
    for at, value in zip((0, len(flat) // 2, len(flat) - 1), (math.inf, math.nan, -math.inf), strict=True):
        flat[at : at + 1] = value
    return flat.reshape(array.shape)


def _negative_positions(entry: Operator, case):
    """Positions counted from the end, where operators index: tables and classes are numbered from 0."""
    if entry.category not in ("indexing", "shape"):
        return None
    return each_sample(case, lambda s: s if s.free or s.dtype == "bool" or s.low else replace(s, low=-s.high, high=0))


def _with_options(entry: Operator, case, **options):
    """The case with other values of the options that the operator has; None if it has not all of them."""
    if not options.keys() <= entry.signature.parameters.keys():
        return None
    bound = entry.signature.bind(*case[0], **case[1])
    bound.arguments.update(options)
    return bound.args, bound.kwargs


def _no_axes(entry: Operator, case):
    """A reduction along no axes."""
    reduces = "keepdims" in entry.signature.parameters or entry.category == "reduction"
    return _with_options(entry, case, axis=()) if reduces else None


def _padding_pairs(entry: Operator, case):
    """Padding on one side of each axis, and windows that may begin in it."""
    tensors = [s for s in samples_of(case) if s.shape]
    pairs = tuple((1, 0) if i % 2 == 0 else (0, 1) for i in range(len(tensors[0].shape) - 2)) if tensors else ()
    if "stride" not in entry.signature.parameters or not pairs:
        return None
    ceil_mode = {"ceil_mode": True} if "ceil_mode" in entry.signature.parameters else {}
    return _with_options(entry, case, padding=pairs, **ceil_mode)


EDGES = {
    "empty": (lambda entry, case: _resized(case, 0), None),
    "one": (lambda entry, case: _resized(case, 1), None),
    "single": (lambda entry, case: _single(case), None),
    "scalar": (lambda entry, case: _scalar(case), None),
    "left": (lambda entry, case: _broadcast(case, 0), None),
    "right": (lambda entry, case: _broadcast(case, 1), None),
    "negative": (_negative_positions, None),
    "no_axes": (_no_axes, None),
    "pairs": (_padding_pairs, None),
    "nan": (lambda entry, case: case, _put(last=math.nan)),
    "infinite": (lambda entry, case: case, _put(first=-math.inf, last=math.inf)),
    "row": (lambda entry, case: case, _first_row),
    "mixed": (lambda entry, case: case, _mix),
    "large": (lambda entry, case: case, lambda array: array * 1e4),
}
UNORDERED = ("mixed",)  # not for tensors that must stay sorted or symmetric


def edge_calls() -> Iterator[tuple[str, Call]]:
    """The first two samples, changed: the operator's meaning says whether that gives a result or an error."""
    for name, entry in OPERATORS.items():
        floating = any(d in FLOATS for d in entry.takes)
        for i, case in enumerate(entry.samples[:2]):
            tried = [case]
            for edge, (change, spoil) in EDGES.items():
                changed = change(entry, case)
                undefined = (
                    spoil and edge != "large" and entry.category in ("linalg", "matrix_functions")
                )  # decompositions of what is not finite
                kept = edge in UNORDERED and (name == "searchsorted" or any(s.transform for s in samples_of(case)))
                if (
                    changed is None
                    or undefined
                    or kept
                    or (spoil and not floating)
                    or (edge == "row" and all(len(s.shape) < 2 for s in samples_of(case) if s.free))
                    or (not spoil and changed in tried)
                ):
                    continue
                tried.append(changed)
                yield f"{name}-{i}-{edge}", Call(entry, changed, None, spoil)


__all__ = [
    "COMPLEX",
    "Call",
    "assert_alike",
    "dtype_calls",
    "each_sample",
    "edge_calls",
    "native",
    "parts_of",
    "samples_of",
    "value_calls",
]
