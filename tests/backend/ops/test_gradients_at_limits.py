"""Gradients of every operator at kinks, zeros, ties, equal and large values: finite where the function is, and PyTorch's.

The reference is the gradient in PyTorch in float64: that of its own function, or of the composite's parts. Slopes that are
infinite or undefined are listed here; where a framework differs, a line in tests/xfails says why.
"""

import types
import warnings

import numpy as np
import pytest
from cases import native
from limits import LIMITS, gradients_of, limit_calls
from test_operators import each_operator

import labdl
from labdl import nn, ops
from labdl.graph.lowering.compilable import Compilable
from labdl.ops.operator import OPERATORS

pytestmark = pytest.mark.sample(backends=2)

pytest.importorskip("torch")

# whose slopes are infinite or undefined at some limit: the ends of a domain, powers of negative numbers, matrices without rank
WITHOUT_SLOPE = ("asin", "acos", "acosh", "sqrt", "pow", "digamma", "lu", "pinv")
# which of several equal elements is chosen is left to the framework
CHOICES = ("topk", "kthvalue")
# whose rounding at large or constant values is larger than their slopes
ROUNDED = ("mfcc", "scaled_dot_product_attention")
# factors of matrices with equal eigenvalues are not unique
DECOMPOSITIONS = ("linalg", "matrix_functions")
CALLS = [(name, call) for name, call in limit_calls() if call.entry.category not in DECOMPOSITIONS]


def torch_gradients(call):
    torch = labdl.backends.get("torch")
    return gradients_of(call, lambda a: native(a, "torch"), torch.gradients, "float64")


def is_finite(results) -> bool:
    return all(np.isfinite(labdl.to_numpy(ops.astype(r, "float64"))).all() for r in map(ops.stop_gradient, results))


@pytest.mark.sample(cases=1, every=9)
@each_operator(CALLS)
def test_gradient_at_a_limit(cases, backend, run_cases):
    def check(call):
        name = call.entry.name
        try:
            reference, expected = torch_gradients(call)
        except (TypeError, ValueError, IndexError):
            return  # such as a batch of one beside other sizes
        if not is_finite(reference):
            return
        _, found = gradients_of(call, lambda a: native(a, backend.name), backend.gradients)
        for ours, theirs in zip(found, expected, strict=True):
            assert ours.shape == theirs.shape
            if name in CHOICES:
                ours, theirs = np.sort(ours, None), np.sort(theirs, None)
            assert np.isfinite(theirs).all() or name in WITHOUT_SLOPE
            there = np.abs(theirs) < 1e37  # beyond, and where it is NaN, there is none
            largest = np.abs(theirs[there]).max(initial=1)
            assert np.isfinite(ours[there]).all()
            if name not in ROUNDED:
                np.testing.assert_allclose(ours[there], theirs[there], rtol=1e-2, atol=1e-3 * largest)

    run_cases(cases, check)


LOSSES = ("classification", "detection", "regression", "sequence", "similarity")
HALF = [(name, call) for name, call in CALLS if call.entry.category in ("activation", *LOSSES)]


@pytest.mark.sample(cases=1, every=9)
@each_operator(HALF)
def test_gradient_at_a_limit_in_half_precision(cases, backend, run_cases):
    """Finite where the results are, and the true gradient is in the range of float16."""

    def check(call):
        if "float16" not in call.entry.takes:
            return
        try:
            _, expected = torch_gradients(call)
        except (TypeError, ValueError, IndexError):
            return
        results, found = gradients_of(call, lambda a: native(a, backend.name), backend.gradients, "float16")
        if is_finite(results):
            for ours, theirs in zip(found, expected, strict=True):
                assert np.isfinite(ours[np.abs(theirs) < 6e3]).all()

    run_cases(cases, check)


# -- programs


ACTIVATIONS = [
    name
    for name, entry in OPERATORS.items()
    if entry.category == "activation" and not entry.random and len(entry.samples[0][0]) == 1
]


class Activations(nn.Module):
    """The activations, each of an input of its own: a parameter, so that a compiled step gives its gradient."""

    def __init__(self):
        for name in ACTIVATIONS:
            setattr(self, name, nn.Parameter((12,), "zeros"))

    def forward(self, x):
        total = None
        for name in ACTIVATIONS:
            value = ops.sum(getattr(ops, name)(x + getattr(self, name)))
            total = value if total is None else total + value
        return total


@pytest.mark.sample(backends=4)
def test_a_compiled_step_has_the_slopes_of_an_eager_one(backend):
    model = Activations().build((12,), backend=backend.name).train()
    x = backend.tensor(LIMITS["points"](np.zeros((1, 12))).astype("float32"))
    learned = types.SimpleNamespace(variables=[p.value for p in model.parameters()], version=0)

    def objective(x):
        value = model(x)
        return value, [value]

    eager = backend.gradient_function(objective, learned, compiled=False)
    compiled = backend.gradient_function(Compilable(objective, [model], backend), learned, compiled=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # such as that there is no flat form
        found = [[labdl.to_numpy(g) for g in run(x)[1]] for run in (eager, compiled)]
    for name, ours, theirs in zip(ACTIVATIONS, *found, strict=True):
        assert np.isfinite(ours).all(), name
        np.testing.assert_allclose(theirs, ours, rtol=1e-5, atol=1e-6, err_msg=name)
