"""Every layer on one backend against the same layer on NumPy: values, modes, gradients, shapes, weights (R2, D4, D6)."""

import numpy as np
import pytest

import labdl
from labdl import nn, ops
from labdl.nn.schema import LAYERS
from labdl.spec import Spec

NAMES = list(LAYERS)
# what a test adds to a layer's example, where its default would make the outcome random
SETTLED = {"Dropout": {"rate": 0.0}}


def draw(name, seed=0):
    rng = np.random.default_rng(seed)
    return [s.draw(rng) for s in LAYERS[name].layer_example.inputs]


def specs_of(arrays, batch=None):
    return [Spec((batch, *a.shape[1:]), str(a.dtype)) for a in arrays]


def make(name, backend_name, seed=3):
    cls = LAYERS[name]
    return cls(**{**cls.layer_example.params, **SETTLED.get(name, {})}).build(
        *specs_of(draw(name)), backend=backend_name, seed=seed
    )


def twins(name, backend, training=False):
    """The layer on the backend and on NumPy, with equal parameters that are not those they were born with."""
    ours, reference = make(name, backend.name), make(name, "numpy")
    rng = np.random.default_rng(5)
    values = {k: rng.uniform(0.5, 1.5, v.shape).astype(v.dtype) for k, v in reference.state_dict().items()}
    for model in (ours, reference):
        model.load_state_dict(values)
        model.train(training)
    return ours, reference


def flat(result):
    return list(result) if isinstance(result, list | tuple) else [result]


def call(model, arrays, backend=None):
    wrap = np.copy if backend is None else backend.tensor
    return flat(model(*[wrap(a) for a in arrays]))


def assert_same(actual, expected, backend):
    assert len(actual) == len(expected)
    for ours, reference in zip(actual, expected, strict=True):
        assert isinstance(ours, backend.tensor_types())
        values = labdl.to_numpy(ours)
        assert values.shape == reference.shape
        assert values.dtype == reference.dtype
        np.testing.assert_allclose(values, reference, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("training", [False, True], ids=["evaluation", "training"])
@pytest.mark.parametrize("name", NAMES)
def test_output_and_state_equal_numpys(name, training, backend):
    """In training too: dropout has rate 0 here, batch statistics are no matter of chance."""
    ours, reference = twins(name, backend, training)
    arrays = draw(name)
    for _ in range(2):  # the second call sees the running statistics that the first one left
        assert_same(call(ours, arrays, backend), call(reference, arrays), backend)
    expected = reference.state_dict()
    for key, value in ours.state_dict().items():
        np.testing.assert_allclose(value, expected[key], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_a_batch_of_another_size_passes(name, backend):
    """The batch was left open at build: one sample and twice as many go through as well."""
    ours, reference = twins(name, backend)
    for arrays in ([a[:1] for a in draw(name)], [np.concatenate([a, a]) for a in draw(name)]):
        assert_same(call(ours, arrays, backend), call(reference, arrays), backend)


@pytest.mark.parametrize("batch", [None, "real"])
@pytest.mark.parametrize("name", NAMES)
def test_inferred_shapes_are_the_real_ones(name, batch, backend):
    model, arrays = make(name, backend.name), draw(name)
    real = [labdl.to_numpy(t) for t in call(model, arrays, backend)]
    size = None if batch is None else len(arrays[0])
    specs = flat(model._shapes_of(*specs_of(arrays, size)))
    assert [s.shape for s in specs] == [(size, *r.shape[1:]) for r in real]
    assert [s.dtype for s in specs] == [str(r.dtype) for r in real]
    assert len(specs) == len(type(model).layer_outputs)


@pytest.mark.parametrize("name", NAMES)
def test_gradients_reach_every_parameter_and_input(name, backend):
    """Finite and not zero, and for parameters equal to central differences of the NumPy layer."""
    ours, reference = twins(name, backend, training=True)
    arrays = draw(name, seed=1)
    outputs = call(reference, arrays)
    rng = np.random.default_rng(2)
    weights = [rng.uniform(0.5, 1.5, o.shape).astype("float32") for o in outputs]
    parameters = [(k, p) for k, p in ours.named_parameters() if p.trainable]
    movable = [i for i, a in enumerate(arrays) if a.dtype == np.float32]

    def scalar(*values):
        inputs = [backend.tensor(a) for a in arrays]
        for i, value in zip(movable, values[len(parameters) :], strict=True):
            inputs[i] = value
        parts = [ops.sum(ops.multiply(o, backend.tensor(w))) for o, w in zip(flat(ours(*inputs)), weights, strict=True)]
        return sum(parts[1:], parts[0])

    leaves = [p.value for _, p in parameters] + [backend.tensor(arrays[i]) for i in movable]
    if not leaves:
        return
    value, gradients = backend.gradients(scalar, leaves)
    assert np.isfinite(labdl.to_numpy(value))
    flat_in_theory = {"bias:0"} if name == "BatchNorm" else set()
    for (key, parameter), gradient in zip(parameters, gradients, strict=False):
        array = labdl.to_numpy(gradient)
        assert array.shape == parameter.shape
        assert np.isfinite(array).all(), key
        assert key in flat_in_theory or np.abs(array).max() > 1e-6, key
        _compare_one_entry(reference, key, parameter, array, arrays, weights)
    for gradient in gradients[len(parameters) :]:
        assert np.isfinite(labdl.to_numpy(gradient)).all()
        assert np.abs(labdl.to_numpy(gradient)).max() > 1e-6


def _compare_one_entry(reference, key, parameter, gradient, arrays, weights):
    """The largest entry of a gradient against the change of the NumPy layer's output in float64."""
    at = np.unravel_index(np.abs(gradient).argmax(), gradient.shape)
    (variable,) = [p for k, p in reference.named_parameters() if k == key]
    ends = []
    for step in (1e-2, -1e-2):
        moved = variable.value[at].copy()
        variable.value[at] += step
        ends.append(
            sum(float(np.sum(w.astype("float64") * o)) for w, o in zip(weights, call(reference, arrays), strict=True))
        )
        variable.value[at] = moved
    assert gradient[at] == pytest.approx((ends[0] - ends[1]) / 2e-2, rel=0.03, abs=5e-3)


@pytest.mark.parametrize("name", NAMES)
def test_same_seed_same_bits_as_on_numpy(name, backend):
    ours, reference = make(name, backend.name).state_dict(), make(name, "numpy").state_dict()
    assert list(ours) == list(reference)
    for key, value in ours.items():
        assert value.dtype == reference[key].dtype
        np.testing.assert_array_equal(value, reference[key])


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


# Settings beyond the examples: each a layer, its parameters and the shape of its input.
VARIANTS = {
    "strided same": (
        "Conv2d",
        {"out_channels": 4, "kernel_size": (3, 2), "stride": 2, "padding": "same"},
        (2, 3, 7, 6),
    ),
    "uneven padding": ("Conv2d", {"out_channels": 4, "padding": ((1, 0), (0, 2))}, (2, 3, 6, 6)),
    "dilated": ("Conv2d", {"out_channels": 4, "dilation": 2, "use_bias": False}, (2, 3, 8, 8)),
    "grouped": ("Conv2d", {"out_channels": 6, "groups": 3, "padding": 1}, (2, 3, 6, 6)),
    "conv last": ("Conv2d", {"out_channels": 4, "data_format": "channels_last", "padding": "same"}, (2, 6, 5, 3)),
    "conv1d last": ("Conv1d", {"out_channels": 4, "data_format": "channels_last", "stride": 2}, (2, 9, 3)),
    "conv3d strided": ("Conv3d", {"out_channels": 2, "stride": (1, 2, 2), "padding": 1}, (1, 2, 4, 5, 6)),
    "pool overlap": ("MaxPool2d", {"kernel_size": 3, "stride": 2, "padding": 1}, (2, 3, 7, 7)),
    "pool last": ("MaxPool2d", {"data_format": "channels_last"}, (2, 6, 8, 3)),
    "pool ceil": ("MaxPool2d", {"kernel_size": 3, "stride": 2, "ceil_mode": True}, (1, 2, 6, 6)),
    "average same": ("AvgPool2d", {"kernel_size": 3, "stride": 2, "padding": "same"}, (2, 3, 7, 6)),
    "average padded": ("AvgPool2d", {"kernel_size": 3, "stride": 1, "padding": 1}, (2, 3, 5, 5)),
    "global last": ("GlobalAvgPool", {"data_format": "channels_last"}, (2, 6, 8, 3)),
    "norm of rows": ("BatchNorm", {}, (6, 3)),
    "norm of images": ("BatchNorm", {"momentum": 0.3}, (4, 3, 5, 2)),
    "norm last": ("BatchNorm", {"data_format": "channels_last"}, (4, 5, 2, 3)),
    "norm of one axis more": ("LayerNorm", {"axes": 2}, (2, 3, 4)),
    "linear over steps": ("Linear", {"out_features": 4, "use_bias": False}, (2, 5, 3)),
    "gelu tanh": ("GELU", {"approximate": "tanh"}, (2, 3)),
    "softmax of channels": ("Softmax", {"axis": 1}, (2, 3, 4)),
    "causal": ("MultiHeadAttention", {"heads": 2, "causal": True, "use_bias": False}, (2, 5, 4)),
    "one step": ("LSTM", {"hidden_size": 3}, (2, 1, 4)),
}


@pytest.mark.parametrize("case", VARIANTS)
def test_other_settings_equal_numpys_too(case, backend):
    name, params, shape = VARIANTS[case]
    x = np.random.default_rng(0).normal(size=shape).astype("float32")
    models = [LAYERS[name](**params).build((None, *shape[1:]), backend=b, seed=0) for b in (backend.name, "numpy")]
    for training in (True, False):
        ours, reference = (m.train(training) for m in models)
        assert_same(call(ours, [x], backend), call(reference, [x]), backend)


def test_attention_to_another_sequence(backend):
    rng = np.random.default_rng(0)
    x, context = (rng.normal(size=s).astype("float32") for s in ((2, 3, 4), (2, 5, 4)))
    ours, reference = (
        nn.MultiHeadAttention(2).build((None, 3, 4), (None, 5, 4), backend=b, seed=0) for b in (backend.name, "numpy")
    )
    assert_same(call(ours, [x, context], backend), call(reference, [x, context]), backend)


def test_dropout_acts_in_training_only(backend):
    layer = nn.Dropout(0.5).build((None, 100), backend=backend.name)
    x = np.ones((40, 100), "float32")
    np.testing.assert_array_equal(labdl.to_numpy(layer.eval()(backend.tensor(x))), x)
    values = labdl.to_numpy(layer.train()(backend.tensor(x)))
    assert set(np.unique(values)) == {0.0, 2.0}
    assert abs(values.mean() - 1) < 0.1


def _copy(target, values):
    import torch

    with torch.no_grad():
        for name, value in values.items():
            target.get_parameter(name).copy_(torch.as_tensor(np.ascontiguousarray(value)))


def _native_cases():
    """Our layer, torch's own, and where our values belong in it. Needs torch, so it is a function."""
    import torch

    T = torch.nn  # noqa: N806

    def straight(v):
        return {"weight": v["kernel:0"].T, **({"bias": v["bias:0"]} if "bias:0" in v else {})}

    def window(v):
        return {"weight": np.moveaxis(v["kernel:0"], (-1, -2), (0, 1)), "bias": v["bias:0"]}

    def norm(v):
        return {"weight": v["gamma:0"], "bias": v["beta:0"]}

    def lstm(v):
        return {"weight_ih_l0": v["kernel:0"].T, "weight_hh_l0": v["recurrent_kernel:0"].T, "bias_ih_l0": v["bias:0"],
                "bias_hh_l0": 0 * v["bias:0"]}  # fmt: skip

    def attention(v):
        parts = [[v[f"{n}/{k}:0"] for n in ("query", "key", "value")] for k in ("kernel", "bias")]
        return {"in_proj_weight": np.concatenate([k.T for k in parts[0]]), "in_proj_bias": np.concatenate(parts[1]),
                "out_proj.weight": v["projection/kernel:0"].T, "out_proj.bias": v["projection/bias:0"]}  # fmt: skip

    def attend(layer, x):
        return layer(x, x, x, need_weights=False)[0]

    def embedding(v):
        return {"weight": v["embeddings:0"]}

    return {
        "linear": (nn.Linear(5), T.Linear(3, 5), straight, (2, 4, 3)),
        "conv1d": (nn.Conv1d(5, stride=2), T.Conv1d(3, 5, 3, stride=2), window, (2, 3, 9)),
        "conv2d": (nn.Conv2d(6, padding="same", groups=3), T.Conv2d(3, 6, 3, padding="same", groups=3), window, (2, 3, 6, 5)),
        "conv3d": (nn.Conv3d(2, padding=1), T.Conv3d(2, 2, 3, padding=1), window, (1, 2, 4, 5, 4)),
        "batch norm": (nn.BatchNorm(), T.BatchNorm2d(3), norm, (4, 3, 5, 2)),
        "layer norm": (nn.LayerNorm(axes=2), T.LayerNorm((3, 4)), norm, (2, 3, 4)),
        "lstm": (nn.LSTM(5), T.LSTM(3, 5, batch_first=True), lstm, (2, 4, 3)),
        "attention": (nn.MultiHeadAttention(2), T.MultiheadAttention(6, 2, batch_first=True), attention, (2, 4, 6), attend),
        "embedding": (nn.Embedding(7, 3), T.Embedding(7, 3), embedding, (2, 4)),
        "max pool": (nn.MaxPool2d(3, stride=2, padding=1), T.MaxPool2d(3, 2, 1), lambda v: {}, (2, 3, 7, 7)),
        "average pool": (nn.AvgPool2d(3, stride=2, padding=1, ceil_mode=True), T.AvgPool2d(3, 2, 1, True), lambda v: {},
                         (2, 3, 8, 8)),
        "gelu": (nn.GELU(), T.GELU(), lambda v: {}, (2, 3)),
        "elu": (nn.ELU(0.5), T.ELU(0.5), lambda v: {}, (2, 3)),
        "hardswish": (nn.Hardswish(), T.Hardswish(), lambda v: {}, (2, 3)),
    }  # fmt: skip


def test_layers_equal_torchs_own(backend):
    """A second oracle, which the NumPy bodies cannot share a mistake with; torch gets on with every other framework."""
    import torch

    for case, (ours, native, names, shape, *how) in _native_cases().items():
        rng = np.random.default_rng(0)
        integers = case == "embedding"
        x = rng.integers(0, 7, shape) if integers else rng.normal(size=shape).astype("float32")
        ours.build(Spec((None, *shape[1:]), str(x.dtype)), backend=backend.name, seed=0)
        values = {k: rng.normal(size=v.shape).astype("float32") for k, v in ours.state_dict().items()}
        values = {k: np.abs(v) if "variance" in k else v for k, v in values.items()}
        ours.load_state_dict(values)
        _copy(native, names(values))
        if "moving_mean:0" in values:
            native.running_mean.copy_(torch.as_tensor(values["moving_mean:0"]))
            native.running_var.copy_(torch.as_tensor(values["moving_variance:0"]))
        run = how[0] if how else lambda layer, value: layer(value)
        for training in (True, False):
            ours.train(training)
            native.train(training)
            expected, actual = run(native, torch.as_tensor(x)), ours(backend.tensor(x))
            if case == "lstm":
                expected, actual = expected[0], actual[0]
            np.testing.assert_allclose(
                labdl.to_numpy(actual), expected.detach().numpy(), rtol=1e-4, atol=1e-5, err_msg=case
            )
