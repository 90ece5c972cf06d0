"""Phases of a pipeline's steps, its data set, and files of earlier versions."""

import json

import numpy as np
import pytest

from labdl import data
from labdl.data import transforms as T
from labdl.data.codecs.image import encode_image
from labdl.errors import ConfigError, FileFormatError

STEPS = [T.Resize((8, 8)), T.RandomCrop((4, 4)), T.CenterCrop((4, 4)), T.ToFloat()]
PHASES = ["always", "training", "evaluation", "always"]


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    for name in ("a", "b"):
        (tmp_path / "pictures" / name).mkdir(parents=True)
        for number in range(10):
            picture = encode_image(rng.integers(0, 255, (16, 16, 3), np.uint8), "png")
            (tmp_path / "pictures" / name / f"{number}.png").write_bytes(picture)
    return tmp_path


def test_training_and_evaluation_apply_their_own_steps(folder):
    pipeline = data.Pipeline(STEPS, phases=PHASES)
    assert pipeline.stages() == [STEPS[0], STEPS[1], STEPS[3]]
    assert pipeline.evaluation() == data.Pipeline([STEPS[0], STEPS[2], STEPS[3]])
    pictures = data.ImageFolder(folder / "pictures")
    for chosen, steps in ((pipeline, STEPS[:2] + STEPS[3:]), (pipeline.evaluation(), [STEPS[0], *STEPS[2:]])):
        np.testing.assert_array_equal(pictures.map(chosen, seed=4)[3]["image"], pictures.map(steps, seed=4)[3]["image"])
    sample = pictures[3]
    np.testing.assert_array_equal(
        pipeline(sample, rng=1)["image"], data.Pipeline(STEPS[:2] + STEPS[3:])(sample, rng=1)["image"]
    )


def test_a_composition_and_a_pipeline_keep_their_phases():
    pipeline = data.Pipeline([T.Compose(STEPS[:2]), STEPS[3]], phases=["training", "always"])
    assert pipeline.phases == ["training", "always"]
    assert pipeline.stages() == [STEPS[0], STEPS[1], STEPS[3]]
    assert data.Pipeline(pipeline) == pipeline
    assert data.Pipeline(T.Compose(STEPS)).transforms == STEPS


def test_a_file_names_its_data_set(folder):
    split = data.Split(fraction=0.75, seed=2)
    pipeline = data.Pipeline(STEPS, phases=PHASES, dataset="pictures", split=split)
    pipeline.save(folder / "pictures.pipeline.json")
    loaded = data.Pipeline.load(folder / "pictures.pipeline.json")
    assert loaded == pipeline
    train, test = loaded.datasets()
    assert (len(train), len(test)) == (15, 5) or (len(train), len(test)) == (16, 4)
    whole = data.ImageFolder(folder / "pictures")
    own_train, own_test = whole.split(0.75, seed=2, stratify=True)
    np.testing.assert_array_equal(train.labels(), own_train.labels())
    np.testing.assert_array_equal(test[0]["image"], own_test.map(pipeline.evaluation())[0]["image"])
    assert len(data.open_dataset(folder / "pictures.pipeline.json")) == 20


def test_transforms_are_fitted_to_the_training_part(tmp_path):
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "table.npz", x=rng.normal(5, 3, (40, 2)).astype("float32"), y=rng.integers(0, 2, 40))
    data.Pipeline([T.Standardize()], dataset="table.npz").save(tmp_path / "table.pipeline.json")
    train, test = data.Pipeline.load(tmp_path / "table.pipeline.json").datasets()
    rows = np.stack([train[i][0] for i in range(len(train))])
    np.testing.assert_allclose(rows.mean(0), 0, atol=1e-5)
    np.testing.assert_allclose(rows.std(0), 1, atol=1e-5)
    assert abs(np.mean([test[i][0] for i in range(len(test))])) > 1e-3


def test_version_1_is_read(folder):
    old = {"version": 1, "transforms": [{"type": "Resize", "size": [8, 8]}, {"type": "ToFloat"}]}
    (folder / "old.json").write_text(json.dumps(old))
    loaded = data.Pipeline.load(folder / "old.json")
    assert loaded == data.Pipeline([T.Resize((8, 8)), T.ToFloat()])
    with pytest.raises(ConfigError, match="no data set"):
        loaded.datasets()


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"version": 3}, "version 3"),
        ({"version": True}, "version True"),
        ({"phases": ["always"]}, "as many phases"),
        ({"phases": ["always", "later"]}, "one of always, training, evaluation"),
        ({"phases": "aa"}, "as many phases"),
        ({"dataset": "../pictures"}, "below the folder"),
        ({"dataset": "/etc/passwd"}, "below the folder"),
        ({"dataset": "C:/pictures"}, "below the folder"),
        ({"dataset": "a\\..\\b"}, "below the folder"),
        ({"dataset": 3}, "below the folder"),
        ({"split": {"fraction": 1.0}}, "between 0 and 1"),
        ({"split": {"fraction": float("nan")}}, "between 0 and 1"),
        ({"split": {"seed": -1}}, "seed"),
        ({"split": {"stratify": 1}}, "stratify"),
        ({"split": {"share": 1}}, "fraction, seed, stratify"),
        ({"transforms": [{"type": "os.system"}] * 2}, "there is no transform"),
    ],
)
def test_wrong_files_are_sentences(tmp_path, changed, sentence):
    whole = {"version": 2, "transforms": [{"type": "ToFloat"}] * 2, "phases": ["always"] * 2, "dataset": "pictures"}
    (tmp_path / "x.pipeline.json").write_text(json.dumps(whole | changed))
    with pytest.raises(FileFormatError, match=sentence):
        data.Pipeline.load(tmp_path / "x.pipeline.json")


def test_links_and_pipelines_are_no_data_set_of_a_pipeline(folder, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside")
    (folder / "link").symlink_to(outside)
    for name, sentence in (("link", "link out of the folder"), ("x.pipeline.json", "not a data set")):
        data.Pipeline([], dataset=name).save(folder / "x.pipeline.json")
        with pytest.raises(ConfigError, match=sentence):
            data.Pipeline.load(folder / "x.pipeline.json").datasets()
