"""Published models without a framework: sizes, mappings of public names, graphs and files."""

import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

import labdl
from labdl import nn
from labdl.errors import ModelError, StateDictError
from labdl.interop import public_weights
from labdl.models.text import bert, transformer
from labdl.models.vision import resnet, vit
from labdl.spec import Spec

pytestmark = pytest.mark.slow

ORACLES = Path(__file__).parents[2] / "oracles"
IMAGE = [Spec((None, 3, 224, 224))]
TOKENS = Spec((None, 9), "int64")
SMALL = bert.BertConfig(vocabulary=101, features=48, layers=3, heads=4, feed_forward=96, positions=32)


def weights_of(name):
    with np.load(ORACLES / f"{name}.npz") as file:
        return {k[2:]: file[k] for k in file.files if k.startswith("w:")}


def counted(model, *specs):
    """The model with its sizes found and nothing drawn."""
    model._shapes_of(*specs)
    assert all(p.value is None for p in model.parameters())
    return model.count_parameters()


# model, inputs, and the number that its paper or first implementation states
COUNTS = {
    "ResNet-18": (resnet.resnet18, IMAGE, 11_689_512),
    "ResNet-34": (resnet.resnet34, IMAGE, 21_797_672),
    "ResNet-50": (resnet.resnet50, IMAGE, 25_557_032),
    "ResNet-101": (resnet.resnet101, IMAGE, 44_549_160),
    "ResNet-152": (resnet.resnet152, IMAGE, 60_192_808),
    "ResNeXt-50 32x4d": (resnet.resnext50_32x4d, IMAGE, 25_028_904),
    "Wide ResNet-50-2": (resnet.wide_resnet50_2, IMAGE, 68_883_240),
    "ViT-B/16": (vit.vit_b_16, IMAGE, 86_567_656),
    "ViT-B/32": (vit.vit_b_32, IMAGE, 88_224_232),
    "ViT-L/16": (vit.vit_l_16, IMAGE, 304_326_632),
    "ViT-L/32": (vit.vit_l_32, IMAGE, 306_535_400),
    "ViT-H/14": (vit.vit_h_14, [Spec((None, 3, 518, 518))], 633_470_440),
    "BERT-base": (bert.bert_base, [TOKENS], 109_482_240),
    "BERT-large": (bert.bert_large, [TOKENS], 335_141_888),
    # the encoder and its heads, the table of words counted once
    "BERT-base for pre-training": (bert.BertForPreTraining, [TOKENS], 109_482_240 + 590_592 + 1_536 + 30_522 + 1_538),
    "Transformer": (transformer.Transformer, [Spec((None, 7, 512)), Spec((None, 5, 512))], 44_140_544),
    "Transformer base": (transformer.transformer_base, [TOKENS, TOKENS], 44_140_544 + 37_000 * 512),
}


@pytest.mark.parametrize("name", COUNTS)
def test_models_have_the_published_number_of_parameters(name):
    make, specs, count = COUNTS[name]
    assert counted(make(), *specs) == count


@pytest.mark.sample(False)
def test_counting_needs_no_framework():
    code = (
        "import sys\nfrom labdl import Spec\nfrom labdl.models.vision import vit\n"
        "model = vit.vit_l_16(); model._shapes_of(Spec((None, 3, 224, 224)))\n"
        "assert model.count_parameters() == 304326632\n"
        "assert not {'torch', 'tensorflow', 'paddle', 'mindspore'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("make", "specs", "shapes"),
    [
        (lambda: resnet.resnet18(), IMAGE, [(None, 1000)]),
        (lambda: resnet.resnet50(classes=None), IMAGE, [(None, 2048)]),
        (lambda: resnet.resnet18(), [Spec((None, 3, None, None))], [(None, 1000)]),
        (lambda: vit.vit_b_32(classes=None), IMAGE, [(None, 768)]),
        (
            lambda: bert.Bert(SMALL),
            [Spec((None, None), "int64"), Spec((None, None), "int64")],
            [(None, None, 48), (None, 48)],
        ),
        (lambda: bert.BertForPreTraining(SMALL), [TOKENS], [(None, 9, 101), (None, 2)]),
        (lambda: bert.BertForSequenceClassification(SMALL, 5), [TOKENS], [(None, 5)]),
        (lambda: transformer.Transformer(4), [Spec((None, None, 32)), Spec((None, None, 32))], [(None, None, 32)]),
        (lambda: transformer.transformer_base(99), [TOKENS, Spec((3, 4), "int64")], [(3, 4, 99)]),
    ],
)
def test_output_shapes(make, specs, shapes):
    found = make()._shapes_of(*specs)
    assert [s.shape for s in (found if isinstance(found, tuple) else (found,))] == shapes


def test_epsilons_are_the_published_ones():
    """Too small to be seen in outputs."""
    for model, specs, epsilon in [
        (bert.bert_base(), [TOKENS], 1e-12),
        (vit.vit_b_16(), IMAGE, 1e-6),
        (resnet.resnet18(), IMAGE, 1e-5),
        (transformer.Transformer(), [Spec((None, 3, 512)), Spec((None, 3, 512))], 1e-5),
    ]:
        model._shapes_of(*specs)
        found = {m.epsilon for m in model.modules() if isinstance(m, nn.LayerNorm | nn.BatchNorm)}
        assert found == {epsilon}, type(model).__name__


def test_images_of_another_size_are_refused():
    with pytest.raises(
        ModelError, match=r"VisionTransformer wants images \(N, C, 224, 224\), received \(None, 3, 32, 32\)"
    ):
        vit.vit_b_16().build((None, 3, 32, 32), backend="numpy")


# -- public names

MAPS = {
    "bert": (bert.from_huggingface, lambda: bert.BertForPreTraining(SMALL), [TOKENS]),
    "vit_small_cfg": (
        vit.from_torchvision,
        lambda: vit.VisionTransformer(32, 8, 3, 4, 64, 128, classes=10),
        [Spec((None, 3, 32, 32))],
    ),
    "transformer": (
        transformer.from_torch,
        lambda: transformer.Transformer(4, 2, 2, 64),
        [Spec((None, 9, 32)), Spec((None, 7, 32))],
    ),
}


@pytest.mark.parametrize("name", MAPS)
def test_maps_give_all_names_in_standard_shapes(name):
    from_public, make, specs = MAPS[name]
    model = make()
    model._shapes_of(*specs)
    found = from_public(weights_of(name))
    assert {k: v.shape for k, v in found.items()} == {k: p.standard_shape for k, p in model.named_parameters()}


@pytest.mark.parametrize("name", MAPS)
def test_each_missing_name_is_named(name):
    """All but the tied ones, which may be left out, as files without copies do."""
    from_public, weights = MAPS[name][0], weights_of(name)
    for key in weights:
        fewer = {k: v for k, v in weights.items() if k != key}
        if "cls.predictions.decoder" in key:
            assert from_public(fewer).keys() == from_public(weights).keys()
        else:
            with pytest.raises(StateDictError, match=f"missing {key}(;|$)"):
                from_public(fewer)


@pytest.mark.parametrize("name", MAPS)
def test_an_unexpected_name_is_named(name):
    with pytest.raises(StateDictError, match=r"unexpected encoder\.lost"):
        MAPS[name][0]({**weights_of(name), "encoder.lost": np.zeros(2)})


def test_a_layer_that_is_left_out_is_named():
    weights = {k: v for k, v in weights_of("bert").items() if ".layer.1." not in k}
    with pytest.raises(StateDictError, match=r"missing bert\.encoder\.layer\.1\.attention\.self\.query\.weight"):
        bert.from_huggingface(weights)


def test_several_problems_are_reported_together():
    weights = weights_of("transformer")
    weights["encoder.norm.scale"] = weights.pop("encoder.norm.weight")
    with pytest.raises(StateDictError, match=r"missing encoder\.norm\.weight; unexpected encoder\.norm\.scale"):
        transformer.from_torch(weights)


def test_tied_words_must_be_the_same():
    weights = weights_of("bert")
    weights["cls.predictions.decoder.weight"] = weights["cls.predictions.decoder.weight"] + 1
    with pytest.raises(StateDictError, match=r"cls\.predictions\.decoder\.weight should equal bert\.embeddings\.word"):
        bert.from_huggingface(weights)


def test_a_packed_matrix_that_cannot_be_split_is_named():
    weights = weights_of("transformer")
    weights["encoder.layers.0.self_attn.in_proj_bias"] = np.zeros(4)
    with pytest.raises(StateDictError, match=r"encoder\.layers\.0\.self_attn\.in_proj_bias has shape \(4,\)"):
        transformer.from_torch(weights)


def test_other_spellings_of_published_files():
    """The bare BERT, the oldest files' gamma and beta, position_ids; torchvision's first names of ViT's linear layers."""
    weights = weights_of("bert")
    bare = {k.removeprefix("bert."): v for k, v in weights.items() if k.startswith("bert.")}
    old = {
        k.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): v
        for k, v in bare.items()
    }
    expected = bert.from_huggingface(weights)
    found = bert.from_huggingface({**old, "embeddings.position_ids": np.arange(32)[None]})
    assert found.keys() == {k.removeprefix("bert/") for k in expected if k.startswith("bert/")}
    assert all(np.array_equal(v, expected[f"bert/{k}"]) for k, v in found.items())
    first = {
        k.replace(".mlp.0.", ".mlp.linear_1.").replace(".mlp.3.", ".mlp.linear_2."): v
        for k, v in weights_of("vit_small_cfg").items()
    }
    assert vit.from_torchvision(first).keys() == vit.from_torchvision(weights_of("vit_small_cfg")).keys()


def public_resnet(model):
    """The state of a ResNet under torchvision's names and shapes."""
    parts = {"stem": "", "first": "1", "second": "2", "third": "3"}
    kinds = {"gamma": "weight", "beta": "bias", "moving_mean": "running_mean", "moving_variance": "running_var"}
    found = {}
    for key, value in model.state_dict().items():
        *path, kind = key.removesuffix(":0").split("/")
        if path[0] == "head":
            found[f"fc.{'weight' if kind == 'kernel' else 'bias'}"] = value.T
            continue
        prefix = f"layer{int(path[1]) + 1}.{path[2]}." if path[0] == "stages" else ""
        normed, part = path[-2:]
        if normed == "shortcut":
            place = f"downsample.{0 if part == 'conv' else 1}"
        else:
            place = f"{'conv' if part == 'conv' else 'bn'}{parts[normed] or 1}"
        found[f"{prefix}{place}.{kinds.get(kind, 'weight')}"] = value.transpose(3, 2, 0, 1) if part == "conv" else value
        if kind == "gamma":
            found[f"{prefix}{place}.num_batches_tracked"] = np.array(7)
    return found


@pytest.mark.parametrize("block", [resnet.BasicBlock, resnet.Bottleneck])
def test_resnets_names_there_and_back(block):
    model = resnet.ResNet(block, (2, 1, 1, 2), classes=7, channels=8).build((None, 3, 32, 32), backend="numpy", seed=0)
    public, state = public_resnet(model), model.state_dict()
    found = resnet.from_torchvision(public)
    assert found.keys() == state.keys()
    assert all(np.array_equal(v, state[k]) for k, v in found.items())
    for key in public:
        if "num_batches" not in key and not key.startswith("layer1.0.downsample"):
            with pytest.raises(StateDictError, match=f"missing {key}"):
                resnet.from_torchvision({k: v for k, v in public.items() if k != key})


def test_a_model_of_the_zoo_is_built_for_its_usual_inputs():
    model = labdl.models.create("textcnn", vocabulary=9, features=4, channels=2).build(backend="numpy")
    assert model.input_specs == (Spec((None, 64), "int64"),)
    assert model.build(backend="numpy").built


def test_groups_are_whole_or_absent():
    group = public_weights.Group(public_weights.linear("lin.{}", "ours/{}"))
    array = np.zeros((2, 3))
    assert public_weights.from_public({}, [group]) == {}
    assert public_weights.from_public({"lin.0.weight": array, "lin.0.bias": np.zeros(2)}, [group]).keys() == {
        "ours/0/kernel:0",
        "ours/0/bias:0",
    }
    with pytest.raises(StateDictError, match=r"missing lin\.0\.weight; missing lin\.0\.bias; missing lin\.1\.bias"):
        public_weights.from_public({"lin.1.weight": array}, [group])
    with pytest.raises(StateDictError, match=r"missing lin\.0\.weight"):
        public_weights.from_public({}, [public_weights.Group(public_weights.linear("lin.{}", "ours/{}"), needed=True)])


def test_public_weights_are_converted_in_both_directions():
    rng = np.random.default_rng(0)
    group = public_weights.Group(
        public_weights.linear("lin.{}", "ours/{}"),
        public_weights.convolution("conv.{}", "windows/{}"),
        public_weights.packed_attention("attention.{}", "heads/{}"),
    )
    shapes = {
        "lin.0.weight": (2, 3),
        "lin.0.bias": (2,),
        "conv.0.weight": (4, 3, 2, 1),
        "conv.0.bias": (4,),
        "attention.0.in_proj_weight": (12, 4),
        "attention.0.in_proj_bias": (12,),
        "attention.0.out_proj.weight": (4, 4),
        "attention.0.out_proj.bias": (4,),
    }
    public = {name: rng.random(shape) for name, shape in shapes.items()}
    ours = public_weights.from_public(public, [group])
    assert ours["windows/0/kernel:0"].shape == (2, 1, 3, 4)
    np.testing.assert_array_equal(ours["heads/0/key/kernel:0"], public["attention.0.in_proj_weight"][4:8].T)
    again = public_weights.to_public(ours, [group])
    assert again.keys() == public.keys()
    assert all(np.array_equal(again[name], array) for name, array in public.items())


# -- as data

TRACED = {
    "resnet": (
        lambda: resnet.ResNet(resnet.BasicBlock, (1, 1, 1, 1), classes=5, channels=8),
        [Spec((None, 3, 32, 32))],
    ),
    "vit": (lambda: vit.VisionTransformer(16, 8, 2, 2, 16, 32, classes=5), [Spec((None, 3, 16, 16))]),
    "bert": (lambda: bert.BertForPreTraining(SMALL), [TOKENS, Spec((None, 9), "bool"), TOKENS]),
    "transformer": (
        lambda: transformer.TranslationTransformer(50, 16, 2, 1, 32, padding=0),
        [TOKENS, Spec((None, 5), "int64")],
    ),
}


@pytest.mark.parametrize("family", TRACED)
def test_models_go_through_graph_and_file(family, tmp_path):
    make, specs = TRACED[family]
    model = make().build(*specs, backend="numpy", seed=0).eval()
    rng = np.random.default_rng(0)
    inputs = [
        rng.normal(size=(2, *s.shape[1:])).astype(s.dtype)
        if s.dtype == "float32"
        else rng.integers(0, 2, (2, *s.shape[1:])).astype(s.dtype)
        for s in specs
    ]
    expected = model(*inputs)
    twin = labdl.trace(model).to_module().build(backend="numpy").eval()
    twin.load_state_dict(model.state_dict())
    branches = pytest.warns(UserWarning, match="needs 'types'") if family == "bert" else nullcontext()
    with branches:
        labdl.save(model, tmp_path / "model")
    for other in (twin, labdl.load(tmp_path / "model", backend="numpy").eval()):
        for ours, theirs in zip(_flat(other(*inputs)), _flat(expected), strict=True):
            np.testing.assert_array_equal(ours, theirs)


def _flat(result):
    return list(result) if isinstance(result, tuple) else [result]
