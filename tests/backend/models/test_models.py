"""Published models on one backend: outputs and gradients against public implementations, and training of each family."""

import copy
from pathlib import Path

import numpy as np
import pytest

import labdl
from labdl import ops
from labdl.models.text import bert, transformer
from labdl.models.vision import resnet, vit
from labdl.spec import Spec
from labdl.train import SGD, Trainer

pytestmark = [pytest.mark.default_mode, pytest.mark.sample(backends=2)]

ORACLES = Path(__file__).parents[2] / "oracles"
BERT = bert.BertConfig(
    vocabulary=101, features=48, layers=3, heads=4, feed_forward=96, positions=32, rate=0.0, attention_rate=0.0
)


def oracle(name):
    """Weights, inputs and outputs of a public implementation, by their names there."""
    parts = {"w": {}, "x": {}, "y": {}}
    with np.load(ORACLES / f"{name}.npz") as file:
        for key in file.files:
            parts[key[0]][key[2:]] = file[key]
    return parts["w"], parts["x"], parts["y"]


# model, its map of names, and its inputs among those of the file
MODELS = {
    "bert": (
        lambda: bert.BertForPreTraining(BERT),
        bert.from_huggingface,
        lambda x: {"tokens": x["input_ids"], "mask": x["attention_mask"], "types": x["token_type_ids"]},
    ),
    "vit_small_cfg": (
        lambda: vit.VisionTransformer(32, 8, 3, 4, 64, 128, classes=10),
        vit.from_torchvision,
        lambda x: {"x": x["0"]},
    ),
    "transformer": (
        lambda: transformer.Transformer(4, 2, 2, 64, rate=0.0, causal=False),
        transformer.from_torch,
        lambda x: {
            "source": x["src"],
            "target": x["tgt"],
            "target_mask": x["tgt_mask"],
            "source_key_mask": ~x["src_key_padding_mask"],
            "context_key_mask": ~x["memory_key_padding_mask"],
        },
    ),
}
MASKS = ("mask", "types", "target_mask", "source_key_mask", "context_key_mask")


def flat(result):
    return list(result) if isinstance(result, list | tuple) else [result]


def open_batch(arrays):
    return [Spec((None, *a.shape[1:]), str(a.dtype)) for a in arrays]


def largest(array):
    return float(np.abs(array).max())


def assert_close(actual, expected, what):
    limit = max(1e-6, 2e-5 * largest(expected))
    assert actual.shape == expected.shape, what
    assert largest(actual - expected) <= limit, f"{what}: off by {largest(actual - expected):.2e}, allowed {limit:.2e}"


def loaded(name, backend_name):
    """The model with the public weights, its inputs as tensors, and the public outputs."""
    make, from_public, inputs_of = MODELS[name]
    weights, x, y = oracle(name)
    inputs = inputs_of(x)
    model = make().build(*open_batch([a for k, a in inputs.items() if k not in MASKS]), backend=backend_name).eval()
    model.load_state_dict(from_public(weights))
    return model, {k: labdl.tensor(a, backend=backend_name) for k, a in inputs.items()}, list(y.values())


def run(model, inputs):
    first = [v for k, v in inputs.items() if k not in MASKS]
    return flat(model(*first, **{k: v for k, v in inputs.items() if k in MASKS}))


@pytest.mark.parametrize("name", MODELS)
def test_outputs_are_those_of_the_public_implementation(name, backend):
    model, inputs, expected = loaded(name, backend.name)
    outputs = run(model, inputs)
    assert len(outputs) == len(expected)
    for ours, reference in zip(outputs, expected, strict=True):
        assert_close(labdl.to_numpy(ours), reference, name)


def gradients(model, inputs):
    """Of the mean square of the outputs, by standard name, in the operators' order of axes."""
    owner = labdl.backends.get(model.backend)
    named = [(k, p.value) for k, p in model.named_parameters() if p.trainable]

    def scalar(*_):
        return sum((ops.mean(ops.square(o)) for o in run(model, inputs)), start=0.0)

    found = owner.gradients(scalar, [v for _, v in named])[1]
    return {k: labdl.to_numpy(g) for (k, _), g in zip(named, found, strict=True)}


@pytest.mark.parametrize("name", MODELS)
def test_gradients_reach_every_parameter_and_are_the_same_on_torch(name, backend):
    """Torch is a framework like the others here; the next test but one compares with torch's own model."""
    ours, torchs = (gradients(*loaded(name, b)[:2]) for b in (backend.name, "torch"))
    assert list(ours) == list(torchs)
    for key, gradient in ours.items():
        assert np.isfinite(gradient).all(), key
        assert key.endswith("attention/key/bias:0") or largest(gradient) > 0, key  # softmax does not see a key's bias
        assert_close(gradient, torchs[key], key)


def test_gradients_of_the_transformer_are_those_of_torchs_own(backend):
    import torch

    weights, x, _ = oracle("transformer")
    native = torch.nn.Transformer(32, 4, 2, 2, 64, dropout=0.0, batch_first=True)
    native.load_state_dict({k: torch.as_tensor(v) for k, v in weights.items()})
    output = native(**{k: torch.as_tensor(v) for k, v in x.items()})
    (output**2).mean().backward()
    expected = transformer.from_torch({k: p.grad.numpy() for k, p in native.named_parameters()})
    ours = gradients(*loaded("transformer", backend.name)[:2])
    assert ours.keys() == expected.keys()
    for key, gradient in ours.items():
        assert_close(gradient, expected[key], key)


def native_resnet(bottleneck, depths, channels, classes):
    """The network as the paper has it, under torchvision's names, in nothing but torch."""
    import torch

    T = torch.nn  # noqa: N806

    class Block(T.Module):
        def __init__(self, entering, inner, stride):
            super().__init__()
            leaving = inner * 4 if bottleneck else inner
            kernels = (
                [(entering, inner, 1, 1), (inner, inner, 3, stride), (inner, leaving, 1, 1)]
                if bottleneck
                else [(entering, inner, 3, stride), (inner, leaving, 3, 1)]
            )
            for i, (a, b, k, s) in enumerate(kernels, 1):
                setattr(self, f"conv{i}", T.Conv2d(a, b, k, s, k // 2, bias=False))
                setattr(self, f"bn{i}", T.BatchNorm2d(b))
            self.count = len(kernels)
            self.downsample = None
            if stride != 1 or entering != leaving:
                self.downsample = T.Sequential(
                    T.Conv2d(entering, leaving, 1, stride, bias=False), T.BatchNorm2d(leaving)
                )

        def forward(self, x):
            y = x
            for i in range(1, self.count + 1):
                y = getattr(self, f"bn{i}")(getattr(self, f"conv{i}")(y))
                y = torch.relu(y) if i < self.count else y
            return torch.relu(y + (x if self.downsample is None else self.downsample(x)))

    class Net(T.Module):
        def __init__(self):
            super().__init__()
            self.conv1, self.bn1 = T.Conv2d(3, channels, 7, 2, 3, bias=False), T.BatchNorm2d(channels)
            entering = channels
            for at, depth in enumerate(depths):
                inner, blocks = channels * 2**at, []
                for i in range(depth):
                    blocks.append(Block(entering, inner, 2 if at and not i else 1))
                    entering = inner * 4 if bottleneck else inner
                setattr(self, f"layer{at + 1}", T.Sequential(*blocks))
            self.fc = T.Linear(entering, classes)

        def forward(self, x):
            x = T.functional.max_pool2d(torch.relu(self.bn1(self.conv1(x))), 3, 2, 1)
            for at in range(len(depths)):
                x = getattr(self, f"layer{at + 1}")(x)
            return self.fc(x.mean((2, 3)))

    return Net()


# our model and the sizes of torch's
RESNETS = {
    "resnet18": (lambda: resnet.resnet18(classes=11), (False, (2, 2, 2, 2), 64, 11)),
    "bottlenecks": (
        lambda: resnet.ResNet(resnet.Bottleneck, (2, 1, 1, 2), classes=7, channels=8),
        (True, (2, 1, 1, 2), 8, 7),
    ),
}


def resnet_pair(name, backend):
    """Ours and torch's with equal random weights and statistics, and images."""
    import torch

    make, sizes = RESNETS[name]
    native = native_resnet(*sizes)
    rng = np.random.default_rng(0)
    with torch.no_grad():
        for key, value in native.state_dict().items():
            if value.ndim == 4:  # variance 2 / inputs keeps the size of what flows
                value.copy_(torch.as_tensor(rng.normal(0, (2 / value[0].numel()) ** 0.5, value.shape)))
            elif value.ndim:
                low = 0.5 if key.endswith(("running_var", "weight")) else -0.3
                value.copy_(torch.as_tensor(rng.uniform(low, low + 0.6, value.shape)))
    ours = make().build((None, 3, 64, 64), backend=backend.name)
    ours.load_state_dict(resnet.from_torchvision({k: v.numpy().copy() for k, v in native.state_dict().items()}))
    return ours, native, rng.normal(size=(4, 3, 64, 64)).astype("float32")


def native_gradients(native, x):
    """Of the mean square of the outputs, under our names."""
    native.zero_grad()
    (native(x) ** 2).mean().backward()
    return resnet.from_torchvision({**native.state_dict(), **{k: p.grad for k, p in native.named_parameters()}})


@pytest.mark.sample(backends=["torch"])
@pytest.mark.sample(backends=1)
@pytest.mark.parametrize("name", RESNETS)
def test_resnet_with_public_names_equals_torchs(name, backend):
    """Outputs and gradients with running statistics, then with those of the batch, and what training leaves of them."""
    import torch

    ours, native, x = resnet_pair(name, backend)
    tensor, torchs = backend.tensor(x), torch.as_tensor(x)
    parameters = dict(ours.named_parameters())
    for training in (False, True):
        exact = copy.deepcopy(native).double().train(training)
        with torch.no_grad():
            assert_close(labdl.to_numpy(ours.train(training)(tensor)), native.train(training)(torchs).numpy(), "output")
        found = gradients(ours, {"x": tensor})
        expected, precise = native_gradients(native, torchs), native_gradients(exact, torchs.double())
        for key, gradient in found.items():
            # batch statistics and ReLU magnify rounding: torch's own distance from float64 says how much
            off = largest(parameters[key].to_standard(gradient) - precise[key])
            allowed = max(1e-6, 2e-5 * largest(precise[key]), 8 * largest(expected[key] - precise[key]))
            assert off <= allowed, f"{key}: off by {off:.2e}, allowed {allowed:.2e}"
    state = ours.state_dict()
    for key in state.keys() - found.keys():
        assert_close(state[key], expected[key], key)


class PairTrainer(Trainer):
    """Source and target in one array, a step of the target ahead of what is read of it."""

    def forward(self, x):
        return self.model(x[:, :6], x[:, 6:])


def tokens(rng, steps):
    return rng.integers(1, 50, (4, steps))


# model, shapes to build it for where the trainer cannot know, inputs and targets
TRAINED = {
    "resnet": (
        lambda: resnet.ResNet(resnet.BasicBlock, (1, 1, 1, 1), classes=5, channels=8),
        (),
        Trainer,
        lambda rng: (rng.normal(size=(4, 3, 32, 32)).astype("float32"), rng.integers(0, 5, 4)),
    ),
    "vit": (
        lambda: vit.VisionTransformer(16, 8, 2, 2, 16, 32, classes=5),
        (),
        Trainer,
        lambda rng: (rng.normal(size=(4, 3, 16, 16)).astype("float32"), rng.integers(0, 5, 4)),
    ),
    "bert": (
        lambda: bert.BertForSequenceClassification(BERT, 3),
        (),
        Trainer,
        lambda rng: (tokens(rng, 7), rng.integers(0, 3, 4)),
    ),
    "transformer": (
        lambda: transformer.TranslationTransformer(50, 16, 2, 1, 32, rate=0.0, padding=0),
        (Spec((None, 6), "int64"), Spec((None, 5), "int64")),
        PairTrainer,
        lambda rng: (tokens(rng, 11), tokens(rng, 5)),
    ),
}


@pytest.mark.sample(every=4)
@pytest.mark.sample(backends=1)
@pytest.mark.parametrize("family", TRAINED)
def test_training_takes_the_same_steps_as_on_torch(family, backend):
    make, specs, kind, draw = TRAINED[family]
    x, y = draw(np.random.default_rng(0))
    losses, states = [], []
    for name in (backend.name, "torch"):
        model = make()
        if specs:
            model.build(*specs, backend=name, seed=0)
        trainer = kind(model, loss="cross_entropy", optimizer=SGD(0.02), backend=name, seed=0)
        losses.append([trainer.train_one_batch(x, y)["loss"] for _ in range(3)])
        states.append(model.state_dict())
    assert losses[0][2] < losses[0][1] < losses[0][0]
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-4)
    for key, value in states[0].items():
        np.testing.assert_allclose(value, states[1][key], rtol=1e-3, atol=1e-4, err_msg=key)


def test_tied_words_learn_from_both_ends(backend):
    """The table of word vectors is one parameter: a word that is not in the input has a gradient from the head."""
    model, inputs, _ = loaded("bert", backend.name)
    gradient = gradients(model, inputs)["bert/embeddings/words/embeddings:0"]
    absent = np.setdiff1d(np.arange(101), labdl.to_numpy(inputs["tokens"]))
    assert np.abs(gradient[absent]).max(axis=1).min() > 0
    assert not any("decoder" in key for key in model.state_dict())


def test_padding_does_not_change_the_rest(backend):
    """Longer input with hidden padding gives the same features and logits at the real positions."""
    model, inputs, _ = loaded("bert", backend.name)
    ids = labdl.to_numpy(inputs["tokens"])[:, :5]
    padded = np.concatenate([ids, np.full((2, 3), 7)], axis=1)
    mask = np.arange(8) < 5
    short = model(backend.tensor(ids))
    long = model(backend.tensor(padded), mask=backend.tensor(np.stack([mask, mask])))
    assert_close(labdl.to_numpy(long[0])[:, :5], labdl.to_numpy(short[0]), "words")
    assert_close(labdl.to_numpy(long[1]), labdl.to_numpy(short[1]), "next sentence")

    full = transformer.TranslationTransformer(50, 16, 2, 2, 32, rate=0.0, padding=0)
    full.build(Spec((None, 4), "int64"), Spec((None, 3), "int64"), backend=backend.name, seed=0).eval()
    source, target = np.array([[5, 9, 3, 8]]), np.array([[4, 2, 6]])
    plain = labdl.to_numpy(full(backend.tensor(source), backend.tensor(target)))
    wide = full(backend.tensor(np.pad(source, ((0, 0), (0, 2)))), backend.tensor(np.pad(target, ((0, 0), (0, 1)))))
    assert_close(labdl.to_numpy(wide)[:, :3], plain, "translation")
