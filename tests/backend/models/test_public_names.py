"""Public names on one backend against PyTorch's own modules: their state dicts go into our layers, and back."""

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file
from torch import nn as T

import labdl
from labdl import models, nn
from labdl.errors import ConfigError, ModelError, StateDictError
from labdl.interop import public_weights as names
from labdl.interop.public_weights import Group
from labdl.models.text import bert
from labdl.models.text.textcnn import TextCNN
from labdl.models.vision.resnet import BasicBlock, Bottleneck, ResNet
from labdl.spec import Spec
from labdl.train import Trainer

pytestmark = pytest.mark.sample(backends=2)

RNG = np.random.default_rng(2)
FILES = Path(__file__).parents[2] / "oracles" / "hub"


def floats(*shape):
    return RNG.normal(size=shape).astype("float32")


def stir(module):
    """Values that no initializer gives, for buffers too."""
    with torch.no_grad():
        for name, value in module.state_dict().items():
            if value.is_floating_point():
                value.copy_(torch.rand(value.shape) + 0.5 if name.endswith("var") else torch.randn(value.shape) * 0.5)
    return module.eval()


class Packed(T.MultiheadAttention):
    def forward(self, x):
        return super().forward(x, x, x)[0]


class First(nn.Module):
    """The first output of a recurrent layer."""

    def __init__(self, layer):
        self.layer = layer

    def forward(self, x):
        return self.layer(x)[0]


class Three(T.Module):
    """Query, key and value as three layers, which ours has as one."""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = T.Linear(4, 4), T.Linear(4, 2), T.Linear(4, 2)

    def forward(self, x):
        return torch.cat([self.q(x), self.k(x), self.v(x)], -1)


def normed(module, **options):
    return T.utils.parametrizations.weight_norm(module, **options)


def old_normed(module, **options):
    with pytest.warns(FutureWarning):
        return T.utils.weight_norm(module, **options)


X1, X2, X3 = floats(2, 4, 7), floats(2, 4, 6, 5), floats(2, 4, 3, 4, 5)
# PyTorch's module "m", our layer "ours", the mappings, and an input; input and output channels are equal throughout
CASES = {
    "linear": (lambda: T.Linear(4, 4), lambda: nn.Linear(4), names.linear, floats(3, 4)),
    "linear without bias": (
        lambda: T.Linear(4, 4, bias=False),
        lambda: nn.Linear(4, use_bias=False),
        lambda m, o: names.linear(m, o, use_bias=False),
        floats(3, 4),
    ),
    **{
        f"convolution {axes}": (
            lambda axes=axes: getattr(T, f"Conv{axes}d")(4, 4, 3, groups=axes % 2 + 1),
            lambda axes=axes: getattr(nn, f"Conv{axes}d")(4, kernel_size=3, groups=axes % 2 + 1),
            lambda m, o, axes=axes: names.convolution(m, o, axes=axes),
            x,
        )
        for axes, x in ((1, X1), (2, X2), (3, X3))
    },
    **{
        f"transposed convolution {axes}": (
            lambda axes=axes: getattr(T, f"ConvTranspose{axes}d")(4, 4, 3, stride=2, groups=axes % 2 + 1),
            lambda axes=axes: getattr(nn, f"ConvTranspose{axes}d")(4, kernel_size=3, stride=2, groups=axes % 2 + 1),
            lambda m, o, axes=axes: names.transposed_convolution(m, o, axes=axes),
            x,
        )
        for axes, x in ((1, X1), (2, X2), (3, X3))
    },
    "depthwise convolution": (
        lambda: T.Conv2d(4, 8, 3, groups=4),
        lambda: nn.DepthwiseConv2d(kernel_size=3, multiplier=2),
        names.convolution,
        X2,
    ),
    "embedding": (lambda: T.Embedding(9, 4), lambda: nn.Embedding(9, 4), names.embedding, np.arange(6).reshape(2, 3)),
    "bag of embeddings": (
        lambda: T.EmbeddingBag(9, 4),
        lambda: nn.EmbeddingBag(9, 4),
        names.embedding,
        np.arange(6).reshape(2, 3),
    ),
    "lstm": (
        lambda: T.LSTM(4, 4, batch_first=True),
        lambda: First(nn.LSTM(4)),
        lambda m, o: names.lstm(m, f"{o}/layer"),
        floats(2, 5, 4),
    ),
    "lstm of two layers and directions": (
        lambda: T.LSTM(4, 3, num_layers=2, bidirectional=True, batch_first=True),
        lambda: First(nn.LSTM(3, layers=2, bidirectional=True)),
        lambda m, o: names.lstm(m, f"{o}/layer", layers=2, bidirectional=True),
        floats(2, 5, 4),
    ),
    "gru of two directions": (
        lambda: T.GRU(4, 4, bidirectional=True, batch_first=True),
        lambda: First(nn.GRU(4, bidirectional=True)),
        lambda m, o: names.gru(m, f"{o}/layer", bidirectional=True),
        floats(2, 5, 4),
    ),
    "rnn": (
        lambda: T.RNN(4, 4, num_layers=2, batch_first=True),
        lambda: First(nn.RNN(4, layers=2)),
        lambda m, o: names.rnn(m, f"{o}/layer", layers=2),
        floats(2, 5, 4),
    ),
    "lstm cell": (
        lambda: T.LSTMCell(4, 4),
        lambda: First(nn.LSTMCell(4)),
        lambda m, o: names.lstm_cell(m, f"{o}/layer"),
        floats(2, 4),
    ),
    "gru cell": (lambda: T.GRUCell(4, 4), lambda: nn.GRUCell(4), names.gru_cell, floats(2, 4)),
    "rnn cell": (lambda: T.RNNCell(4, 4), lambda: nn.RNNCell(4), names.rnn_cell, floats(2, 4)),
    "layer norm": (lambda: T.LayerNorm(4), nn.LayerNorm, names.norm, floats(2, 3, 4)),
    "rms norm": (
        lambda: T.RMSNorm(4, eps=1e-6),
        nn.RMSNorm,
        lambda m, o: names.norm(m, o, use_bias=False),
        floats(2, 3, 4),
    ),
    "batch norm": (lambda: T.BatchNorm2d(4), nn.BatchNorm, names.batch_norm, X2),
    "batch norm without affine map": (
        lambda: T.BatchNorm1d(4, affine=False),
        lambda: nn.BatchNorm(affine=False),
        lambda m, o: names.batch_norm(m, o, affine=False),
        X1,
    ),
    "frozen batch norm": (lambda: T.BatchNorm2d(4), nn.FrozenBatchNorm, names.batch_norm, X2),
    "packed attention": (
        lambda: Packed(4, 2, batch_first=True),
        lambda: nn.MultiHeadAttention(2),
        names.packed_attention,
        floats(2, 3, 4),
    ),
    "three layers in one": (
        Three,
        lambda: nn.Linear(8),
        lambda m, o: names.linears([f"{m}.q", f"{m}.k", f"{m}.v"], o, sizes=(4, 2, 2)),
        floats(2, 3, 4),
    ),
    "weight norm": (
        lambda: normed(T.Linear(4, 4)),
        lambda: nn.Linear(4),
        lambda m, o: names.weight_norm(names.linear(m, o), parametrized=True),
        floats(2, 4),
    ),
    "old weight norm": (
        lambda: old_normed(T.Conv1d(4, 4, 3)),
        lambda: nn.Conv1d(4, kernel_size=3),
        lambda m, o: names.weight_norm(names.convolution(m, o, axes=1)),
        X1,
    ),
    "weight norm of a transposed convolution along its last axis": (
        lambda: normed(T.ConvTranspose1d(4, 4, 3), dim=2),
        lambda: nn.ConvTranspose1d(4, kernel_size=3),
        lambda m, o: names.weight_norm(names.transposed_convolution(m, o, axes=1), axis=2, parametrized=True),
        X1,
    ),
    "weight norm over all axes": (
        lambda: old_normed(T.Linear(4, 4), dim=None),
        lambda: nn.Linear(4),
        lambda m, o: names.weight_norm(names.linear(m, o), axis=None),
        floats(2, 4),
    ),
}


def close(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=2e-5, atol=2e-5 * max(1.0, float(np.abs(expected).max())))


def output(module, x):
    with torch.no_grad():
        found = module(torch.from_numpy(x))
    return (found[0] if isinstance(found, tuple) else found).numpy()


@pytest.mark.parametrize("name", CASES)
def test_a_layer_takes_the_weights_of_pytorchs_and_gives_them_back(backend, name):
    make, ours, mappings, x = CASES[name]
    torch.manual_seed(5)
    source = T.ModuleDict({"m": stir(make())})
    model = nn.Sequential(ours()).build(Spec((None, *x.shape[1:]), str(x.dtype)), backend=backend.name, seed=0).eval()
    table = [Group(mappings("m", "0"), needed=True)]
    report = models.load_public(model, source.state_dict(), table)
    assert report.loaded == list(model.state_dict())
    expected = output(source["m"], x)
    close(labdl.predict(model, x), expected)
    public = models.public_state_dict(model, table)
    twin = T.ModuleDict({"m": make().eval()})
    twin.load_state_dict({key: torch.from_numpy(value) for key, value in public.items()})
    close(output(twin["m"], x), expected)


@pytest.mark.parametrize(
    ("layer", "mappings", "advice"),
    [
        (lambda: nn.ConvTranspose2d(4, kernel_size=3), names.convolution, "transposed_convolution"),
        (lambda: nn.Conv2d(4, kernel_size=3), names.transposed_convolution, "convolution"),
    ],
)
def test_names_of_another_kind_of_layer_are_refused_where_the_shapes_are_equal(backend, layer, mappings, advice):
    model = nn.Sequential(layer()).build((None, 4, 6, 5), backend=backend.name, seed=0)
    before = model.state_dict()
    weights = T.ModuleDict({"m": T.Conv2d(4, 4, 3)}).state_dict()
    kind = type(model[0]).__name__
    with pytest.raises(StateDictError, match=rf"0 is a {kind}, but .*: use public_weights\.{advice}$"):
        models.load_public(model, weights, [Group(mappings("m", "0"))])
    with pytest.raises(StateDictError, match=f"0 is a {kind}"):
        models.public_state_dict(model, [Group(mappings("m", "0"))])
    np.testing.assert_equal(model.state_dict(), before)


def test_one_of_several_arrays_that_is_missing_is_named():
    table = [Group(names.linears(["q", "k"], "all"))]
    given = {"q.weight": floats(2, 3), "q.bias": floats(2), "k.weight": floats(2, 3)}
    with pytest.raises(StateDictError, match=r"this model: missing k\.bias$"):
        names.from_public(given, table)
    with pytest.raises(
        StateDictError, match=r"q\.weight has shape \(2, 3\) and k\.weight has shape \(2, 9\), which does"
    ):
        names.from_public({**given, "k.weight": floats(2, 9), "k.bias": floats(2)}, table)
    with pytest.raises(StateDictError, match=r"there are no public names of other/kernel:0"):
        names.to_public({"all/kernel:0": floats(3, 4), "all/bias:0": floats(4), "other/kernel:0": floats(2)}, table)


# -- models


def torch_resnet(block, depths, channels, classes):
    """torchvision's ResNet in plain PyTorch, with its names."""

    class Block(T.Module):
        def __init__(self, entering, inner, stride):
            super().__init__()
            leaving = inner * block.expansion
            sizes = [(entering, inner, 3, stride), (inner, inner, 3, 1)]
            if block.expansion == 4:
                sizes = [(entering, inner, 1, 1), (inner, inner, 3, stride), (inner, leaving, 1, 1)]
            for at, (into, out, window, step) in enumerate(sizes, 1):
                setattr(self, f"conv{at}", T.Conv2d(into, out, window, step, window // 2, bias=False))
                setattr(self, f"bn{at}", T.BatchNorm2d(out))
            self.count, self.downsample = len(sizes), None
            if stride > 1 or entering != leaving:
                self.downsample = T.Sequential(
                    T.Conv2d(entering, leaving, 1, stride, bias=False), T.BatchNorm2d(leaving)
                )

        def forward(self, x):
            y = x
            for at in range(1, self.count + 1):
                y = getattr(self, f"bn{at}")(getattr(self, f"conv{at}")(y))
                y = torch.relu(y) if at < self.count else y
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
                    entering = inner * block.expansion
                setattr(self, f"layer{at + 1}", T.Sequential(*blocks))
            self.fc = T.Linear(entering, classes)

        def forward(self, x):
            x = T.functional.max_pool2d(torch.relu(self.bn1(self.conv1(x))), 3, 2, 1)
            for at in range(4):
                x = getattr(self, f"layer{at + 1}")(x)
            return self.fc(x.mean((2, 3)))

    torch.manual_seed(1)
    net = Net()
    with torch.no_grad():
        for key, value in net.state_dict().items():
            if value.dim() == 1:
                value.copy_(torch.rand(value.shape) * 0.5 + 0.5 if key.endswith(("var", "weight")) else value + 0.1)
    return net.eval()


@pytest.mark.parametrize("block", [BasicBlock, Bottleneck])
def test_a_resnet_takes_a_whole_state_dict_and_gives_it_back(backend, block):
    depths, x = (1, 2, 1, 1), floats(2, 3, 32, 32)
    source = torch_resnet(block, depths, 4, 7)
    model = ResNet(block, depths, classes=7, channels=4).build((None, 3, 32, 32), backend=backend.name, seed=0)
    parallel = {f"module.{key}": value for key, value in source.state_dict().items()}
    with pytest.raises(StateDictError, match=r"missing conv1\.weight"):
        models.load_public(model, parallel)
    assert models.load_public(model, parallel, prefix="module.").loaded == list(model.state_dict())
    close(labdl.predict(model, x), output(source, x))
    public = models.public_state_dict(model)
    counts = {key for key in source.state_dict() if key.endswith("num_batches_tracked")}
    assert public.keys() == source.state_dict().keys() - counts
    for key, value in public.items():
        np.testing.assert_array_equal(value, source.state_dict()[key].numpy(), err_msg=key)


def test_weights_of_other_classes_are_taken_without_the_head(backend):
    source = torch_resnet(BasicBlock, (1, 1, 1, 1), 4, 7)
    model = ResNet(BasicBlock, (1, 1, 1, 1), classes=2, channels=4)
    model.build((None, 3, 32, 32), backend=backend.name, seed=0)
    given = {**source.state_dict(), "extra.weight": torch.zeros(2)}
    del given["bn1.weight"]
    with pytest.raises(StateDictError, match=r"missing bn1\.weight; unexpected extra\.weight"):
        models.load_public(model, given)
    with pytest.warns(UserWarning, match=r"2 parameters of ResNet keep their values: head/kernel:0 has shape"):
        report = models.load_public(model, given, strict=False)
    assert (report.missing_keys, report.unexpected_keys) == (["stem/norm/gamma:0"], ["extra.weight"])
    assert list(report.mismatched) == ["head/kernel:0", "head/bias:0"]
    assert "stages/3/0/first/conv/kernel:0" in report.loaded


def test_a_model_is_created_with_public_weights_and_given_a_new_head(backend):
    """The usual way of transfer learning."""
    torch.manual_seed(3)
    net = T.ModuleDict(
        {
            "embed": T.Embedding(30, 8),
            "convs": T.ModuleList(T.Conv1d(8, 4, width) for width in (3, 4, 5)),
            "fc": T.Linear(12, 5),
        }
    )
    settings = {"vocabulary": 30, "features": 8, "channels": 4}
    model = models.create("textcnn", weights=net.state_dict(), backend=backend.name, classes=5, **settings)
    assert isinstance(model, TextCNN)
    np.testing.assert_array_equal(model.state_dict()["head/kernel:0"], net["fc"].weight.detach().numpy().T)
    assert models.public_state_dict(model).keys() == net.state_dict().keys()
    model.freeze().replace_head(2)
    before = model.state_dict()
    x, y = RNG.integers(0, 30, (8, 64)), np.arange(8) % 2
    Trainer(model, optimizer="adam").fit(x, y, epochs=1, progress=False)
    moved = [key for key, value in model.state_dict().items() if not np.array_equal(value, before[key])]
    assert moved == ["head/kernel:0", "head/bias:0"]
    with pytest.raises(StateDictError, match=r"head/kernel:0 has shape \(12, 5\), the model wants \(12, 2\)"):
        models.create("textcnn", weights=net.state_dict(), backend=backend.name, **settings)


def test_a_file_of_the_public_library_gives_its_outputs_and_comes_back(backend):
    """A BertForSequenceClassification as transformers saves it."""
    weights = load_file(FILES / "bert_classifier" / "model.safetensors")
    with np.load(FILES / "bert_classifier" / "expected.npz") as file:
        tokens, mask, types = (file[f"x:{key}"] for key in ("input_ids", "attention_mask", "token_type_ids"))
        expected = file["y:logits"]
    config = bert.BertConfig(300, 32, 2, 4, 64, 64, 2)
    model = bert.BertForSequenceClassification(config, 3).build(Spec((None, 9), "int64"), backend=backend.name).eval()
    models.load_public(model, weights)
    found = model(*(backend.tensor(a) for a in (tokens, mask, types)))
    np.testing.assert_allclose(labdl.to_numpy(found), expected, rtol=0, atol=2e-5 * np.abs(expected).max())
    public = models.public_state_dict(model)
    assert public.keys() == weights.keys()
    assert all(np.array_equal(public[key], weights[key]) for key in public)


def test_models_and_weights_without_names(backend):
    model = nn.Sequential(nn.Linear(2)).build((None, 3), backend=backend.name)
    with pytest.raises(ModelError, match="Sequential has no table of public names: give names="):
        models.load_public(model, {"0.weight": floats(2, 3)})
    with pytest.raises(ConfigError, match=r"weights wants a dictionary .* or the path of a file, received Sequential"):
        models.load_public(model, model)
    table = [Group(names.linear("fc", "0"))]
    with pytest.raises(StateDictError, match=r"fc\.weight is of the type object, not an array"):
        models.load_public(model, {"fc.weight": object(), "fc.bias": floats(2)}, table)
