"""Typed parts: what they take, and samples of them as bytes."""

import io

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from labdl import data
from labdl.data.parts import Text, Tokens
from labdl.data.sample_codec import from_bytes, to_bytes
from labdl.errors import FileFormatError


@pytest.mark.parametrize(("dtype", "subtype"), [("int16", "PCM_16"), ("int32", "PCM_32"), ("uint8", "PCM_U8")])
def test_integers_of_a_sound_are_scaled_as_by_libsndfile(dtype, subtype):
    limits = np.iinfo(dtype)
    values = np.random.default_rng(0).integers(limits.min, limits.max, 500, dtype, endpoint=True)
    values[:2] = limits.min, limits.max
    file = io.BytesIO()
    if dtype == "uint8":  # libsndfile takes no uint8: the bytes are written as they are in a file
        soundfile.write(file, values.astype("int16") - 128 << 8, 8000, subtype, format="WAV")
    else:
        soundfile.write(file, values, 8000, subtype, format="WAV")
    file.seek(0)
    expected, _ = soundfile.read(file, dtype="float32")
    sound = data.Audio(values)
    assert sound.dtype == np.float32
    np.testing.assert_array_equal(sound.array[0], expected)


def test_codes_and_floats_of_a_sound_keep_their_values():
    assert data.Audio(np.arange(300)).array[0].tolist() == list(range(300))
    assert data.Audio(np.array([0.5, -2.0])).dtype == np.float64


LEAVES = st.one_of(
    st.binary(max_size=70),
    st.text(max_size=5),
    st.integers(-(2**60), 2**60),
    st.none(),
    st.booleans(),
    st.floats(allow_nan=False),
)


def same(a, b) -> bool:
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, tuple):
        return type(b) is tuple and len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b


@given(
    st.recursive(
        LEAVES, lambda inner: st.dictionaries(st.text(max_size=3), inner, max_size=4) | st.tuples(inner, inner)
    )
)
def test_samples_are_restored_from_bytes(sample):
    assert same(from_bytes(to_bytes(sample)), sample)


def test_tokens_keep_their_offsets(tmp_path):
    tokens = Tokens(["a", "bc"])
    tokens.offsets = np.array([[0, 1], [2, 4]])
    sample = {"tokens": tokens, "plain": Tokens(["x"]), "raw": b"\0\1", "text": Text("a bc"), "x": np.arange(3)}
    packed = data.pack(data.SampleDataset([sample] * 2), tmp_path / "packed")
    for restored in (from_bytes(to_bytes(sample)), packed[1]):
        assert restored["tokens"] == ["a", "bc"]
        assert restored["tokens"].offsets.tolist() == [[0, 1], [2, 4]]
        assert restored["plain"].offsets is None
        assert restored["raw"] == b"\0\1"
        assert restored["x"].tolist() == [0, 1, 2]


def test_damaged_offsets_are_refused():
    tokens = Tokens(["a"])
    tokens.offsets = np.array([[0, 1]])
    stored = to_bytes(tokens).replace(b"[[0,1]]", b"[[0,1,]")
    with pytest.raises(FileFormatError):
        from_bytes(stored)
    with pytest.raises(FileFormatError):
        from_bytes(to_bytes(tokens).replace(b"[[0,1]]", b"[0,1,2]"))
