"""Networks with channels-last computation: equal values and gradients, without transposes.

Eager tensors are transposed for each operator by itself, so eager results are the reference for compiled ones.
"""

import gc
import weakref

import numpy as np
import pytest
from layers import CASES, draw, make

import labdl
from labdl import nn, ops
from labdl.models.vision.resnet import BasicBlock, Bottleneck
from labdl.nn.schema import LAYERS, fields
from labdl.spec import Spec

pytestmark = [
    pytest.mark.backends("tensorflow"),  # the others compute in the logical layout
    pytest.mark.default_mode,
]


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def both_ways(backend, function, values, compiled=None):
    """The results of a function of tensors that gives scalars and gradients, eager and compiled."""
    given = [backend.tensor(v) if isinstance(v, np.ndarray) else v for v in values]
    results = [function(*given)]
    results.append(backend.evaluate_function(function, compiled)(*given))
    return [
        [labdl.to_numpy(t) for t in np.ravel(np.array(r, dtype=object)).tolist()]
        if not isinstance(r, tuple)
        else [labdl.to_numpy(t) for t in r]
        for r in results
    ]


def assert_same_gradients(backend, function, x, variables=(), compiled=None):
    """Of the sum of squares of the result, whose scale the tolerance follows."""

    def measure(x, *weights):
        result = function(x)
        result = result if isinstance(result, tuple) else (result,)
        return sum((ops.sum(ops.square(ops.astype(r, "float32"))) for r in result), ops.sum(x) * 0.0)

    def run(x):
        loss, gradients = backend.gradients(measure, [x, *variables])
        return (loss, *gradients)

    eager, traced = both_ways(backend, labdl.ops.infix.neutral(run), [x], compiled)
    scale = max(float(np.abs(g).max(initial=0)) for g in eager[1:])
    for ours, reference in zip(traced, eager, strict=True):
        np.testing.assert_allclose(ours, reference, rtol=2e-4, atol=2e-5 * scale)


# -- every layer between spatial neighbors

SPATIAL = [
    case
    for case, (name, _, samples) in CASES.items()
    if len(samples) == 1
    and samples[0].dtype == "float32"
    and 3 <= len(samples[0].shape) <= 5
    and {"data_format", "axis"} & set(fields(LAYERS[name]))
]


@pytest.mark.sample(every=8)
@pytest.mark.sample(every=6)
@pytest.mark.sample(every=3)
@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=[pytest.mark.sample(False)] if at % 3 else []) for at, case in enumerate(SPATIAL)]
)
def test_a_layer_between_spatial_layers(case, backend):
    [x] = draw(case)
    layer, rank = make(case, backend.name).eval(), x.ndim - 2
    pool = getattr(ops, f"avg_pool{rank}d")

    def forward(x):
        y = layer(pool(x, 1))
        for part in y if isinstance(y, tuple) else (y,):
            spec = labdl.dispatch.spec_of(part)
            if spec.ndim == rank + 2 and "float" in spec.dtype:
                x = pool(ops.relu(part), 1)
        return (x, *y) if isinstance(y, tuple) else (x, y)

    variables = [p.value for p in layer.parameters() if p.trainable]
    assert_same_gradients(backend, forward, x, variables)


# -- networks


class Mixed(nn.Module):
    """Spatial layers among operators that know no layout, several consumers of one tensor, and parts by index."""

    def __init__(self):
        self.first = nn.Conv2d(8, padding="same")
        self.second = nn.Conv2d(8, padding="same", groups=2)
        self.last = nn.Conv2d(4, kernel_size=1, data_format="channels_last")
        self.squeeze, self.excite = nn.Conv2d(2, kernel_size=1), nn.Conv2d(8, kernel_size=1)
        self.norm, self.groups = nn.BatchNorm(), nn.GroupNorm(groups=4)
        self.instances = nn.InstanceNorm()
        self.slopes = nn.PReLU()
        self.head = nn.Linear(3)

    def forward(self, x):
        a = ops.relu(self.norm(self.first(x)))
        gate = ops.sigmoid(self.excite(ops.silu(self.squeeze(ops.mean(a, axis=(2, 3), keepdims=True)))))
        b = self.slopes(self.second(a * gate) + a)
        c = ops.concat([b[:, :4], b[:, 4:] * 2.0, ops.max(b, axis=1, keepdims=True)], axis=1)
        upper, lower = ops.split(b, 2, axis=1)
        d = ops.where(ops.greater(upper, lower), upper, 0.5) - ops.pad(
            lower[:, :, 1:, :], ((0, 0), (0, 0), (1, 0), (0, 0))
        )
        e = self.last(ops.permute_dims(c, (0, 2, 3, 1)))
        f = self.groups(ops.interpolate(ops.max_pool2d(b, 2), scale=2.0, mode="bilinear"))
        g = self.instances(f + ops.reshape(ops.mean(b, axis=(0, 2, 3)), (8, 1, 1)))
        flat = ops.concat([ops.flatten(d, 1), ops.flatten(e, 1), ops.flatten(g, 1)], axis=1)
        return self.head(flat), ops.softmax(f, axis=1), ops.argmax(c, axis=1), ops.sum(d)


class Sounds(nn.Module):
    def __init__(self):
        self.a, self.norm = nn.Conv1d(6, kernel_size=3, stride=2), nn.BatchNorm()
        self.b = nn.ConvTranspose1d(5, kernel_size=4, stride=2)

    def forward(self, x):
        return self.b(ops.gelu(self.norm(self.a(x))))


class Volumes(nn.Module):
    def __init__(self):
        self.a, self.b = nn.Conv3d(4, padding="same"), nn.Conv3d(4, padding="same")
        self.norm = nn.BatchNorm()

    def forward(self, x):
        y = ops.relu(self.norm(self.a(x)))
        return ops.max_pool3d(self.b(y) + y, 2)


NETWORKS = {
    "mixed": (Mixed, (2, 3, 6, 8)),
    "sounds": (Sounds, (2, 3, 17)),
    "volumes": (Volumes, (2, 2, 4, 4, 6)),
    "residual": (lambda: nn.Sequential(BasicBlock(6, 2, project=True), BasicBlock(6)), (2, 3, 8, 8)),
    "bottleneck": (lambda: nn.Sequential(Bottleneck(4, project=True), Bottleneck(4)), (2, 3, 6, 6)),
}


@pytest.mark.sample(every=10)
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("network", NETWORKS)
def test_networks(network, training, backend):
    build, shape = NETWORKS[network]
    model = build().build(Spec((None, *shape[1:])), backend=backend.name, seed=1)
    model.train(training)
    start = model.state_dict()
    variables = [p.value for p in model.parameters() if p.trainable]

    def forward(x):
        return model(x)

    states = []
    for compiled in (False, None):  # statistics of batch normalization move in both ways alike
        model.load_state_dict(start)
        backend.evaluate_function(forward, compiled)(backend.tensor(normal(*shape)))
        states.append(model.state_dict())
    for key, value in states[0].items():
        np.testing.assert_allclose(states[1][key], value, rtol=1e-4, atol=1e-6)
    model.load_state_dict(start)
    assert_same_gradients(backend, forward, normal(*shape, seed=2), variables)


def test_xla_too(backend):
    model = NETWORKS["residual"][0]().build(Spec((None, 3, 8, 8)), backend=backend.name, seed=1).eval()
    outputs = [
        backend.evaluate_function(lambda x: model(x), compiled)(backend.tensor(normal(2, 3, 8, 8)))
        for compiled in (False, "xla")
    ]
    np.testing.assert_allclose(*map(labdl.to_numpy, outputs), rtol=1e-4, atol=1e-5)


@pytest.mark.sample(False)
def test_steps_train_alike(backend):
    """Ten steps of the compiled step and of the eager one, with momentum, to the same parameters."""
    x, y = normal(16, 3, 8, 8), np.arange(16) % 4
    ends = []
    for compiled in (False, None):
        model = nn.Sequential(
            nn.Conv2d(6, padding="same"), nn.BatchNorm(), nn.ReLU(), nn.MaxPool2d(), nn.Flatten(), nn.Linear(4)
        )
        trainer = labdl.Trainer(
            model, optimizer=labdl.train.SGD(0.05, momentum=0.9), backend=backend.name, seed=0, compiled=compiled
        )
        for _ in range(10):
            trainer.train_one_batch(x, y)
        ends.append(model.state_dict())
    for key, value in ends[0].items():
        np.testing.assert_allclose(ends[1][key], value, rtol=2e-3, atol=2e-4)


# -- what ends a run


FEW = {
    "a picture": ((1, 64, 3, 3), (256, 64, 3, 3), {"padding": "same"}),
    "strided": ((2, 64, 5, 4), (256, 64, 3, 3), {"padding": 1, "stride": 2}),
    "strided same": ((1, 64, 5, 6), (512, 64, 2, 3), {"padding": "same", "stride": 2}),
    "dilated": ((1, 64, 5, 5), (512, 64, 3, 3), {"padding": 2, "dilation": 2, "stride": 2}),
    "pointwise": ((2, 256, 2, 2), (256, 256, 1, 1), {}),
    "one axis": ((2, 128, 5), (512, 128, 3), {"stride": 2}),
    "three axes": ((1, 64, 2, 2, 2), (512, 64, 3, 3, 3), {"padding": 1}),
}


@pytest.mark.parametrize("case", FEW)
def test_a_convolution_at_few_places(case, backend):
    """Where a large kernel meets a small picture it may be computed in another way: with the same result and gradients."""
    shape, window, options = FEW[case]
    x, kernel, bias = normal(*shape), normal(*window, seed=1), normal(window[0], seed=2)
    run = getattr(ops, f"conv{len(shape) - 2}d")
    given = [backend.tensor(v) for v in (x, kernel, bias)]
    small, some = labdl.to_numpy(run(*given, **options)), run(x, kernel, bias, **options)
    np.testing.assert_allclose(small, some, rtol=1e-4, atol=1e-3)
    slope = normal(*small.shape, seed=3)

    def weighed(x, kernel, bias):
        return ops.sum(ops.multiply(run(x, kernel, bias, **options), backend.tensor(slope)))

    _, found = backend.gradients(weighed, given)
    torch = pytest.importorskip("torch")
    labdl.dispatch.load("torch")
    leaves = [torch.tensor(v, requires_grad=True) for v in (x, kernel, bias)]
    (run(*leaves, **options) * torch.tensor(slope)).sum().backward()
    for ours, leaf in zip(found, leaves, strict=True):
        np.testing.assert_allclose(labdl.to_numpy(ours), leaf.grad.numpy(), rtol=1e-4, atol=2e-3)


@pytest.mark.parametrize("outputs", [2, 64])
def test_what_is_flattened_meets_a_kernel_in_either_order(outputs, backend):
    """A kernel smaller than what it is multiplied with is turned instead."""
    kernel = backend.variable(normal(5 * 6 * 4, outputs, seed=1))

    def forward(x):
        flat = ops.flatten(ops.relu(ops.avg_pool2d(x, 2)), 1)
        return ops.linear(flat, kernel), ops.square(flat)

    assert_same_gradients(backend, forward, normal(16, 5, 12, 8), [kernel])


# -- what no operator of LabDL sees: tapes, loops, graphs


@pytest.fixture
def tensorflow(backend):
    return pytest.importorskip("tensorflow")


def conv(seed):
    return labdl.tensor(normal(4, 4, 3, 3, seed=seed), backend="tensorflow")


def test_tapes_find_the_gradient_of_every_logical_tensor(tensorflow):
    """One that begins later, one inside another, one that is asked twice; of a tensor between two layers."""
    tf, x = tensorflow, labdl.tensor(normal(2, 4, 5, 5), backend="tensorflow")

    def between(x):
        with tf.GradientTape(persistent=True) as outer:
            outer.watch(x)
            middle = ops.relu(ops.conv2d(x, conv(1), padding=1))
            ops.conv2d(middle, conv(2))  # another consumer, before anyone watches
            with tf.GradientTape() as inner:
                inner.watch(middle)
                late = tf.reduce_sum(ops.square(ops.conv2d(middle, conv(3))))
            slope = inner.gradient(late, middle)
            penalty = tf.reduce_sum(tf.square(slope))
            loss = late + penalty
        with tf.GradientTape() as single:
            single.watch(x)
            hidden = ops.tanh(ops.conv2d(x, conv(4)))
            value = tf.reduce_sum(ops.max_pool2d(hidden, 3, stride=1) ** 2)
        return (
            slope,
            *outer.gradient(loss, [x, middle]),
            outer.gradient(penalty, x),
            *single.gradient(value, [x, hidden]),
        )

    eager, traced = between(x), tf.function(between, autograph=False)(x)
    for ours, reference in zip(traced, eager, strict=True):
        np.testing.assert_allclose(ours, reference, rtol=2e-4, atol=1e-4 * float(np.abs(reference).max()))


def test_tensors_of_outside_are_used_in_branches_and_loops(tensorflow):
    tf, x = tensorflow, labdl.tensor(normal(2, 4, 6, 6), backend="tensorflow")

    def run(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = ops.conv2d(x, conv(1), padding=1)
            chosen = tf.cond(
                tf.reduce_sum(x) > 1e6, lambda: ops.relu(y), lambda: ops.max_pool2d(y, 3, stride=1, padding=1)
            )
            step = lambda i, z: (i + 1, ops.tanh(ops.conv2d(z, conv(2), padding=1) + y))  # noqa: E731
            _, looped = tf.while_loop(lambda i, z: i < 3, step, (0, chosen))
            loss = tf.reduce_sum(looped * ops.avg_pool2d(y, 1))
        return loss, tape.gradient(loss, x)

    eager, traced = run(x), tf.function(run, autograph=False)(x)
    for ours, reference in zip(traced, eager, strict=True):
        np.testing.assert_allclose(ours, reference, rtol=2e-3, atol=1e-3)


def optimized(run):
    """The largest graph that a first call leaves after the optimizer, as counts of operations."""
    from tensorflow.python.eager import context

    session = context.context()
    session.enable_graph_collection()
    session.enable_run_metadata()
    try:
        run()
        metadata = session.export_run_metadata()
    finally:
        session.disable_run_metadata()
        session.disable_graph_collection()
    graphs = [*metadata.partition_graphs, *(f.post_optimization_graph for f in metadata.function_graphs)]
    names = [
        node.op.removeprefix("_").removeprefix("MklNative").removeprefix("Mkl")
        for node in max(graphs, key=lambda g: len(g.node)).node
    ]
    return {name: names.count(name) for name in names}


@pytest.mark.sample(every=2)
@pytest.mark.parametrize("head", ["flat", "averaged"])
def test_only_the_ends_of_a_spatial_run_are_transposed(head, tensorflow):
    """The picture at the start; at the end what is flattened, there and back; and each kernel, there and back."""
    ends = {"flat": [nn.Flatten()], "averaged": [nn.GlobalAvgPool()]}[head]
    model = nn.Sequential(
        nn.Conv2d(8, padding="same"),
        nn.BatchNorm(),
        nn.ReLU(),
        nn.MaxPool2d(),
        BasicBlock(8),
        nn.Dropout(0.5),
        nn.Conv2d(8, padding="same"),
        nn.ELU(),
        nn.AvgPool2d(),
        *ends,
        nn.Linear(4),
    )
    trainer = labdl.Trainer(model, optimizer=labdl.train.SGD(0.05), backend="tensorflow", seed=0)
    counts = optimized(lambda: trainer.train_one_batch(normal(8, 3, 16, 16), np.arange(8) % 4))
    kernels = 4
    assert counts["Transpose"] <= 1 + 2 * kernels + (2 if head == "flat" else 0)
    assert counts["Conv2DBackpropFilter"] == kernels


def test_the_activation_after_a_convolution_is_part_of_its_kernel(tensorflow):
    model = nn.Sequential(nn.Conv2d(8, padding="same"), nn.ReLU(), nn.Conv2d(4), nn.ReLU(), nn.GlobalMaxPool())
    model.build(Spec((None, 3, 8, 8)), backend="tensorflow", seed=0).eval()
    backend = labdl.dispatch.get("tensorflow")
    counts = optimized(lambda: backend.evaluate_function(lambda x: model(x))(backend.tensor(normal(2, 3, 8, 8))))
    assert counts.get("FusedConv2D") == 2, counts
    assert "Relu" not in counts


def test_trace_leaves_no_references(tensorflow):
    tf, kept = tensorflow, []

    def run(x):
        kept.append(weakref.ref(tf.compat.v1.get_default_graph()))
        return ops.relu(ops.conv2d(ops.conv2d(x, conv(1)), conv(2)))

    function = tf.function(run, autograph=False)
    function(labdl.tensor(normal(1, 4, 8, 8), backend="tensorflow"))
    del function
    gc.collect()
    assert kept[0]() is None
