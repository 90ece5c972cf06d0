"""Transforms inside of others: files that hold them, their limits, and how they are fitted."""

import json
import re

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from labdl import data
from labdl.data import transforms as T
from labdl.data.transforms.inner import inner_setting, inner_transforms, path_text, replace_inner, walk
from labdl.data.transforms.serialization import DEEPEST, MOST
from labdl.errors import ConfigError, DataError, FileFormatError

# of the registry, so that a new one is tested without a line here
HOLDERS = {name: cls for name, cls in T.TRANSFORMS.items() if inner_setting(cls) and cls.category != "custom"}
PICTURE = data.Image(np.random.default_rng(0).integers(0, 255, (8, 12, 3), np.uint8))
SIMPLE = st.sampled_from([T.HorizontalFlip(), T.VerticalFlip(p=0.25), T.Invert(), T.Rotate((-9.0, 9.0)), T.Rot90(2)])


@st.composite
def holding(draw, inner):
    """A transform of the registry that has one or some of others inside of it, with settings of its own."""
    cls = draw(st.sampled_from(list(HOLDERS.values())))
    setting = inner_setting(cls)
    listed = draw(st.lists(inner, min_size=0 if setting.many else 1, max_size=3 if setting.many else 1))
    own = {}
    if cls is T.RandomChoice and listed and draw(st.booleans()):
        own["weights"] = tuple(draw(st.lists(st.floats(0.5, 4), min_size=len(listed), max_size=len(listed))))
    if cls in (T.RandomApply, T.BoundingBoxAugment):
        own["p" if cls is T.RandomApply else "ratio"] = draw(st.floats(0, 1))
    return cls(**{setting.name: setting.write(tuple(listed))}, **own)


NESTED = st.recursive(SIMPLE, holding, max_leaves=12)


def test_the_registry_has_these():
    assert {"Compose", "RandomApply", "RandomChoice", "RandomOrder", "UniformAugment"} <= set(HOLDERS)
    assert {"BoundingBoxAugment", "RandomSelectSubpolicy"} <= set(HOLDERS)
    assert [name for name, cls in HOLDERS.items() if not inner_setting(cls).many] == ["BoundingBoxAugment"]


@settings(max_examples=150, deadline=None)
@given(st.lists(NESTED, max_size=4), st.integers(0, 2**32))
def test_files_hold_them(listed, seed):
    pipeline = data.Pipeline(listed, phases=["training"] * len(listed))
    loaded = data.Pipeline.from_dict(json.loads(json.dumps(pipeline.to_dict())))
    assert loaded == pipeline
    assert [path for path, _ in walk(loaded.transforms)] == [path for path, _ in walk(listed)]
    sample = {"image": PICTURE, "boxes": data.BoundingBoxes([[1, 1, 7, 5]], canvas_size=PICTURE.canvas)}
    try:
        expected = pipeline(sample, rng=seed)
    except DataError as error:  # a quarter turn of a box that is no square
        with pytest.raises(DataError, match=re.escape(str(error))):
            loaded(sample, rng=seed)
        return
    np.testing.assert_array_equal(loaded(sample, rng=seed)["image"], expected["image"])


def test_saved_and_loaded_in_a_file(tmp_path):
    policy = T.RandomSelectSubpolicy([[(T.Invert(), 0.3), (T.Solarize(0.5), 1)], []])
    inner = T.Compose([T.RandomApply([policy, T.BoundingBoxAugment(T.HorizontalFlip())], p=0.4)])
    pipeline = data.Pipeline([T.ToFloat(), inner], phases=["always", "training"])
    pipeline.save(tmp_path / "x.pipeline.json")
    assert data.Pipeline.load(tmp_path / "x.pipeline.json") == pipeline


@pytest.mark.parametrize("policy", [[[(T.Invert(), 0.3), (T.Rotate((-9.0, 9.0)), 1.0)], [(T.VerticalFlip(), 0.5)]], []])
def test_subpolicies_draw_the_same_numbers_as_the_transforms_they_are_shown_as(policy):
    own = T.RandomSelectSubpolicy(policy)
    shown = T.RandomChoice(inner_transforms(own))
    for seed in range(20):
        np.testing.assert_array_equal(own(PICTURE, rng=seed), shown(PICTURE, rng=seed))


def test_a_composition_is_that_of_its_transforms_one_by_one():
    steps = [T.Rotate((-40.0, 40.0)), T.HorizontalFlip(), T.RandomCrop((6, 6))]
    images = data.ArrayDataset(np.asarray(PICTURE)[None])
    flat, nested = (
        images.map(chosen, seed=3) for chosen in (steps, [T.Compose([steps[0], T.Compose(steps[1:2])]), steps[2]])
    )
    for epoch in range(8):
        np.testing.assert_array_equal(np.asarray(flat.read(0, epoch)), np.asarray(nested.read(0, epoch)))


def test_paths_are_numbers_from_one():
    listed = [T.ToFloat(), T.RandomChoice([T.Invert(), T.Compose([T.HorizontalFlip()])])]
    paths = {path_text(path): type(one).__name__ for path, one in walk(listed)}
    assert paths == {
        "1": "ToFloat",
        "2": "RandomChoice",
        "2.1": "Invert",
        "2.2": "Compose",
        "2.2.1": "HorizontalFlip",
    }


def test_inner_transforms_are_replaced():
    outer = T.BoundingBoxAugment(T.HorizontalFlip())
    replace_inner(outer, lambda one: T.Invert())
    assert outer.transform == T.Invert()
    replace_inner(T.Invert(), lambda one: None)


def test_inner_transforms_are_fitted_to_the_output_before_them():
    rows = data.SampleDataset([{"x": float(i)} for i in range(9)])
    scaled, alone = T.Standardize(columns=("x",)), T.Standardize(columns=("x",))
    shifted = T.Lambda(lambda row: {**row, "x": row["x"] + 100})
    pipeline = data.Pipeline([T.RandomApply([shifted, scaled], p=1.0), T.RandomChoice([alone])]).fit(rows)
    prepared = [row["x"] for row in rows.map(pipeline)]
    assert abs(np.mean(prepared)) < 1e-6
    loaded = pipeline.transforms[0].transforms[1]
    assert abs(loaded({"x": 104.0})["x"]) < 1e-6
    saved = data.Pipeline([T.RandomApply([scaled], p=1.0)]).to_dict()
    assert data.Pipeline.from_dict(saved)({"x": 104.0})["x"] == scaled({"x": 104.0})["x"]


def _nest(depth):
    values = {"type": "ToFloat"}
    for _ in range(depth):
        values = {"type": "Compose", "transforms": [values]}
    return values


def test_depth_and_number_are_limited(tmp_path):
    file = tmp_path / "x.pipeline.json"
    whole = {"version": 2, "phases": ["always"]}
    file.write_text(json.dumps(whole | {"transforms": [_nest(DEEPEST - 1)]}))
    assert len(list(walk(data.Pipeline.load(file).transforms))) == DEEPEST
    for transforms, sentence in (
        ([_nest(DEEPEST)], f"more than {DEEPEST} deep"),
        ([_nest(300)], "deep"),
        ([{"type": "Compose", "transforms": [{"type": "ToFloat"}] * MOST}], f"at most {MOST:,} transforms"),
        ([{"type": "RandomSelectSubpolicy", "policy": [[[{"type": "ToFloat"}, "x"]]]}], "lists of pairs"),
        ([{"type": "RandomSelectSubpolicy", "policy": 3}], "lists of pairs"),
        ([{"type": "RandomApply", "transforms": {"type": "ToFloat"}}], "a list of transforms"),
        ([{"type": "RandomApply", "transforms": [{"type": 3}]}], "wants transforms"),
        ([{"type": "Compose", "transforms": [{"type": "MixUp"}]}], "reads further samples"),
        ([{"type": "BoundingBoxAugment", "transform": None}], "a transform of one picture"),
    ):
        file.write_text(json.dumps(whole | {"transforms": transforms}))
        with pytest.raises(FileFormatError, match=sentence):
            data.Pipeline.load(file)


class Undecorated(T.Transform):
    def apply(self, sample, rng):
        return sample


def double(sample):
    return sample


@pytest.mark.parametrize(
    ("one", "sentence"),
    [
        (T.Lambda(double), r"step 2\.1\.2: the function double of Lambda cannot be saved: write it as a class"),
        (Undecorated(), r"step 2\.1\.2: Undecorated cannot be saved: give the class the decorator T\.transform"),
    ],
)
def test_what_cannot_be_saved_is_named_with_its_path(one, sentence, tmp_path):
    pipeline = data.Pipeline([T.ToFloat(), T.RandomApply([T.Compose([T.Invert(), one])])])
    repr(pipeline)
    with pytest.raises(ConfigError, match=sentence):
        pipeline.save(tmp_path / "x.json")
    assert not list(tmp_path.iterdir())
