"""The contract of every layer: values and state equal NumPy, inferred shapes, gradients, weights."""

import numpy as np
import pytest
from layers import CASES, EACH_CASE, NAMES, assert_same, call, draw, flat, make, specs_of, twins
from portable_numbers import restart_portable_numbers

import labdl
from labdl import ops
from labdl.nn.schema import LAYERS, fields


@pytest.mark.sample(every=2)
@pytest.mark.smoke
@pytest.mark.parametrize("training", [False, True], ids=["evaluation", "training"])
@pytest.mark.parametrize("case", EACH_CASE)
def test_output_and_state_equal_numpys(case, training, backend):
    """In training too: batch statistics are no matter of chance, and NumPy draws for dropout and noise."""
    ours, reference = twins(case, backend, training)
    arrays = draw(case)
    for _ in range(2):  # the second call sees the running statistics that the first one left
        assert_same(call(ours, arrays, backend), call(reference, arrays), backend)
    expected = reference.state_dict()
    for key, value in ours.state_dict().items():
        np.testing.assert_allclose(value, expected[key], rtol=1e-5, atol=1e-6)


def repeated(case, arrays):
    """The inputs with twice as many samples."""
    return [np.concatenate([a, a]) if s.shape else a for s, a in zip(CASES[case][2], arrays, strict=True)]


@pytest.mark.sample(every=4, backends=1)
@pytest.mark.parametrize("name", NAMES)
def test_a_batch_of_another_size_passes(name, backend):
    """The batch was left open at build: one sample and twice as many go through as well."""
    ours, reference = twins(name, backend)
    for arrays in ([a[:1] for a in draw(name)], repeated(name, draw(name))):
        assert_same(call(ours, arrays, backend), call(reference, arrays), backend)


@pytest.mark.sample(every=2, backends=1)
@pytest.mark.parametrize("case", EACH_CASE)
def test_inferred_shapes_are_the_real_ones(case, backend):
    """Also with an open batch, which is every size that another batch makes another."""
    model, arrays = make(case, backend.name), draw(case)
    real, others = (
        [labdl.to_numpy(t) for t in call(model, given, backend)] for given in (arrays, repeated(case, arrays))
    )
    closed = [r.shape for r in real]
    opened = [
        tuple(n if n == m else None for n, m in zip(r.shape, o.shape, strict=True))
        for r, o in zip(real, others, strict=True)
    ]
    for batch, expected in ((len(arrays[0]), closed), (None, opened)):
        specs = flat(model._shapes_of(*specs_of(arrays, batch)))
        assert [s.shape for s in specs] == expected
        assert [s.dtype for s in specs] == [str(r.dtype) for r in real]
        assert len(specs) == len(type(model).layer_outputs)


def no_matter(case, key):
    """Parameters whose gradient is zero whatever comes in."""
    nothing_before = ("one step", "cell from nothing", "gated cell from nothing")
    # what is added to every key moves all scores of a query alike
    return key.endswith("key/bias:0") or (case in nothing_before and key == "recurrent_kernel:0")


@pytest.mark.parametrize("case", EACH_CASE)
def test_gradients_reach_every_parameter_and_input(case, backend, full_breadth):
    """Finite and not zero, and for parameters equal to central differences of the NumPy layer.

    In full breadth for each parameter alone, else for all at once: NumPy takes longer than the backend.
    """
    ours, reference = twins(case, backend, training=True)
    arrays = draw(case, seed=1)
    outputs = call(reference, arrays)
    rng = np.random.default_rng(2)
    weights = [rng.uniform(0.5, 1.5, o.shape).astype("float32") if o.dtype.kind == "f" else None for o in outputs]
    parameters = [(k, p) for k, p in ours.named_parameters() if p.trainable]
    movable = [i for i, a in enumerate(arrays) if a.dtype == np.float32]

    def scalar(*values):
        restart_portable_numbers()
        inputs = [backend.tensor(a) for a in arrays]
        for i, value in zip(movable, values[len(parameters) :], strict=True):
            inputs[i] = value
        parts = [
            ops.sum(ops.multiply(o, backend.tensor(w)))
            for o, w in zip(flat(ours(*inputs)), weights, strict=True)
            if w is not None
        ]
        return sum(parts[1:], parts[0])

    leaves = [p.value for _, p in parameters] + [backend.tensor(arrays[i]) for i in movable]
    if not leaves or all(w is None for w in weights):
        return
    value, gradients = backend.gradients(scalar, leaves)
    assert np.isfinite(labdl.to_numpy(value))
    largest = []
    for (key, parameter), gradient in zip(parameters, gradients, strict=False):
        array = labdl.to_numpy(gradient)
        assert array.shape == parameter.shape
        assert np.isfinite(array).all(), key
        assert np.abs(array).max() > 1e-6 or no_matter(case, key), key
        at = np.unravel_index(np.abs(array).argmax(), array.shape)
        largest.append((key, at, array[at]))
    for entries in [[entry] for entry in largest] if full_breadth else [largest]:
        _compare_slope(reference, entries, arrays, weights)
    for gradient in gradients[len(parameters) :]:
        assert np.isfinite(labdl.to_numpy(gradient)).all()
        assert np.abs(labdl.to_numpy(gradient)).max() > 1e-6


def _compare_slope(reference, entries, arrays, weights):
    """Entries of gradients against the change of the NumPy layer's output, summed in float64, when all move uphill."""
    values = dict(reference.named_parameters())
    before = {key: values[key].value.copy() for key, _, _ in entries}
    ends = []
    for step in (1e-2, -1e-2):
        for key, at, slope in entries:
            values[key].value[at] = before[key][at] + step * np.sign(slope)
        outputs = zip(weights, call(reference, arrays), strict=True)
        ends.append(sum(float(np.sum(w.astype("float64") * o)) for w, o in outputs if w is not None))
    for key, at, _ in entries:
        values[key].value[at] = before[key][at]
    expected = (ends[0] - ends[1]) / 2e-2
    assert sum(abs(slope) for _, _, slope in entries) == pytest.approx(expected, rel=0.03, abs=5e-3)


@pytest.mark.sample(every=3, backends=1)
@pytest.mark.parametrize("name", NAMES)
def test_same_seed_same_bits_as_on_numpy(name, backend):
    ours, reference = make(name, backend.name).state_dict(), make(name, "numpy").state_dict()
    assert list(ours) == list(reference)
    for key, value in ours.items():
        assert value.dtype == reference[key].dtype
        np.testing.assert_array_equal(value, reference[key])


@pytest.mark.sample(every=4, backends=1)
@pytest.mark.parametrize("name", NAMES)
def test_values_move_between_backends_and_back_unchanged(name, backend):
    model = make(name, backend.name, seed=1)
    values = model.state_dict()
    other = make(name, backend.name, seed=2)
    other.load_state_dict(values)
    moved = make(name, backend.name, seed=1).to("numpy")
    assert moved.backend == "numpy"
    back = moved.to(backend.name)
    assert back.backend == backend.name
    assert all(isinstance(p.value, backend.tensor_types()) for p in back.parameters())
    for twin in (other, moved, back):
        assert list(twin.state_dict()) == list(values)
        assert all(np.array_equal(v, values[k]) for k, v in twin.state_dict().items())
    assert_same(
        call(back.eval(), draw(name), backend),
        [labdl.to_numpy(t) for t in call(model.eval(), draw(name), backend)],
        backend,
    )


@pytest.mark.sample(every=2)
@pytest.mark.parametrize("training", [False, True], ids=["evaluation", "training"])
@pytest.mark.parametrize("name", [n for n in NAMES if "data_format" in fields(LAYERS[n])])
def test_both_data_formats_give_the_same_values(name, training, backend):
    first = make(name, backend.name).train(training)
    arrays = draw(name)
    place = 2 if name == "ConvLSTM" else 1  # behind the steps
    moved = [np.ascontiguousarray(np.moveaxis(a, place, -1)) if a.ndim > 2 else a for a in arrays]
    params = {**CASES[name][1], "data_format": "channels_last"}
    last = LAYERS[name](**params).build(*specs_of(moved), backend=backend.name, seed=0).train(training)
    last.load_state_dict(first.state_dict())
    for one, other in zip(call(first, arrays, backend), call(last, moved, backend), strict=True):
        one, other = labdl.to_numpy(one), labdl.to_numpy(other)
        if one.ndim == arrays[0].ndim:
            other = np.moveaxis(other, -1, place)
        elif name == "ConvLSTM":  # states without steps
            other = np.moveaxis(other, -1, 1)
        np.testing.assert_allclose(other, one, rtol=1e-4, atol=1e-5)
