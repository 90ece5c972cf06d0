"""Layers by their names in other frameworks: what they create, what is refused, and where they do not appear."""

import difflib
import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import labdl
from labdl import nn
from labdl.errors import ArgumentError, ConfigError
from labdl.interop import names
from labdl.interop.names import Reading
from labdl.interop.names.entry import DEFAULT_ONLY, IGNORED, parse_signature
from labdl.lab.editor import service
from labdl.nn import foreign
from labdl.nn.schema import LAYERS, fields

ROOT = Path(__file__).parents[3]
ENTRIES = [(f, n, e) for f in names.FRAMEWORKS for n, e in names.classes(f).items()]
CONTAINERS = ("Module", "Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict")


@pytest.mark.parametrize(
    ("create", "expected"),
    [
        (lambda: nn.MSELoss(reduction="sum"), "MeanSquaredErrorLoss(reduction='sum')"),
        (lambda: nn.BatchNorm2d(64, 1e-3, 0.2), "BatchNorm(momentum=0.2, epsilon=0.001)"),
        (lambda: nn.Dropout2d(0.25), "DropoutChannels(rate=0.25)"),
        (lambda: nn.ZeroPad2d((1, 2, 3, 4)), "Pad(padding=((3, 4), (1, 2)))"),
        (lambda: nn.Softmax2d(), "Softmax(axis=-3)"),
        (lambda: nn.Dense(7, use_bias=False), "Linear(out_features=7, use_bias=False, kernel_init='glorot_uniform')"),
        (lambda: nn.Dense(4, 7, has_bias=False), "Linear(out_features=7, use_bias=False, in_features=4)"),
        (lambda: nn.BatchNormalization(1), "BatchNorm(momentum=0.01, epsilon=0.001)"),
        (lambda: nn.BatchNorm2D(3, data_format="NHWC"), "BatchNorm(data_format='channels_last')"),
        (lambda: nn.HSwish(), "Hardswish()"),
        (lambda: nn.SmoothL1Loss(), "SmoothL1Loss()"),
    ],
)
def test_foreign_name_creates_our_layer(create, expected):
    assert repr(create()) == expected


def test_activation_becomes_a_layer():
    model = nn.Dense(3, activation="relu")
    assert [type(layer) for layer in model] == [nn.Linear, nn.ReLU]


def test_import_and_isinstance():
    from labdl.nn import BatchNorm2d, MSELoss

    assert isinstance(MSELoss(), nn.MeanSquaredErrorLoss)
    assert isinstance(nn.BatchNorm(), BatchNorm2d)
    assert not isinstance(nn.LayerNorm(), BatchNorm2d)
    assert nn.MSELoss is MSELoss
    assert issubclass(nn.BatchNorm, BatchNorm2d)
    assert not issubclass(nn.LayerNorm, BatchNorm2d)
    assert BatchNorm2d | None == nn.BatchNorm | None
    assert None | BatchNorm2d == None | nn.BatchNorm
    assert BatchNorm2d | MSELoss == nn.BatchNorm | nn.MeanSquaredErrorLoss
    assert "num_features" in str(__import__("inspect").signature(BatchNorm2d))
    with pytest.raises(TypeError, match=r"nn\.MeanSquaredErrorLoss: inherit from that"):

        class Mine(nn.MSELoss):
            pass


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("MultiheadAttention", r"PyTorch's MultiheadAttention is nn\.MultiHeadAttention, which differs: .*batch first"),
        ("Concatenate", r"Keras's Concatenate is nn\.Concat, which differs: .*not with a list"),
        ("FractionalMaxPool2d", "none for PyTorch's FractionalMaxPool2d: its windows are random"),
        ("Linaer", "did you mean 'Linear'"),
        ("MSELos", "did you mean 'MSELoss'"),
        ("Nonsense", "labdl.nn has no 'Nonsense'$"),
    ],
)
def test_other_names_raise_an_attribute_error(name, message):
    assert not hasattr(nn, name)
    with pytest.raises(AttributeError, match=message):
        getattr(nn, name)


@pytest.mark.parametrize(
    ("create", "message"),
    [
        (
            lambda: nn.BatchNorm2d(3, track_running_stats=False),
            "track_running_stats=False has no equivalent in nn.BatchNorm",
        ),
        (lambda: nn.BatchNorm2d(), "missing a required argument: 'num_features'; its arguments are"),
        (lambda: nn.MSELoss(size_average=True), "size_average=True has no equivalent"),
        (lambda: nn.Dense(3, activation="abc"), "Keras's Dense: activation: the activations are"),
        (
            lambda: nn.Conv2D(3, 8, 3),
            r"Conv2d\(.*\) as Keras's Conv2D and .* as PaddlePaddle's Conv2D: write which one",
        ),
        (lambda: nn.Dense(3, colour=4), "colour"),
        (lambda: nn.Dropout2d(3), "rate wants a number"),
        (lambda: nn.ZeroPad2d(0.5), r"PyTorch's ZeroPad2d: padding: received padding=0\.5"),
        (lambda: nn.ZeroPad2d((1, 2, 3)), "padding: one number, or a pair for each axis"),
    ],
)
def test_arguments_without_an_equivalent_are_refused(create, message):
    with pytest.raises(ConfigError, match=message):
        create()


@pytest.mark.parametrize(
    ("framework", "name", "args", "kwargs", "message"),
    [
        ("tensorflow", "UpSampling2D", (2,), {"interpolation": "bicubic"}, "the kernel of LabDL's is another one"),
        ("mindspore", "Upsample", ((9, 11),), {"mode": "bicubic"}, "the kernel of LabDL's is another one"),
        ("paddle", "Conv2D", (4, 6, 3), {"padding": "SAME", "dilation": 2}, "leaves the dilation out"),
        ("paddle", "Conv2DTranspose", (4, 6, 3, 2, "SAME"), {}, "give the padding in numbers"),
        *[
            ("paddle", f"{kind}Pool{rank}D", (2, 2, 1), {"ceil_mode": True}, "windows that begin after the last")
            for kind in ("Max", "Avg")
            for rank in (1, 2, 3)
        ],
        ("paddle", "MaxPool2D", (2, 3, "SAME"), {"ceil_mode": True}, "windows that begin after the last"),
        ("paddle", "AvgPool2D", (3, 2, "SAME"), {"exclusive": False}, "counts the padding"),
        ("paddle", "CosineSimilarity", (), {"eps": 1e-4}, "eps=0.0001 has no equivalent"),
        ("paddle", "CrossEntropyLoss", (), {"ignore_index": -1}, "the mean of PaddlePaddle is over all targets"),
        ("torch", "ConstantPad2d", ((1, 2), 0.0), {}, "a pair for each axis, which are 4 numbers"),
    ],
)
def test_arguments_that_mean_something_else_are_refused(framework, name, args, kwargs, message):
    with pytest.raises(ConfigError, match=message):
        foreign.create(Reading(framework, name, names.classes(framework)[name]), args, kwargs)


@pytest.mark.parametrize(
    ("create", "shape", "message"),
    [
        (lambda: nn.ZeroPad2d(1), (3, 4, 5), "Pad wants padding for the spatial axes"),
        (lambda: nn.InstanceNorm2d(3), (3, 4, 5), r"InstanceNorm wants 4 axes: .* received \(3, 4, 5\)"),
        (lambda: nn.InstanceNorm3d(3), (3, 4, 5, 6), "InstanceNorm wants 5 axes"),
        (lambda: nn.Dropout1d(), (3, 4), "DropoutChannels wants 3 axes"),
        (lambda: nn.Dropout3d(), (3, 4, 5, 6), "DropoutChannels wants 5 axes"),
    ],
)
def test_inputs_without_a_batch_are_refused(create, shape, message):
    """Their axes are not taken for those of a batch."""
    with pytest.raises(ValueError, match=message):
        create().build(shape, backend="numpy")


def test_only_our_names_are_listed():
    """One name for one layer in completion and in the palette; the others are for people who know them."""
    foreign = {name for _, name, _ in ENTRIES} - set(nn.__all__)
    assert not foreign & {*dir(nn), *vars(nn)}
    assert not foreign & {entry["type"] for entry in service.layers()["layers"]}


def test_files_hold_our_names(tmp_path):
    labdl.save(nn.Sequential(nn.Dense(3, activation="relu")).build((None, 4), backend="numpy"), tmp_path / "a.labdl")
    text = json.dumps(labdl.load(tmp_path / "a.labdl", backend="numpy").graph.to_dict())
    assert "Linear" in text
    assert "Dense" not in text


def test_pickle_of_a_name_finds_it_again():
    assert pickle.loads(pickle.dumps(nn.MSELoss)) is nn.MSELoss


@pytest.mark.sample(every=4)
@pytest.mark.parametrize(("framework", "name", "entry"), ENTRIES, ids=lambda v: v if isinstance(v, str) else "")
def test_entries_are_consistent(framework, name, entry):
    """They name layers and settings that exist; what differs has a sentence."""
    assert not entry.ours or entry.ours in LAYERS or entry.ours in CONTAINERS
    parameters = parse_signature(entry.signature).parameters
    for given in entry.rules if entry.equal else ():
        assert set(given.split()) <= {*parameters, "args", "kwargs"}
    if entry.equal and entry.ours in LAYERS:
        own = fields(LAYERS[entry.ours])
        assert entry.fixed.keys() <= own.keys()
        plain = [entry.rule(n) for n, p in parameters.items() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        assert {rule for rule in plain if not callable(rule) and rule not in (IGNORED, DEFAULT_ONLY)} <= own.keys()
    else:
        assert entry.differs or not entry.ours or entry.ours in CONTAINERS
    if not entry.equal and entry.ours in LAYERS:
        named = {rule for rule in entry.rules.values() if not callable(rule) and rule != IGNORED}
        assert named <= fields(LAYERS[entry.ours]).keys()
    assert not entry.differs.endswith(".")


def test_pages_are_up_to_date(tmp_path):
    """`python scripts/name_tables.py` generates the same pages."""
    subprocess.run([sys.executable, str(ROOT / "scripts" / "name_tables.py"), str(tmp_path)], check=True, timeout=120)
    pages = sorted(tmp_path.glob("*.md"))
    assert len(pages) == len(names.FRAMEWORKS)
    assert "| `nn.MaxPool2d(2)` | `nn.MaxPool2d(stride=1)` |" in (tmp_path / "coming-from-mindspore.md").read_text()
    for page in pages:
        old = (ROOT / "docs" / page.name).read_text(encoding="utf-8")
        assert not list(difflib.unified_diff(old.splitlines(), page.read_text(encoding="utf-8").splitlines()))


@pytest.mark.parametrize(
    ("create", "message"),
    [
        (
            lambda: nn.Conv2d(3, 16, 3),
            r"kernel_size=16, stride=3\), but PyTorch's Conv2d with these arguments is nn\.Conv2d",
        ),
        (
            lambda: nn.Linear(784, 10),
            r"use_bias=10\), but PyTorch's Linear .* nn\.Linear\(out_features=10, in_features=784\)",
        ),
        (lambda: nn.LSTM(10, 20), r"hidden_size=10, layers=20\), but PyTorch's LSTM takes other arguments"),
        (lambda: nn.TransformerEncoderLayer(512, 8), "heads=512, feed_forward=8"),
        (lambda: nn.LayerNorm(64), "axes=64"),
        (lambda: nn.GroupNorm(8, 64), "epsilon=64"),
    ],
)
def test_arguments_in_pytorchs_order_are_not_taken_for_ours(create, message):
    with pytest.raises(ConfigError, match=message):
        create()


@pytest.mark.parametrize(
    "create",
    [
        lambda: nn.Conv2d(16, 3),
        lambda: nn.MaxPool2d(2, 2),
        lambda: nn.Embedding(10, 4),
        lambda: nn.LSTM(10),
        lambda: nn.LayerNorm(1),
        lambda: nn.Conv2d(out_channels=3, kernel_size=16, stride=3),
        lambda: nn.EmbeddingBag(4, 3),
    ],
)
def test_arguments_with_one_meaning_are_accepted(create):
    assert create()


@pytest.mark.parametrize(
    ("create", "meaning"),
    [
        (
            lambda: nn.Conv2d(3, 16, kernel_size=3),
            r"is given 'kernel_size' twice, .* is nn\.Conv2d\(out_channels=16, kernel_size=3, in_channels=3\)$",
        ),
        (
            lambda: nn.Conv2d(3, 16, 3, bias=False),
            r"no argument 'bias'; PyTorch's Conv2d with these arguments is nn\.Conv2d\(out_channels=16, kernel_size=3, "
            r"use_bias=False, in_channels=3\)$",
        ),
        (
            lambda: nn.Linear(784, 10, bias=False),
            r"nn\.Linear\(out_features=10, use_bias=False, in_features=784\)$",
        ),
        (lambda: nn.ReLU(inplace=True), r"nn\.ReLU\(\)$"),
        (lambda: nn.Dropout(p=0.3), r"nn\.Dropout\(rate=0\.3\)$"),
        (lambda: nn.Softmax(dim=1), r"nn\.Softmax\(axis=1\)$"),
        (lambda: nn.LayerNorm(normalized_shape=64), r"nn\.LayerNorm\(\)$"),
        (lambda: nn.GroupNorm(num_groups=4, num_channels=8), r"nn\.GroupNorm\(groups=4\)$"),
        (lambda: nn.Embedding(10, 4, padding_idx=0), r"nn\.Embedding\(size=10, features=4, padding_index=0\)$"),
        (lambda: nn.Embedding(input_dim=10, output_dim=4), r"Keras's Embedding .* nn\.Embedding\(size=10, features=4"),
        (lambda: nn.Upsample(scale_factor=3), r"nn\.Upsample\(scale=3\.0\)$"),
        (lambda: nn.Flatten(start_dim=1), r"nn\.Flatten\(start_axis=1\)$"),
        (
            lambda: nn.CrossEntropyLoss(weight=[1, 2]),
            r"PyTorch's .* nn\.CrossEntropyLoss\(class_weights=\(1\.0, 2\.0\)\), which differs: the classes are on the last",
        ),
        (
            lambda: nn.LSTM(input_size=10, hidden_size=20, num_layers=2),
            r"PyTorch's LSTM .* nn\.LSTM\(hidden_size=20, layers=2\), which differs",
        ),
        (lambda: nn.LSTM(10, 20, 2, batch_first=True), r"no argument 'batch_first'; .*`num_layers` is `layers`"),
        (lambda: nn.LSTM(units=64), r"Keras's LSTM .* nn\.LSTM\(hidden_size=64\), which differs"),
        (lambda: nn.LSTMCell(10, 20), r"PyTorch's LSTMCell is nn\.LSTMCell, which differs: it is called with"),
        (
            lambda: nn.TransformerEncoderLayer(d_model=512, nhead=8),
            r"nn\.TransformerEncoderLayer\(heads=8\), which differs",
        ),
        (
            lambda: nn.MultiHeadAttention(num_heads=2, key_dim=4),
            r"Keras's MultiHeadAttention .* nn\.MultiHeadAttention\(heads=2, key_size=4\), which differs",
        ),
        (lambda: nn.Conv2d(3, 16, 3, pad_mode="pad"), r"MindSpore's Conv2d .*use_bias=False"),
        (
            lambda: nn.Conv2d(3, 16, 3, device="cuda"),
            r"PyTorch's Conv2d: device='cuda' has no equivalent in nn\.Conv2d$",
        ),
        (lambda: nn.Conv2d(16, kernal_size=3), r"no argument 'kernal_size': did you mean 'kernel_size'\?$"),
        (lambda: nn.Concat(dim=1), r"nn\.Concat has no argument 'dim'; its arguments are axis$"),
        (lambda: nn.Conv2d(), r"missing a required argument: 'out_channels'"),
    ],
)
def test_arguments_of_a_framework_are_translated_in_the_error(create, meaning):
    with pytest.raises(ArgumentError, match=meaning):
        create()
    assert issubclass(ArgumentError, TypeError)


def test_number_of_channels_is_not_taken_for_a_momentum():
    message = r"momentum wants a number at least 0 and at most 1, received 64; PaddlePaddle's .* is nn\.BatchNorm\(\)$"
    with pytest.raises(ConfigError, match=message):
        nn.BatchNorm(64)


def test_meant_settings_include_those_by_name():
    with pytest.raises(ConfigError, match=r"nn\.Conv2d\(3, 16, 5, padding=2\): .* in_channels=3\)"):
        nn.Conv2d(3, 16, 5, padding=2)


def test_type_error_of_a_layers_own_init_is_kept():
    @nn.layer(namespace="own_init")
    class Odd(nn.Module):
        size: int = 1

        def __init__(self, size=1):
            super().__init__()
            self.size = size + "x"

        def forward(self, x):
            return x

    with pytest.raises(TypeError, match="unsupported operand") as caught:
        Odd(1)
    assert not isinstance(caught.value, ConfigError)
