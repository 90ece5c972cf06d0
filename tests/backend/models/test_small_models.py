"""The small models of images, clips, text and sound: files, source, training, other sizes."""

import numpy as np
import pytest

import labdl
from labdl import nn, ops
from labdl.models.zoo import ZOO
from labdl.saving.parameters import save_parameters
from labdl.saving.source_export import to_source

TASKS = ("image classification", "image segmentation", "key points", "video classification")
FAMILIES = [name for name, entry in ZOO.items() if entry.small and (entry.task in TASKS or name == "hrnet_pose_w32")]
# in full breadth alone
SEQUENCES = (
    "t5_small",
    "t5_v1_1_small",
    "opus_mt_en_de",
    "bytenet",
    "bytenet_lm",
    "trocr_small",
    "xlnet_base",
    "wavenet",
    "conformer_small",
    "emformer_rnnt_base",
    "tacotron2",
    "whisper_tiny",
)
OPTIONAL = pytest.mark.filterwarnings("ignore:the saved model needs")
ALL = [*FAMILIES, *(pytest.param(name, marks=[pytest.mark.sample(False), OPTIONAL]) for name in SEQUENCES)]


def small(name, backend):
    """The model without dropout, so that backends agree, and its inputs."""
    model, specs = ZOO[name].small()
    model.build(*specs, backend=backend, seed=0)
    for part in model.modules():
        if hasattr(part, "rate"):
            part.rate = 0.0
    rng = np.random.default_rng(0)
    return model, [draw(spec, rng) for spec in specs]


def draw(spec, rng):
    shape = tuple(n or 3 for n in spec.shape)
    if spec.dtype == "float32":
        return rng.normal(size=shape).astype("float32")
    return rng.integers(0, 2 if spec.dtype == "bool" else 8, shape).astype(spec.dtype)


def run(model, inputs):
    result = model(*(labdl.tensor(x, backend=model.backend) for x in inputs))
    return [labdl.to_numpy(y) for y in flat(result)]


def flat(result):
    return [y for part in result for y in flat(part)] if isinstance(result, list | tuple) else [result]


def assert_close(actual, expected):
    for ours, theirs in zip(actual, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-4 * max(1.0, np.abs(theirs).max()))


@pytest.mark.sample(every=4, backends=1)
@pytest.mark.parametrize("name", ALL)
def test_a_saved_model_computes_the_same_elsewhere(name, backend, tmp_path):
    model, inputs = small(name, backend.name)
    expected = run(model.eval(), inputs)
    labdl.save(model, tmp_path / "model")
    assert_close(run(labdl.load(tmp_path / "model", backend="numpy").eval(), inputs), expected)


@pytest.mark.sample(every=4, backends=1)
@pytest.mark.parametrize("name", ALL)
def test_exported_source_computes_the_same(name, backend, tmp_path):
    model, inputs = small(name, backend.name)
    expected = run(model.eval(), inputs)
    text, values = to_source(model)
    save_parameters(values, tmp_path / "net.weights.npz")
    space = {"__file__": str(tmp_path / "net.py"), "__name__": "net"}
    exec(compile(text, "net.py", "exec"), space)
    native = [v for v in space.values() if isinstance(v, type) and v.__module__ == "net"][-1]()
    if backend.name == "mindspore":
        native.set_train(False)
    elif backend.name != "tensorflow":
        native.eval()
    modes = {"training": False} if backend.name == "tensorflow" else {}
    result = native(*map(backend.tensor, inputs), **modes)
    assert_close([labdl.to_numpy(y) for y in flat(result)], expected)


@pytest.mark.sample(every=4, backends=1)
@pytest.mark.parametrize("name", ALL)
def test_outputs_and_statistics_in_training_are_those_of_numpy(name, backend):
    model, inputs = small(name, backend.name)
    reference, _ = small(name, "numpy")
    reference.load_state_dict(model.state_dict())
    before = model.state_dict()
    assert_close(run(model.train(), inputs), run(reference.train(), inputs))
    after, expected = model.state_dict(), reference.state_dict()
    statistics = [key for key in after if "moving_" in key]
    # those of a layer may keep their values exactly: the mean of what a ReLU has set to zero
    assert not statistics or any(not np.array_equal(after[key], before[key]) for key in statistics)
    for key in statistics:
        np.testing.assert_allclose(after[key], expected[key], rtol=1e-3, atol=1e-5, err_msg=key)


@pytest.mark.sample(every=4, backends=1)
@pytest.mark.parametrize("name", ALL)
def test_gradients_are_finite(name, backend):
    model, inputs = small(name, backend.name)
    parameters = [(key, p.value) for key, p in model.train().named_parameters() if p.trainable]
    tensors = [backend.tensor(x) for x in inputs]

    def loss(*_):
        return sum((ops.mean(y) for y in flat(model(*tensors))), start=0.0)

    gradients = [labdl.to_numpy(g) for g in backend.gradients(loss, [value for _, value in parameters])[1]]
    assert all(np.isfinite(gradient).all() for gradient in gradients)
    assert any(np.abs(gradient).max() > 0 for gradient in gradients)


# any size, or any multiple of what the network asks for
SIZES = {
    "resnet18": ((17, 40), (32, 21)),
    "vgg11_bn": ((17, 40), (32, 21)),
    "efficientnet_b0": ((17, 40), (32, 21)),
    "hrnet_w18_small": ((32, 64), (64, 32)),
    "hrnet_pose_w32": ((32, 64), (64, 32)),
    "unet": ((17, 40), (32, 21)),
    "unet_resnet18": ((16, 40), (32, 24)),
    "deeplabv3_resnet50": ((17, 40), (32, 21)),
    "deeplabv3plus_resnet18": ((16, 48), (32, 16)),
    "openpose_body": ((17, 40), (32, 21)),
    "r2plus1d_18": ((3, 17, 20), (4, 12, 9)),
    "resnet3d_50": ((3, 17, 20), (4, 12, 9)),
    "slow_r50": ((3, 17, 20), (4, 12, 9)),
    "s3d": ((6, 18, 33), (9, 20, 18)),
}


@pytest.mark.sample(backends=1)
@pytest.mark.parametrize("name", SIZES)
def test_pictures_and_clips_of_any_size(name, backend):
    shape = (None, 3, *(None for _ in SIZES[name][0]))
    model = ZOO[name].small()[0].build(shape, backend=backend.name, seed=0).eval()
    reference = ZOO[name].small()[0].build(shape, backend="numpy", seed=0).eval()
    reference.load_state_dict(model.state_dict())
    for size in SIZES[name]:
        x = np.random.default_rng(0).normal(size=(2, 3, *size)).astype("float32")
        assert_close(run(model, [x]), run(reference, [x]))


@pytest.mark.sample(backends=1)
def test_an_efficientnet_drops_blocks_in_training_alone(backend):
    """Stochastic depth and dropout: two passes differ in training, and agree in evaluation."""
    model, specs = ZOO["efficientnet_b0"].small()
    model.build(*specs, backend=backend.name, seed=0)
    rates = [part.rate for part in model.modules() if isinstance(part, nn.DropPath)]
    assert rates == sorted(rates)
    assert rates[-1] > 0
    x = np.random.default_rng(0).normal(size=(16, *specs[0].shape[1:])).astype("float32")
    assert not np.array_equal(*(run(model.train(), [x])[0] for _ in range(2)))
    assert np.array_equal(*(run(model.eval(), [x])[0] for _ in range(2)))
