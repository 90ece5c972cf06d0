"""Gradients of complex numbers: dL = Re(sum(conj(g) * dx)) along random directions, as in PyTorch, for every operator."""

import numpy as np
import pytest
from cases import Call, each_sample, native

import labdl
from labdl.ops.operator import OPERATORS

pytestmark = pytest.mark.sample(backends=2, every=4)

STEP = 1e-6
NAMES = [
    name
    for name, entry in OPERATORS.items()
    if entry.differentiable and not entry.random and "complex128" in entry.takes
]


def is_number(array) -> bool:
    return array.dtype.kind in "fc"


def parts(result):
    """The real and imaginary parts of what can be differentiated."""
    dtype = labdl.dispatch.spec_of(result).dtype
    if dtype.startswith("complex"):
        return [labdl.ops.real(result), labdl.ops.imag(result)]
    return [result] if "float" in dtype else []


@pytest.mark.parametrize("name", NAMES)
def test_complex_gradient(name, backend):
    entry = OPERATORS[name]
    call = Call(entry, entry.samples[0], "complex128")
    args, kwargs = call.arrays(seed=1)
    leaves: list[np.ndarray] = []
    each_sample((args, kwargs), lambda a: leaves.append(a) if is_number(a) else a)

    def results(values, wrap):
        given = iter(values)
        place = lambda a: next(given) if is_number(a) else wrap(a)  # noqa: E731
        return [part for result in call(args, kwargs, place) for part in parts(result)]

    rng = np.random.default_rng(2)
    weights = [rng.uniform(-1, 1, np.shape(r)) for r in results([leaf.copy() for leaf in leaves], np.copy)]

    def scalar(values):
        return sum(float(np.sum(w * r)) for w, r in zip(weights, results(values, np.copy), strict=True))

    def native_scalar(*values):
        total = None
        for w, r in zip(weights, results(values, lambda a: native(a, backend.name)), strict=True):
            part = labdl.ops.sum(labdl.ops.multiply(r, native(w, backend.name)))
            total = part if total is None else labdl.ops.add(total, part)
        return total

    _, found = backend.gradients(native_scalar, [native(leaf, backend.name) for leaf in leaves])
    for k, (leaf, gradient) in enumerate(zip(leaves, found, strict=True)):
        ours = labdl.to_numpy(gradient)
        for _ in range(2):
            direction = rng.normal(size=leaf.shape) + (
                1j * rng.normal(size=leaf.shape) if leaf.dtype.kind == "c" else 0
            )
            if name == "cholesky":  # which reads one triangle of a Hermitian matrix
                direction = direction + np.conj(np.swapaxes(direction, -2, -1))
            ends = [scalar([*leaves[:k], leaf + step * direction, *leaves[k + 1 :]]) for step in (STEP, -STEP)]
            expected = (ends[0] - ends[1]) / (2 * STEP)
            np.testing.assert_allclose(np.sum(np.conj(ours) * direction).real, expected, rtol=1e-4, atol=1e-5)
