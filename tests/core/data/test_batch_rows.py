"""Batches whose rows are written sample by sample equal those that are stacked at once."""

import re
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labdl import data
from labdl.data import parts
from labdl.data import transforms as T
from labdl.data.batch_rows import BatchRows
from labdl.data.batches import stack_samples
from labdl.errors import DataError


def _image(rng, height, width, channels, dtype, planes):
    values = (rng.random((height, width, channels)) * 200).astype(dtype)
    return parts.Image(np.moveaxis(np.ascontiguousarray(np.moveaxis(values, -1, 0)), 0, -1) if planes else values)


def _samples(rng, count, kind, dtype, channels, planes, varying):
    def height(i):
        return 90 + (i % 3 if varying else 0)

    images = [_image(rng, height(i), 80, channels, dtype, planes) for i in range(count)]
    if kind == "bare":
        return images
    if kind == "tuple":
        return [(image, i) for i, image in enumerate(images)]
    samples = [{"image": image, "label": i, "curve": rng.random(9000)} for i, image in enumerate(images)]
    if kind == "boxes":
        boxes = np.array([[1, 2, 30, 40]], "float32")
        for sample in samples:
            sample["boxes"] = parts.BoundingBoxes(boxes, format="xyxy", canvas_size=(90, 80))
            sample["masks"] = rng.random((1, 200, 200)) < 0.5
    return samples


def _assert_equal(ours, theirs):
    assert type(ours) is type(theirs)
    if isinstance(ours, dict):
        assert list(ours) == list(theirs)
        for name in ours:
            _assert_equal(ours[name], theirs[name])
    elif isinstance(ours, list | tuple):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            _assert_equal(one, other)
    else:
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)


@settings(max_examples=60, deadline=None)
@given(
    kind=st.sampled_from(["bare", "tuple", "dict", "boxes"]),
    dtype=st.sampled_from(["uint8", "float32", "float64"]),
    channels=st.sampled_from([1, 3, 5]),
    data_format=st.sampled_from(["channels_first", "channels_last"]),
    pad=st.sampled_from([None, 0.0]),
    count=st.integers(1, 5),
    planes=st.booleans(),
    varying=st.booleans(),
    skipped=st.integers(0, 6),
    backwards=st.booleans(),
)
def test_rows_make_the_batch_of_stack_samples(
    kind, dtype, channels, data_format, pad, count, planes, varying, skipped, backwards
):
    samples = _samples(np.random.default_rng(0), count, kind, dtype, channels, planes, varying)
    rows = BatchRows(count, data_format=data_format, pad=pad)
    order = range(count)[:: -1 if backwards else 1]
    written = {i: rows.write(i, samples[i]) for i in order if i != skipped}
    left = [samples[i] for i in sorted(written)]
    if not left:
        return
    views = [written[i] for i in sorted(written)]
    if (
        pad is None
        and len({(s[0] if kind == "tuple" else s if kind == "bare" else s["image"]).shape for s in left}) > 1
    ):
        with pytest.raises(DataError) as raised:
            stack_samples(left, data_format=data_format)
        with pytest.raises(DataError, match=re.escape(str(raised.value))):
            rows.stack(views)
    else:
        _assert_equal(rows.stack(views), stack_samples(left, data_format=data_format, pad=pad))


def test_pictures_of_a_batch_are_copied_once():
    images = [parts.Image(np.full((90, 80, 3), i, "float32")) for i in range(4)]
    rows = BatchRows(4)
    written = [rows.write(i, {"image": image}) for i, image in enumerate(images)]
    batch = rows.stack(written)["image"]
    assert batch.shape == (4, 3, 90, 80)
    assert all(np.shares_memory(batch[i], written[i]["image"]) for i in range(4))


@pytest.mark.parametrize(("workers", "kind"), [(0, "thread"), (3, "thread"), (2, "process")])
def test_samples_that_are_skipped_leave_no_row(workers, kind):
    def read(i):
        if i % 5 == 2:
            raise ValueError("broken")
        return {"image": parts.Image(np.full((90, 80, 3), i, "uint8")), "label": i}

    dataset = data.SampleDataset(read, length=20)
    loader = dataset.loader(8, workers=workers, worker_type=kind, errors="skip")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        batches = [{name: np.array(value) for name, value in batch.items()} for batch in loader]
    assert [len(b["label"]) for b in batches] == [6, 7, 3]
    for batch in batches:
        assert batch["image"].shape[1:] == (3, 90, 80)
        assert (batch["image"] == batch["label"][:, None, None, None]).all()


class _Pictures(data.Dataset):
    """Pictures of bytes, some of which cannot be read."""

    def __init__(self, kind, sizes, broken=()):
        self.kind, self.sizes, self.broken = kind, sizes, broken

    def __len__(self):
        return 23

    def read(self, index, epoch=0):
        if index in self.broken:
            raise DataError("broken")
        rng = np.random.default_rng([index, epoch])
        images = [parts.Image(rng.integers(0, 256, (*size, 3)).astype("uint8")) for size in self.sizes]
        if self.kind == "tuple":
            return (*images, index)
        return {**{f"image{i}": image for i, image in enumerate(images)}, "label": index}


NORMALIZE = T.Normalize(mean=(0.5, 0.4, 0.3), std=(0.2, 0.3, 0.4))


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("kind", ["tuple", "dict", "supervised"])
@pytest.mark.parametrize("sizes", [[(80, 90)], [(80, 90)] * 2, [(80, 90), (90, 80)]], ids=["one", "two", "others"])
def test_numbers_are_computed_in_the_batch(kind, sizes, workers):
    """The batches equal those of samples that are read one by one, and stay as they are while others are read."""
    mapped = _Pictures(kind, sizes, broken=(3, 8)).map([NORMALIZE])
    names = [f"image{i}" for i in range(len(sizes))]
    source = mapped.as_supervised(names, ["label"]) if kind == "supervised" else mapped
    loader = data.Loader(source, 5, workers=workers, errors="skip")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        batches = list(loader.epoch(1))
    wanted = [[i for i in range(first, min(first + 5, 23)) if i not in (3, 8)] for first in range(0, 23, 5)]
    assert len(batches) == len(wanted)
    for batch, indices in zip(batches, wanted, strict=True):
        _assert_equal(batch, stack_samples([source.read(i, 1) for i in indices]))


def test_the_row_is_reserved_for_a_single_entry():
    rows = BatchRows(3)
    shape, dtype = (3, 80, 90), np.dtype("float32")
    assert rows.reserve(0, shape, dtype) is None  # no sample has been written
    image = parts.Image(np.zeros((80, 90, 3), "float32"))
    rows.write(0, {"a": image, "b": image[:40]})
    assert rows.reserve(1, shape, np.dtype("float64")) is None
    row = rows.reserve(1, shape, dtype)
    row[:] = 7
    # the numbers of another entry were computed there: they are copied before the row is written
    written = rows.write(1, {"b": parts.Image(np.moveaxis(row, 0, -1)), "a": image})
    assert (written["b"] == 7).all()
    assert (written["a"] == 0).all()
    rows.write(2, {"a": image, "b": image})
    both = BatchRows(2)
    both.write(0, (image, image))
    assert both.reserve(1, shape, dtype) is None


def test_transforms_of_the_user_do_not_get_rows():
    """What they keep is theirs: also of a subclass, and of a data set that overrides `read`."""
    kept = []

    @T.transform
    class Keep(T.Transform):
        """Normalize, and keep the result."""

        def apply_to_image(self, image, params):
            kept.append(NORMALIZE.apply_to_image(image, params))
            return kept[-1]

    @T.transform
    class Normal(T.Normalize):
        """Normalize, and keep the result."""

        def apply_to_image(self, image, params):
            kept.append(super().apply_to_image(image, params))
            return kept[-1]

    class Cached(type(_Pictures("dict", []).map([]))):
        def read(self, index, epoch=0):
            kept.append(super().read(index, epoch)["image0"])
            return {"image0": kept[-1], "label": index}

    pictures = _Pictures("dict", [(80, 90)])
    sources = [
        pictures.map([Keep()]),
        pictures.map([Normal(mean=NORMALIZE.mean, std=NORMALIZE.std)]),
        Cached(pictures, [NORMALIZE]),
    ]
    for source in sources:
        kept.clear()
        for _ in data.Loader(source, 4, workers=0).epoch(0):
            pass
        for index, array in enumerate(kept):
            expected = NORMALIZE(pictures.read(index))["image0"]
            np.testing.assert_array_equal(array, expected)


@pytest.mark.parametrize("workers", [0, 2])
def test_a_loader_takes_any_object_with_samples(workers):
    class Squares:
        def __len__(self):
            return 5

        def __getitem__(self, i):
            return {"x": np.float32(i), "y": i * i}

    first, last = data.Loader(Squares(), 3, workers=workers)
    np.testing.assert_array_equal(first["y"], [0, 1, 4])
    np.testing.assert_array_equal(last["x"], [3, 4])


@pytest.mark.parametrize("workers", [0, 2])
def test_bytes_stay_as_they_are(workers):
    contents = [b"\x00", b"ab\x00\x00", b"", b"\xff"]
    loader = data.Loader([{"file": c, "label": i} for i, c in enumerate(contents)], 4, workers=workers)
    assert next(iter(loader.epoch(0)))["file"] == contents
