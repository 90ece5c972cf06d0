"""Public weights by name, by file and by address of the Hub: downloaded from a server on this machine, checked, loaded."""

import hashlib
import json
import pickle
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from hub_server import HubServer
from safetensors.numpy import save as safetensors_bytes
from weight_server import WeightServer

import labdl
from labdl import models
from labdl.errors import ConfigError, FileFormatError, MissingFileError, StateDictError
from labdl.models import weights, zoo
from labdl.models.vision.deeplabv3 import DeepLabV3
from labdl.models.vision.resnet import BasicBlock, ResNet
from labdl.models.weights import WEIGHT_SETS, PicturePreprocessing, WeightSet
from labdl.saving.native.formats import torch as torch_files


@pytest.fixture
def server():
    server = WeightServer()
    yield server
    server.stop()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The cache of weights."""
    monkeypatch.setenv("LABDL_WEIGHTS", str(tmp_path / "weights"))
    return tmp_path / "weights"


@pytest.fixture
def small(monkeypatch):
    """A small model of the zoo, its public weights for three classes, and the bytes of its .pth file."""
    monkeypatch.setattr(zoo, "ZOO", dict(zoo.ZOO))

    @zoo.register("image classification", inputs=zoo.images(16), parameters=0, paper="https://example.org")
    def small_resnet(classes: int | None = 3, width: int = 4) -> ResNet:
        """A small one."""
        return ResNet(BasicBlock, (1, 1, 1, 1), classes=classes, channels=width)

    return models.public_state_dict(models.create("small_resnet").build(backend="numpy"))


def pth(values, path) -> bytes:
    torch_files.write(path, values)
    return path.read_bytes()


@pytest.fixture
def published(server, folder, small, tmp_path, monkeypatch):
    """A table with one set of the small model, on the server."""
    content = pth(small, tmp_path / "small.pth")
    file = f"small-{hashlib.sha256(content).hexdigest()[:8]}.pth"
    server.files[f"/models/{file}"] = content
    own = PicturePreprocessing(18, 16)
    entry = WeightSet("small_resnet", "here", "V1", f"{server.address}/models/{file}", own, None)
    monkeypatch.setattr(weights, "WEIGHT_SETS", (*WEIGHT_SETS, entry))
    return entry


def create(source, **settings):
    return models.create("small_resnet", weights=source, backend="numpy", progress=False, **settings)


def equal(model, values) -> bool:
    loaded = models.public_state_dict(model)
    return loaded.keys() == values.keys() and all((loaded[name] == value).all() for name, value in values.items())


@pytest.mark.sample(every=20)
@pytest.mark.parametrize("entry", WEIGHT_SETS, ids=lambda entry: f"{entry.model}-{entry.name}")
def test_each_set_is_of_a_model_and_has_its_facts(entry):
    model = zoo.find(entry.model)
    model.settings.check(dict(entry.settings))
    assert entry.source.startswith(("https://", "hf://"))
    assert weights.folder.hash_in(entry.file) or entry.source.startswith("hf://")
    assert weights.find_weights(entry.model, entry.path) is entry
    assert weights.find_weights(entry.model, entry.name) is entry
    steps = entry.preprocessing.pipeline()
    if "image_size" in model.settings.schema()["properties"]:  # of a network that takes one size
        (size,) = (step.size for step in steps.transforms if type(step).__name__ == "CenterCrop")
        assert model.create(**entry.settings).input_specs[0].shape == (None, 3, size, size)
    if entry.labels is not None:
        names = weights.class_names(entry.labels)
        assert len(names) == model.settings.schema()["properties"]["classes"]["default"]


def test_defaults_and_names():
    assert weights.list_weights("resnet50")[:2] == ["torchvision/IMAGENET1K_V2", "torchvision/IMAGENET1K_V1"]
    for name in ("torchvision", "DEFAULT", "torchvision/DEFAULT", "IMAGENET1K_V2", "torchvision/IMAGENET1K_V2"):
        assert weights.find_weights("resnet50", name).file == "resnet50-11ad3fa6.pth"
    assert weights.find_weights("resnet50", "timm").name == "a1_in1k"
    assert weights.find_weights("resnet50", "hf://timm/resnet50.a1_in1k").name == "a1_in1k"
    assert weights.find_weights("resnet50", "hf://someone/resnet50") is None
    with pytest.raises(
        ConfigError, match=r"resnet50 has the weights torchvision/IMAGENET1K_V2, .*did you mean 'torchvision'"
    ):
        models.create("resnet50", weights="torchvison")
    for name in ("imagenet", "x" * 10_000, "a\0b"):
        with pytest.raises(ConfigError, match=r"resnet50 has the weights .* received"):
            models.create("resnet50", weights=name)
    with pytest.raises(ConfigError, match="weights wants a dictionary of names and arrays, or the path of a file"):
        models.create("textcnn", weights=5, backend="numpy")
    with pytest.raises(ConfigError, match=r"unet has the weights \(none by name\)"):
        models.create("unet", weights="torchvision")
    with pytest.raises(ConfigError, match=r"no list of classes 'imagenet'.*imagenet1k"):
        weights.class_names("imagenet")
    assert weights.class_names("imagenet1k")[281] == "tabby"
    assert weights.class_names("coco91")[1] == weights.class_names("voc")[15] == "person"


def test_a_set_is_downloaded_once_and_checked(server, folder, published, small):
    model = create("here")
    assert equal(model, small)
    assert (folder / "here" / published.file).is_file()
    assert [type(step).__name__ for step in model.preprocessing.transforms][-2:] == ["CenterCrop", "Normalize"]
    assert equal(create("here/V1"), small)
    assert len(server.requests) == 1


def test_a_file_with_other_content_than_its_name_says_is_refused(server, folder, published):
    server.files[f"/models/{published.file}"] += b" "
    with pytest.raises(FileFormatError, match=r"has other content than the published hash says"):
        create("here")
    assert not any(path.suffix == ".pth" for path in (folder / "here").iterdir())


def test_without_a_network_the_error_says_what_to_put_where(server, folder, published, small):
    content = server.files.pop(f"/models/{published.file}")
    place = folder / "here" / published.file
    with pytest.raises(MissingFileError) as caught:
        create("here")
    assert f"put it at {place}" in str(caught.value)
    assert f'weights="path/of/{published.file}"' in str(caught.value)
    place.write_bytes(content)
    assert equal(create("here"), small)


def test_a_file_of_a_set_anywhere_is_that_set(server, folder, published, tmp_path):
    path = tmp_path / published.file
    path.write_bytes(server.files[f"/models/{published.file}"])
    assert create(path).preprocessing is not None
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(FileFormatError):
        create(path)
    assert not server.requests


def test_other_classes_keep_a_new_head_and_say_so(folder, published, small):
    with pytest.warns(UserWarning, match=r"all but the head is loaded from here/V1: head \(3 outputs there, 5 here\)"):
        model = create("here", classes=5)
    loaded = models.public_state_dict(model)
    assert loaded["fc.weight"].shape == (5, 32)
    assert all((loaded[name] == value).all() for name, value in small.items() if not name.startswith("fc."))
    assert model.preprocessing is not None
    features = create("here", classes=None)
    assert "fc.weight" not in models.public_state_dict(features)
    with pytest.raises(StateDictError, match="has shape"):
        create("here", width=8)
    with pytest.raises(StateDictError, match="has shape"):
        create("here", width=8, classes=5)


@pytest.mark.sample(every=6)
@pytest.mark.parametrize(
    ("name", "path", "is_loaded"),
    [
        ("yolov8n", "head/classes/0/0/conv", "head/boxes"),  # its classes have other branches, 80 channels wide
        ("yolov5n", "head/convolutions/0", "neck"),
        ("yolov6n", "head/classes/0/1", "head/distances"),
        ("yolov7_tiny", "head/convolutions/0", "neck"),
        ("retinanet_resnet18_fpn", "classes/last", "offsets"),
        ("ssd300_vgg16", "classes/0", "offsets"),
    ],
)
def test_a_detector_for_other_classes_keeps_all_but_the_layers_of_the_classes(name, path, is_loaded):
    former = models.create(name)
    public = models.public_state_dict(former.build(*former.input_specs, backend="numpy", seed=1))
    with pytest.warns(UserWarning, match=rf"all but the head is loaded from the weights: .*{path} \(\d+ outputs there"):
        model = models.create(name, classes=4, weights=public, backend="numpy")
    before, after = former.state_dict(), model.state_dict()
    loaded = {key for key, value in after.items() if np.array_equal(before[key], value)}
    assert {key for key in after if key.startswith(("backbone", is_loaded))} <= loaded
    assert f"{path}/kernel:0" not in loaded
    if hasattr(model, "head"):  # the first biases of a training
        fresh = {f"head/{key}": value for key, value in model.head.initial_biases().items()}
        for key in fresh.keys() - loaded:
            np.testing.assert_array_equal(after[key], fresh[key])
    with pytest.raises(StateDictError, match="has shape"):
        models.create(name, classes=4, weights={**public, **_narrowed(public)}, backend="numpy")


def _narrowed(public):
    """A kernel of the backbone that has one input more."""
    name = next(key for key, value in public.items() if value.ndim == 4)
    return {name: np.concatenate([public[name], public[name][:, :1]], 1)}


def test_a_new_head_has_no_names_of_the_former_classes(folder, small):
    model = create(small)
    model.class_names = ["a", "b", "c"]
    assert model.replace_head(3).class_names == ["a", "b", "c"]
    assert model.replace_head(4).class_names is None


@pytest.mark.sample(False)
def test_an_auxiliary_head_is_left_out_where_the_model_has_none():
    def network(auxiliary, classes=3):
        depths = (1, 1, 1, 1)
        return DeepLabV3(
            BasicBlock, depths, classes=classes, auxiliary=auxiliary, width=2, dilations=(1, 2, 3), channels=4
        )

    whole = network(True).build((None, 3, 16, 16), backend="numpy")
    public = models.public_state_dict(whole)
    plain = network(False).build((None, 3, 16, 16), backend="numpy")
    weights.loading.load_weights(plain, public, title="whole")
    assert all((models.public_state_dict(plain)[n] == public[n]).all() for n in models.public_state_dict(plain))
    with pytest.raises(StateDictError, match="missing auxiliary"):
        weights.loading.load_weights(whole, models.public_state_dict(plain), title="plain")
    other = network(True, classes=5).build((None, 3, 16, 16), backend="numpy")
    with pytest.warns(
        UserWarning, match=r"head \(3 outputs there, 5 here\), auxiliary/head \(3 outputs there, 5 here\)"
    ):
        assert weights.loading.load_weights(other, public, title="whole", classes=5) == ["head", "auxiliary/head"]


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("kind", ["npz", "safetensors", "pth", "standard", "training"])
def test_files(kind, folder, small, tmp_path):
    path = tmp_path / f"file.{ {'standard': 'npz', 'training': 'pth'}.get(kind, kind) }"
    if kind == "npz":
        np.savez(path, **small)
    elif kind == "safetensors":
        path.write_bytes(safetensors_bytes(small))
    elif kind == "standard":
        model = models.create("small_resnet").build(backend="numpy")
        models.load_public(model, small)
        labdl.save_parameters(model, path)
    else:
        pth({f"module.{name}": value for name, value in small.items()} if kind == "training" else small, path)
    model = create(str(path))
    assert equal(model, small)
    assert model.preprocessing is None
    with pytest.raises(MissingFileError):
        create(str(tmp_path / "missing.pth"))


@pytest.mark.sample(False)
def test_a_file_may_be_given_to_load_public(small, tmp_path):
    pth({f"ema.{name}": value for name, value in small.items()}, tmp_path / "training.pth")
    model = models.create("small_resnet").build(backend="numpy")
    models.load_public(model, tmp_path / "training.pth", prefix="ema.")
    assert equal(model, small)


def test_a_file_with_code_is_refused_and_nothing_runs(folder, small, tmp_path):
    class Call:
        def __reduce__(self):
            return open, (str(tmp_path / "written"), "w")

    path = tmp_path / "evil.pth"
    pth(small, path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["archive/data.pkl"] = pickle.dumps({"fc.weight": Call()}, protocol=2)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    with pytest.raises(FileFormatError, match="must not do; it was not called"):
        create(str(path))
    assert not (tmp_path / "written").exists()
    (tmp_path / "other.pth").write_bytes(b"not a file of PyTorch")
    with pytest.raises(FileFormatError):
        create(str(tmp_path / "other.pth"))


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """A server in the place of the Hugging Face Hub, and an empty cache."""
    hub = HubServer()
    hub.direct(monkeypatch, tmp_path / "cache")
    yield hub
    hub.stop()


class TestHub:
    """Files of the Hugging Face Hub, from a server that answers as it does."""

    def test_the_usual_file_is_downloaded_once_and_used_without_a_connection(self, hub, small):
        hub.put("me/small", "model.safetensors", safetensors_bytes(small))
        hub.put("me/small", "pytorch_model.bin", b"not wanted")
        assert equal(create("hf://me/small"), small)
        assert equal(create("hf://me/small/model.safetensors"), small)
        assert hub.downloads == ["model.safetensors"]
        hub.stop()
        assert equal(create("hf://me/small"), small)
        with pytest.raises(MissingFileError, match=r"cannot be reached .*download net\.pth of .*me/small"):
            create("hf://me/small/net.pth")

    @pytest.mark.sample(False)
    def test_a_named_file_of_a_revision_in_a_folder(self, hub, small, tmp_path):
        hub.put("me/small", "all/net.pth", pth(small, tmp_path / "net.pth"), revision="v2")
        assert equal(create("hf://me/small@v2/all/net.pth"), small)
        with pytest.raises(MissingFileError, match="has no revision 'v3'"):
            create("hf://me/small@v3/all/net.pth")
        hub.put("me/small", "other.pth", b"")
        with pytest.raises(MissingFileError, match=r"me/small on the Hub has not all/net\.pth"):
            create("hf://me/small/all/net.pth")

    @pytest.mark.sample(False)
    def test_an_older_repository_has_pytorch_model_bin(self, hub, small, tmp_path):
        hub.put("me/old", "pytorch_model.bin", pth(small, tmp_path / "net.pth"))
        assert equal(create("hf://me/old"), small)

    def test_a_file_that_differs_from_the_hash_of_the_hub_is_refused_and_removed(self, hub, small):
        content = safetensors_bytes(small)
        hub.put("me/small", "model.safetensors", content)
        hub.stored["me/small", "model.safetensors"] = content[:-4] + b"\0\0\0\1"
        for _ in range(2):  # the cache does not keep it
            with pytest.raises(FileFormatError, match="other content than the published hash"):
                create("hf://me/small")
        hub.stored.clear()
        assert equal(create("hf://me/small"), small)

    def test_an_index_brings_its_parts(self, hub, small):
        names = list(small)
        parts = {"model-1.safetensors": names[::2], "model-2.safetensors": names[1::2]}
        for file, inside in parts.items():
            hub.put("me/large", file, safetensors_bytes({name: small[name] for name in inside}))
        table = {"weight_map": {name: file for file, inside in parts.items() for name in inside}}
        hub.put("me/large", "model.safetensors.index.json", json.dumps(table).encode())
        assert equal(create("hf://me/large"), small)
        assert sorted(hub.downloads) == ["model-1.safetensors", "model-2.safetensors", "model.safetensors.index.json"]
        del hub.repositories["me/large"]["main"]["model-2.safetensors"]
        with pytest.raises(MissingFileError, match=r"lacks model-2\.safetensors, which its model\.safetensors\.index"):
            create("hf://me/large")

    @pytest.mark.sample(False)
    def test_a_renamed_repository(self, hub, small):
        hub.put("me/new", "model.safetensors", safetensors_bytes(small))
        hub.renamed["me/before"] = "me/new"
        assert equal(create("hf://me/before"), small)

    def test_closed_and_missing_repositories(self, hub, small):
        hub.closed.add("me/closed")
        hub.gated.add("me/gated")
        hub.put("me/empty", "README.md", b"")
        for name, message in {
            "closed": r"no model me/closed, or it is private.*log in",
            "gated": r"me/gated .* conditions accepted",
            "nothing": "no model me/nothing",
            "empty": r"me/empty on the Hub has not one of model\.safetensors, ",
        }.items():
            with pytest.raises(MissingFileError, match=message):
                create(f"hf://me/{name}")

    @pytest.mark.parametrize(
        "address",
        ["hf://", "hf://me", "hf://me/../x", "hf://../x", "hf://me/x/../../y", "hf://me/x//y", "hf://me/x@../y"],
    )
    def test_other_addresses_are_refused(self, address, small, hub):
        with pytest.raises(ConfigError, match="is no address of the Hugging Face Hub"):
            create(address)
        assert not hub.requests


def test_a_set_of_the_hub_has_its_preprocessing(hub, small, monkeypatch):
    entry = WeightSet(
        "small_resnet", "hub", "V1", "hf://me/small/model.safetensors", PicturePreprocessing(18, 16), None
    )
    monkeypatch.setattr(weights, "WEIGHT_SETS", (*WEIGHT_SETS, replace(entry)))
    hub.put("me/small", "model.safetensors", safetensors_bytes(small))
    for name in ("hub", "hf://me/small"):
        model = create(name)
        assert equal(model, small)
        assert model.preprocessing is not None
