"""labdl.standard over the data library: data sets by path, operators and samplers by name, epochs of random transforms."""

import json

import numpy as np
import pytest

from labdl import data, standard
from labdl.data import transforms as T
from labdl.data.codecs.image import encode_image
from labdl.errors import ConfigError, MissingFileError


@pytest.fixture
def pictures(tmp_path):
    rng = np.random.default_rng(0)
    for n in range(6):
        file = tmp_path / "pictures" / "ab"[n % 2] / f"{n}.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(encode_image(rng.integers(0, 256, (8, 10, 3), np.uint8)))
    return tmp_path / "pictures"


def test_folder_with_settings_is_read_by_its_class(pictures):
    dataset = standard.construct_dataset(str(pictures), mode="L", classes=["b", "a"])
    assert type(dataset) is data.ImageFolder
    assert (dataset[0]["image"].shape, dataset.classes) == ((8, 10, 1), ["b", "a"])
    flat = standard.construct_dataset(str(pictures / "a"), mode="L")
    assert (len(flat), list(flat[0])) == (3, ["image"])
    with pytest.raises(ConfigError, match=r"ImageFolder has the settings .*received 'tint'"):
        standard.construct_dataset(str(pictures), tint=True)


def test_annotations_and_manifests(pictures, tmp_path):
    rows = [{"path": "pictures/a/0.png", "label": "yes"}, {"path": "pictures/b/1.png", "label": "no"}]
    (tmp_path / "list.json").write_text(json.dumps(rows))
    dataset = standard.construct_dataset(str(tmp_path / "list.json"), classes=["yes", "no"])
    assert (type(dataset), dataset.labels().tolist()) == (data.ManifestDataset, [0, 1])
    content = {
        "images": [{"id": 1, "file_name": "0.png"}],
        "categories": [{"id": 7, "name": "dog"}],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 7, "bbox": [1, 2, 8, 6]}],
    }
    (tmp_path / "objects.json").write_text(json.dumps(content))
    settings = {"format": "CocoDetection", "annotations": str(tmp_path / "objects.json")}
    dataset = standard.construct_dataset(str(pictures / "a"), **settings)
    assert dataset[0]["boxes"].tolist() == [[1, 2, 9, 8]]
    with pytest.raises(ConfigError, match="annotations is missing"):
        standard.construct_dataset(str(pictures / "a"), format="CocoDetection")


def test_known_set_without_network_says_what_to_put_where(tmp_path, monkeypatch):
    with pytest.raises(ConfigError, match="needs split"):
        standard.construct_dataset("mnist", format="known")
    monkeypatch.setattr("labdl.data.sources.download._download", _no_network)
    with pytest.raises(MissingFileError, match=r"put it at .*t10k-images-idx3-ubyte\.gz"):
        standard.construct_dataset("mnist", format="known", split="test", root=tmp_path)


def _no_network(*values):
    import requests

    raise requests.ConnectionError("no network")


def test_random_transforms_draw_by_the_epoch_of_the_sampler(pictures):
    steps = [{"name": "RandomCrop", "size": [4, 4]}, T.ToFloat()]
    dataset = standard.construct_dataset(str(pictures), operator=steps)
    mapped = data.ImageFolder(pictures).map([T.RandomCrop((4, 4)), T.ToFloat()])
    sampler = standard.construct_sampler({"batch_size": 3, "repeat": True}, dataset)
    epochs = [[s["image"] for _ in range(2) for s in standard.iterate_batch(dataset, sampler)] for _ in range(2)]
    for epoch, images in enumerate(epochs):
        for i, image in enumerate(images):
            np.testing.assert_array_equal(image, mapped.read(i, epoch)["image"])
    assert any(not np.array_equal(a, b) for a, b in zip(*epochs, strict=True))


def test_operator_of_a_name_changes_entries_and_tuples(pictures, tmp_path):
    bright = {"name": "multiply", "y": np.float32(2), "on": "image"}
    dataset = standard.construct_dataset(str(pictures), operator=[T.ToFloat(), bright])
    plain = data.ImageFolder(pictures)[1]
    np.testing.assert_allclose(dataset[1]["image"], plain["image"].array * np.float32(2 / 255), rtol=1e-6)
    assert dataset[1]["label"] == plain["label"]
    np.savez(tmp_path / "xy.npz", x=np.ones((3, 2), "float32"), y=np.arange(3))
    double = {"name": lambda x: x * 2, "on": ["inputs", "targets"]}
    x, y = standard.construct_dataset(str(tmp_path / "xy.npz"), operator=double)[2]
    assert (x.tolist(), int(y)) == ([2, 2], 4)
    with pytest.raises(ConfigError, match="works on 'inputs', the data have image, label"):
        standard.construct_operator({"name": "abs"})(data.ImageFolder(pictures)[0])


def test_operator_of_a_transform_with_a_seed_repeats(pictures):
    sample = data.ImageFolder(pictures)[0]
    config = {"name": "RandomCrop", "size": [4, 4], "rng": 5}
    first, second = (standard.construct_operator(config) for _ in range(2))
    for _ in range(3):
        np.testing.assert_array_equal(
            standard.operate(first, sample)["image"], standard.operate(second, sample)["image"]
        )
    wrapped = standard.construct_operator({"name": T.Invert(), "on": "image"})
    assert set(standard.operate(wrapped, sample)) == {"image", "label"}
    for wrong, sentence in (
        ({"name": T.Invert(), "p": 1}, "has its settings already"),
        ({"name": "resize", "sice": 3}, "'sice'|resize"),
        ({"name": "Resizes"}, "did you mean 'Resize'"),
    ):
        with pytest.raises(ConfigError, match=sentence):
            standard.construct_operator(wrong)


@pytest.mark.parametrize(
    "config",
    [
        {"sampler": "ClassBalancedSampler", "batch_size": 2},
        {"sampler": "PKSampler", "p": 2, "k": 2, "batch_size": 4},
        {"sampler": "RandomSampler", "replacement": True, "batch_size": 3, "drop_last_batch": True},
        {"sampler": "DistributedSampler", "rank": 1, "world": 2, "shuffle": True},
        {"sampler": "BucketSampler", "lengths": [5, 1, 4, 2, 9, 3], "batch_size": 2, "shuffle": True},
        {"sampler": "BucketSampler", "lengths": [5, 1, 4, 2, 9, 3], "boundaries": [3], "batch_size": [3, 1]},
        {"sampler": "BatchSampler", "batch_size": 4, "shuffle": True},
    ],
)
def test_samplers_by_name_resume_anywhere(config, pictures):
    dataset = data.ImageFolder(pictures)
    if config["sampler"] == "DistributedSampler":
        config = {key: value for key, value in config.items() if key != "shuffle"}
    whole = standard.construct_sampler({**config, "repeat": True, "seed": 4}, dataset)
    batches = [whole.take() for _ in range(7)]
    assert {i for batch in batches for i in batch} <= set(range(6))
    for at in range(7):
        half = standard.construct_sampler({**config, "repeat": True, "seed": 4}, dataset)
        for _ in range(at):
            half.take()
        again = standard.construct_sampler({**config, "repeat": True, "seed": 4}, dataset)
        again.load_state_dict(half.state_dict())
        assert [again.take() for _ in range(7 - at)] == batches[at:]
    loader = whole.loader
    assert batches[: len(loader)] == [batch.tolist() for batch in loader.batch_indices(0)]


def test_sampler_errors(pictures):
    dataset = data.ImageFolder(pictures)
    for wrong, sentence in (
        ({"sampler": "WeightedRandomSampler"}, "needs weights"),
        ({"sampler": "Weighted"}, "wants one of BatchSampler"),
        ({"sampler": "PKSampler", "p": 2, "k": 1, "q": 1}, "received 'q'"),
        ({"sampler": "RandomSampler", "shuffle": True}, "exclude each other"),
    ):
        with pytest.raises(ConfigError, match=sentence):
            standard.construct_sampler(wrong, dataset)
