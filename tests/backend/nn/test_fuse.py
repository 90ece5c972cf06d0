"""Module.fuse on one backend: equal outputs without batch normalizations, and what has to stay."""

import numpy as np
import pytest

import labdl
from labdl import models, nn, ops
from labdl.errors import ModelError
from labdl.models.zoo import ZOO

pytestmark = pytest.mark.sample(backends=2)

RNG = np.random.default_rng(0)


def floats(*shape):
    return RNG.normal(size=shape).astype("float32")


def stir(model):
    """Draw statistics, scales and offsets as a training leaves them."""
    rng, values = np.random.default_rng(1), model.state_dict()
    for key, value in values.items():
        if key.endswith(("gamma:0", "variance:0")):
            values[key] = rng.uniform(0.5, 1.5, value.shape).astype(value.dtype)
        elif key.endswith(("beta:0", "mean:0", "bias:0")):
            values[key] = rng.normal(0, 0.1, value.shape).astype(value.dtype)
    model.load_state_dict(values)
    return model


def build(model, x, backend):
    return stir(model.build((None, *x.shape[1:]), backend=backend.name, seed=0)).eval()


def norms(model):
    return sum(
        isinstance(part, nn.BatchNorm | nn.SyncBatchNorm) and part.built and bool(part._parameters)
        for part in model.modules()
    )


def outputs(model, x):
    result = model(labdl.tensor(x, backend=model.backend))
    return [labdl.to_numpy(value) for value in (result if isinstance(result, tuple) else (result,))]


def assert_equal_outputs(fused, model, x):
    for ours, expected in zip(outputs(fused, x), outputs(model, x), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=0, atol=2e-5 * max(1, np.abs(expected).max()))


LAST = {"data_format": "channels_last"}
FUSED = {
    "conv1d": (lambda: [nn.Conv1d(4, use_bias=False), nn.BatchNorm()], (2, 3, 9)),
    "conv2d": (lambda: [nn.Conv2d(6, groups=2, stride=2, padding=1), nn.BatchNorm(epsilon=1e-3)], (2, 4, 7, 6)),
    "conv3d": (lambda: [nn.Conv3d(4), nn.SyncBatchNorm()], (2, 3, 4, 5, 4)),
    "padded": (lambda: [nn.Conv2d(4, padding=1, padding_mode="reflect"), nn.BatchNorm(affine=False)], (2, 3, 5, 6)),
    "last": (lambda: [nn.Conv2d(4, **LAST), nn.BatchNorm(**LAST)], (2, 6, 5, 3)),
    "depthwise": (lambda: [nn.DepthwiseConv2d(multiplier=2, padding=1), nn.BatchNorm()], (2, 3, 5, 6)),
    "transposed": (lambda: [nn.ConvTranspose2d(6, groups=2, stride=2), nn.BatchNorm()], (2, 4, 3, 4)),
    "linear": (lambda: [nn.Linear(5, use_bias=False), nn.BatchNorm()], (4, 3)),
    "block": (lambda: [nn.ConvNormAct(4, groups=1), nn.ConvNormAct(3, activation="silu")], (2, 3, 6, 5)),
}


@pytest.mark.parametrize("name", FUSED)
def test_a_normalization_is_folded_into_the_layer_before_it(name, backend):
    make, shape = FUSED[name]
    x = floats(*shape)
    model = build(nn.Sequential(*make()), x, backend)
    before = model.state_dict()
    fused = model.fuse()
    assert (norms(fused), fused.training, fused.backend) == (0, False, backend.name)
    assert_equal_outputs(fused, model, x)
    np.testing.assert_equal(model.state_dict(), before)
    assert norms(model) > 0
    whole = labdl.trace(model).to_module().build(backend=backend.name)
    whole.load_state_dict(before)
    of_graph = whole.fuse()
    assert norms(of_graph) == 0
    assert not any(node.type == "BatchNorm" for node in of_graph.graph.nodes.values())
    assert_equal_outputs(of_graph, model, x)


class Twice(nn.Module):
    """One convolution, called before and after a normalization."""

    def __init__(self):
        self.conv, self.norm = nn.Conv2d(3, padding=1), nn.BatchNorm()

    def forward(self, x):
        return self.conv(self.norm(self.conv(x)))


class Branching(nn.Module):
    """A convolution whose output is normalized, and used as it is."""

    def __init__(self):
        self.conv, self.norm = nn.Conv2d(4), nn.BatchNorm()

    def forward(self, x):
        y = self.conv(x)
        return y + self.norm(y)


class Returning(Branching):
    """A convolution whose output is normalized, and returned."""

    def forward(self, x):
        y = self.conv(x)
        return y, self.norm(y)


class Tied(nn.Module):
    """Two convolutions with one kernel."""

    def __init__(self):
        self.first, self.second, self.norm = nn.Conv2d(3, padding=1), nn.Conv2d(3, padding=1), nn.BatchNorm()
        self.tie("first/kernel:0", to="second/kernel:0")

    def forward(self, x):
        return self.second(ops.relu(self.norm(self.first(x))))


def hooked():
    model = nn.Sequential(nn.Conv2d(3), nn.BatchNorm())
    model[0].register_forward_hook(lambda module, inputs, outputs: ops.add(outputs, 1.0))
    return model


STAYING = {
    "called twice": Twice,
    "used twice": Branching,
    "returned": Returning,
    "tied": Tied,
    "hook": hooked,
    "weight norm": lambda: nn.Sequential(nn.Conv2d(3, weight_norm=0), nn.BatchNorm()),
    "first": lambda: nn.Sequential(nn.BatchNorm(), nn.Conv2d(3)),
    "activated": lambda: nn.Sequential(nn.Conv2d(3), nn.ReLU(), nn.BatchNorm()),
    "other axis": lambda: nn.Sequential(nn.Linear(5), nn.BatchNorm()),
    "other order": lambda: nn.Sequential(nn.Conv2d(3), nn.BatchNorm(**LAST)),
}


@pytest.mark.sample(backends=1)
@pytest.mark.parametrize("name", STAYING)
def test_other_normalizations_stay(name, backend):
    x = floats(2, 3, 6, 5)
    model = build(STAYING[name](), x, backend)
    fused = model.fuse()
    assert norms(fused) == norms(model) == 1
    assert_equal_outputs(fused, model, x)


FAMILIES = ("resnet18", "vgg11_bn", "efficientnet_b0", "hrnet_pose_w32")


@pytest.mark.sample(backends=1)
@pytest.mark.parametrize("name", FAMILIES)
def test_a_fused_model_of_the_zoo_keeps_its_class_and_is_saved(name, backend, tmp_path):
    model, (spec,) = ZOO[name].small()
    x = floats(2, *spec.shape[1:])
    model = build(model, x, backend)
    fused = model.fuse()
    assert type(fused) is type(model)
    assert norms(fused) == 0
    assert fused.count_parameters() < model.count_parameters()
    assert_equal_outputs(fused, model, x)
    labdl.save(fused, tmp_path / "fused")
    assert_equal_outputs(labdl.load(tmp_path / "fused", backend="numpy").eval(), model, x)


def test_a_model_that_is_not_built_is_refused():
    with pytest.raises(ModelError, match="not built yet"):
        models.create("resnet18").fuse()


def parallel(*branches):
    """A module that adds what these layers compute of its input."""

    class Sum(nn.Module):
        def __init__(self):
            self.branches = nn.ModuleList(branches)
            self.after = nn.ReLU()

        def forward(self, x):
            total = self.branches[0](x)
            for branch in list(self.branches)[1:]:
                total = total + branch(x)
            return self.after(total)

    return Sum()


MERGED = {
    "RepVGG": lambda: [nn.Conv2d(4, padding=1, use_bias=False), nn.Conv2d(4, kernel_size=1), nn.BatchNorm()],
    "groups": lambda: [nn.Conv2d(4, kernel_size=1, groups=2), nn.Conv2d(4, padding="same", groups=2), nn.BatchNorm()],
    "strided": lambda: [nn.ConvNormAct(6, stride=2, activation=None), nn.Conv2d(6, kernel_size=1, stride=2)],
    "wide": lambda: [nn.Conv2d(4, kernel_size=(1, 3), padding=(0, 1)), nn.Conv2d(4, kernel_size=1)],
}
UNMERGED = {
    "other strides": lambda: [nn.Conv2d(4, stride=2, padding=1), nn.Conv2d(4, kernel_size=2, stride=2)],
    "reflected": lambda: [nn.Conv2d(4, padding=1, padding_mode="reflect"), nn.Conv2d(4, kernel_size=1)],
    "activated": lambda: [nn.ConvNormAct(4), nn.Conv2d(4, kernel_size=1)],
    "crossed": lambda: [
        nn.Conv2d(4, kernel_size=(1, 3), padding=(0, 1)),
        nn.Conv2d(4, kernel_size=(3, 1), padding=(1, 0)),
    ],
}


@pytest.mark.parametrize("name", [*MERGED, *UNMERGED])
def test_parallel_convolutions_become_one_where_they_can(name, backend):
    x = floats(2, 4, 6, 6)
    model = build(parallel(*(MERGED | UNMERGED)[name]()), x, backend)
    fused = model.fuse()
    count = sum(isinstance(part, nn.Conv2d) for part in fused.modules())
    assert count == (1 if name in MERGED else 2)
    assert_equal_outputs(fused, model, x)


@pytest.mark.sample(every=2, backends=1)
@pytest.mark.parametrize("name", ["yolov6n", "yolov7"])
def test_a_detector_of_repvgg_blocks_is_fused_with_the_form_of_its_outputs(name, backend, tmp_path):
    model, (spec,) = ZOO[name].small()
    x = floats(1, *spec.shape[1:])
    model = build(model, x, backend)
    fused = model.fuse()
    assert norms(fused) == 0
    assert not [path for path, _ in fused.named_modules() if path.endswith(("pointwise", "identity"))]
    assert_equal_outputs(fused, model, x)
    picture = np.random.default_rng(0).integers(0, 256, (50, 30, 3), "uint8")
    settings = {"size": (64, 64), "threshold": 0.0, "max_detections": 5}
    expected = labdl.infer.Inference.of(model, **settings).infer_one(picture)
    labdl.save(fused, tmp_path / "fused")
    again = labdl.load(tmp_path / "fused", backend=backend.name)
    for each in (fused, again, again.fuse()):
        result = labdl.infer.Inference.of(each, **settings).infer_one(picture)
        np.testing.assert_allclose(result.boxes, expected.boxes, atol=1e-2)
        np.testing.assert_array_equal(result.labels, expected.labels)
