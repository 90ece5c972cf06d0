"""What every transform promises: the same numbers give the same sample, arguments are left alone, files hold it."""

import json
import pickle

import numpy as np
import pytest
from samples import prepared, sample_for

from labdl.data import transforms as T
from labdl.data.parts import Image, Part, Video
from labdl.data.transforms.transform import iterate_parts, map_parts

CASES = [pytest.param(prepared(cls), id=name) for name, cls in T.TRANSFORMS.items() if cls.category != "custom"]
FUNCTIONS = ("Lambda", "PythonTokenizer", "BackTranslate")  # which no file can hold


def _equal(one, other) -> bool:
    ours, theirs = list(iterate_parts(one)), list(iterate_parts(other))
    return len(ours) == len(theirs) and all(
        type(a) is type(b) and np.array_equal(np.asarray(a), np.asarray(b), equal_nan=np.asarray(a).dtype.kind in "fc")
        for a, b in zip(ours, theirs, strict=True)
    )


@pytest.mark.parametrize("transform", CASES)
def test_the_same_random_numbers_give_the_same_sample(transform):
    sample = sample_for(transform)
    assert _equal(transform(sample, rng=7), transform(sample, rng=7))


@pytest.mark.sample(every=2)
@pytest.mark.parametrize("transform", CASES)
def test_the_argument_is_not_changed(transform):
    sample = sample_for(transform)
    before = pickle.loads(pickle.dumps(sample))
    transform(sample, rng=3)
    assert _equal(sample, before)


@pytest.mark.sample(every=2)
@pytest.mark.parametrize("transform", [c for c in CASES if c.id not in FUNCTIONS])
def test_a_file_holds_it(transform):
    values = json.loads(json.dumps(T.to_dict(transform)))
    restored = T.from_dict(values)
    assert T.to_dict(restored) == values
    sample = sample_for(transform)
    assert _equal(restored(sample, rng=5), transform(sample, rng=5))


@pytest.mark.parametrize("transform", CASES)
def test_its_docstring_has_a_summary_and_a_source(transform):
    doc = type(transform).__doc__
    assert doc.splitlines()[0].endswith(".")
    assert len(doc.splitlines()[0]) <= 120


@pytest.mark.sample(every=2)
@pytest.mark.parametrize("transform", CASES)
def test_parts_of_a_sample_keep_their_kinds(transform):
    """A label stays; a part keeps its class unless the transform makes another of it."""
    sample = sample_for(transform)
    if not isinstance(sample, dict):
        return
    result = transform(sample, rng=1)
    assert isinstance(result, dict | list)
    if isinstance(result, dict) and "name" in sample:
        assert result["name"] == sample["name"]
    for part in iterate_parts(result):
        if isinstance(part, Part):
            type(part)(part)  # its own check


@pytest.mark.sample(every=5)
@pytest.mark.parametrize("transform", CASES)
def test_workers_do_not_matter(transform):
    """A copy in another process gives the same."""
    if type(transform).__name__ == "Lambda":
        return
    sample = sample_for(transform)
    assert _equal(pickle.loads(pickle.dumps(transform))(sample, rng=11), transform(sample, rng=11))


def _in_planes(part):
    """A picture or clip whose channels lie in planes, as `Normalize` leaves them; other parts as they are."""
    if not isinstance(part, Image | Video):
        return part
    planes = np.ascontiguousarray(np.moveaxis(part.array, -1, 0))
    return part.like(np.moveaxis(planes, 0, -1))


@pytest.mark.sample(every=5)
@pytest.mark.parametrize("transform", CASES)
def test_the_memory_layout_of_pictures_does_not_matter(transform):
    sample = sample_for(transform)
    assert _equal(transform(map_parts(_in_planes, sample), rng=7), transform(sample, rng=7))
