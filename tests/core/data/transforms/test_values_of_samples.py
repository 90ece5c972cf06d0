"""Values that no transform expects, such as NaN, none, or another dtype, give a sentence or a result."""

import warnings

import numpy as np
import pytest
from samples import prepared, sample_for

from labdl.data import transforms as T
from labdl.data.parts import Audio, BoundingBoxes, Image, KeyPoints, Mask, Part, Spectrogram, TokenIds, Video
from labdl.data.transforms.transform import iterate_parts, map_parts
from labdl.errors import DataError, LabDLError

CASES = [pytest.param(prepared(cls), id=name) for name, cls in T.TRANSFORMS.items() if cls.category != "custom"]


def with_numbers(numbers):
    def change(values):
        changed = values.astype("complex64" if values.dtype.kind == "c" else "float32")
        changed.flat[:: 3 if len(numbers) == 1 else 5] = numbers[0]
        changed.flat[1::5] = numbers[-1]
        return changed

    return change


CHANGES = {
    "nan": with_numbers([np.nan]),
    "infinite": with_numbers([np.inf, -np.inf]),
    "none": lambda values: values[:0],
    "one": lambda values: values[tuple(slice(1) for _ in values.shape)],
    "negative": lambda values: -np.abs(values).astype("float32") - 1,
    "zeros": lambda values: values * 0,
    "bool": lambda values: values > np.abs(values).mean() if values.size else values,
    "int64": lambda values: (values * 0.5).astype("int64"),
    "uint64": lambda values: np.abs(values * 2.0).astype("uint64"),
    "int8": lambda values: (np.abs(values) * 0.3).astype("int8"),
    "float16": lambda values: values.astype("float16"),
    "float64": lambda values: values.astype("float64"),
    "complex": lambda values: values + 1j,
    "object": lambda values: values.astype(object),
    "text": lambda values: np.full(values.shape, "a"),
}
NUMBERS = {
    "nan": np.nan,
    "negative": -5,
    "infinite": 10**30,
    "text": "a",
    "none": None,
    "bool": True,
    "object": object(),
}


def other_values(part, change):
    """A part with other values, as a person writes it; a plain value where there is one; None where there is none."""
    if isinstance(part, Part):
        if part.dtype.kind == "c" and change in (
            "int64",
            "float16",
            "float64",
            "int8",
        ):  # NumPy drops their half and warns
            return part
        notes = {name: getattr(part, name) for name in ("canvas_size", "sample_rate") if name in type(part).metadata}
        return type(part)(CHANGES[change](part.array), **notes)
    if isinstance(part, np.ndarray):
        return CHANGES[change](part)
    return NUMBERS.get(change) if isinstance(part, int | float) else None


@pytest.mark.sample(every=16)
@pytest.mark.parametrize("transform", CASES)
def test_other_values_are_changed_or_refused(transform):
    sample = sample_for(transform)
    for place in range(len(list(iterate_parts(sample)))):
        for change in CHANGES:
            count = iter(range(1000))

            def replace(part, place=place, change=change, count=count):
                return other_values(part, change) if next(count) == place else part

            with warnings.catch_warnings():
                warnings.simplefilter("error", np.exceptions.ComplexWarning)
                try:
                    transform(map_parts(replace, sample), rng=1)
                except LabDLError:
                    continue
                except Exception as error:
                    raise AssertionError(f"{change} in part {place}: {type(error).__name__}: {error}") from error


REFUSED = {
    "Image wants integers or floating-point numbers, received values of bool": lambda: Image(np.ones((2, 2), bool)),
    "Image wants .* received values of <U1": lambda: Image(np.full((2, 2), "a")),
    "Image wants at least one pixel": lambda: Image(np.zeros((0, 2, 3), "uint8")),
    "Video wants at least one pixel": lambda: Video(np.zeros((0, 2, 2, 3), "uint8")),
    "Image wants an array .* lists of different lengths": lambda: Image([[1, 2], [3]]),
    "Audio wants .* received values of complex128": lambda: Audio([1j, 2]),
    "Spectrogram wants .* or complex numbers, received values of object": lambda: Spectrogram([[None]]),
    "BoundingBoxes wants .* received values of <U1": lambda: BoundingBoxes([["a", "b", "c", "d"]]),
    "KeyPoints wants .* received values of object": lambda: KeyPoints([[None, 1]]),
    "Mask wants true and false or": lambda: Mask([["a"]]),
    "TokenIds wants integers, received values of float64": lambda: TokenIds([1.5]),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_parts_of_other_values(sentence):
    with pytest.raises(DataError, match=sentence):
        REFUSED[sentence]()


def test_parts_without_elements():
    assert [TokenIds([]).dtype, BoundingBoxes([]).shape, Audio([]).shape] == [np.int64, (0, 4), (1, 0)]


@pytest.mark.parametrize("name", ["MuLawEncoding", "Equalize", "ToPIL"])
def test_values_that_are_not_finite_are_counted(name):
    sample = Audio([0.5, np.nan]) if name == "MuLawEncoding" else Image(np.full((2, 2, 3), np.nan, "float32"))
    with pytest.raises(DataError, match=f"{name} wants finite values, received .* are NaN or infinite"):
        T.TRANSFORMS[name]()(sample)
