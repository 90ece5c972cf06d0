"""Files of other software: round trips, files that the other library wrote and reads, damaged and hostile files."""

import contextlib
import io
import pickle
import struct
import tarfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from labdl import data
from labdl.bounded.crc32c import crc32c
from labdl.data.codecs.image import encode_image
from labdl.data.formats import (
    HDF5Dataset,
    ParquetDataset,
    TFRecordDataset,
    WebDataset,
    write_hdf5,
    write_parquet,
    write_tfrecord,
    write_webdataset,
)
from labdl.data.formats.tensorflow_example import make_example, parse_example
from labdl.errors import ConfigError, DataError, FileFormatError, MissingFileError

h5py = pytest.importorskip("h5py")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ROWS = [
    {"x": np.arange(3, dtype="float32") + i, "n": np.arange(i, dtype="int64"), "label": i, "text": f"é{i}"}
    for i in range(7)
]


def damaged(content: bytes, rounds: int = 60):
    """Contents that are cut or have other bytes."""
    rng = np.random.default_rng(1)
    for round_ in range(rounds):
        broken = bytearray(content)
        if round_ % 3:
            for at in rng.integers(0, len(broken), 6).tolist():
                broken[at] = int(rng.integers(256))
        else:
            del broken[int(rng.integers(len(broken))) :]
        yield bytes(broken)


def read_all(kind, path):
    """Read what can be read; any error but those of the contract fails the test."""
    with contextlib.suppress(FileFormatError, DataError):
        found = kind(path)
        for index in range(min(len(found), 20)):
            with contextlib.suppress(FileFormatError, DataError):
                found[index]


# -- TFRecord


def test_checksum():
    assert crc32c(b"123456789") == 0xE3069283
    content = bytes(range(256)) * 40
    assert crc32c(content) == crc32c(content[:5], content[5:3000], content[3000:])


FEATURES = st.dictionaries(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    st.one_of(
        hnp.arrays("int64", st.integers(0, 20)),
        hnp.arrays("float32", st.integers(0, 5), elements=st.floats(width=32, allow_nan=False)),
        st.lists(st.binary(max_size=5), min_size=1, max_size=3),
    ),
    max_size=4,
)


@settings(max_examples=80, deadline=None)
@given(features=FEATURES)
def test_examples_come_back(features):
    found = parse_example(make_example(features))
    assert sorted(found) == sorted(features)
    for name, value in features.items():
        if isinstance(value, list):
            assert found[name] == value
        else:
            assert found[name].dtype == value.dtype
            np.testing.assert_array_equal(found[name], value)


def test_tfrecord_round_trip(tmp_path):
    path = tmp_path / "a.tfrecord"
    write_tfrecord(data.SampleDataset(ROWS), path)
    found = TFRecordDataset([path, path], shapes={"x": (3, 1), "label": (), "text": ()})
    assert len(found) == 14
    assert found[12]["label"] == 5
    assert found[12]["text"].decode() == "é5"
    assert found[12]["x"].shape == (3, 1)
    np.testing.assert_array_equal(found[12]["n"], np.arange(5))
    raw = TFRecordDataset(path, examples=False)
    assert isinstance(raw[0], bytes)
    write_tfrecord(raw, tmp_path / "b.tfrecord")
    assert (tmp_path / "b.tfrecord").read_bytes() == path.read_bytes()
    with pytest.raises(FileFormatError, match="record 0: the entry 'x' has 3 values"):
        TFRecordDataset(path, shapes={"x": (4,)})[0]
    for sample, message in (({"x": object()}, "sample 0: the entry 'x'"), (3, "wants dictionaries or bytes")):
        with pytest.raises(DataError, match=message):
            write_tfrecord(data.SampleDataset([sample]), tmp_path / "c.tfrecord")
    assert not (tmp_path / "c.tfrecord").exists()


def test_tfrecord_and_tensorboard_agree(tmp_path):
    """TensorBoard reads the framing of TFRecord files without TensorFlow."""
    loader = pytest.importorskip("tensorboard.compat.tensorflow_stub.pywrap_tensorflow")
    path = tmp_path / "a.tfrecord"
    write_tfrecord(data.SampleDataset([b"one", b"", b"three" * 500]), path)
    reader, found = loader.PyRecordReader_New(str(path)), []
    for _ in range(3):
        reader.GetNext()
        found.append(reader.record())
    assert found == [b"one", b"", b"three" * 500]


def test_damaged_tfrecords(tmp_path):
    path = tmp_path / "a.tfrecord"
    write_tfrecord(data.SampleDataset(ROWS), path)
    content = path.read_bytes()
    for broken in damaged(content):
        path.write_bytes(broken)
        read_all(TFRecordDataset, path)
    changed = bytearray(content)
    changed[20] ^= 1
    path.write_bytes(changed)
    with pytest.raises(FileFormatError, match="checksum of record 0"):
        TFRecordDataset(path)[0]
    path.write_bytes(content[:-1])
    with pytest.raises(FileFormatError, match="truncated after 6 records"):
        TFRecordDataset(path)
    path.write_bytes(struct.pack("<QI", 2**60, 0))
    with pytest.raises(FileFormatError, match="no TFRecord file, or compressed"):
        TFRecordDataset(path)
    with pytest.raises(MissingFileError):
        TFRecordDataset(tmp_path / "none")
    for message in (b"\x0a\xff\xff\xff\xff\x7f", b"\x08\x01", b"\x0a\x02\x08\x01", b"\xff" * 30):
        with pytest.raises(FileFormatError, match=r"no tf.train.Example"):
            parse_example(message)


# -- WebDataset


def test_webdataset_round_trip(tmp_path):
    samples = [
        {
            "image": data.Image(np.full((4, 5, 3), i, "uint8")),
            "label": i,
            "caption": data.Text(f"é {i}"),
            "boxes": np.arange(4, dtype="float32")[None] + i,
            "more": {"a": [1, None]},
            "raw.bin": b"\0" * i,
        }
        for i in range(5)
    ]
    path = tmp_path / "a.tar"
    write_webdataset(data.SampleDataset(samples), path)
    with tarfile.open(path) as archive:
        assert archive.getnames()[:3] == ["000000000.image.png", "000000000.label.cls", "000000000.caption.txt"]
    found = WebDataset([path, path])
    assert len(found) == 10
    for index, sample in enumerate(samples):
        read = found[5 + index]
        assert read["__key__"] == f"{index:09}"
        np.testing.assert_array_equal(read["image.png"], sample["image"])
        np.testing.assert_array_equal(read["boxes.npy"], sample["boxes"])
        expected = (sample["label"], sample["caption"], sample["more"], sample["raw.bin"])
        assert (read["label.cls"], read["caption.txt"], read["more.json"], read["raw.bin"]) == expected
    write_webdataset(WebDataset(path), tmp_path / "b.tar")
    assert (tmp_path / "b.tar").read_bytes() == path.read_bytes()
    assert WebDataset(path, decode=False)[3]["label.cls"] == b"3"


def test_webdataset_of_other_software(tmp_path):
    path = tmp_path / "a.tar"
    photo = encode_image(np.zeros((3, 4, 3), "uint8"), "jpeg")
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as archive:
        folder = tarfile.TarInfo("set")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        for key in ("set/1", "set/" + "long" * 60):
            for suffix, content in (("jpg", photo), ("cls", b"7\n"), ("seg.npy", b"")):
                if suffix == "seg.npy":
                    stream = io.BytesIO()
                    np.save(stream, np.asfortranarray(np.arange(6).reshape(2, 3)))
                    content = stream.getvalue()
                member = tarfile.TarInfo(f"{key}.{suffix}")
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
        link = tarfile.TarInfo("set/1.txt")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    found = WebDataset(path)
    assert [sample["__key__"] for sample in found] == ["set/1", "set/" + "long" * 60]
    assert found[1]["cls"] == 7
    assert found[1]["jpg"].shape == (3, 4, 3)
    assert found[1]["seg.npy"].tolist() == [[0, 1, 2], [3, 4, 5]]


def test_damaged_archives(tmp_path):
    path = tmp_path / "a.tar"
    write_webdataset(data.SampleDataset([{"image": data.Image(np.zeros((2, 2, 3), "uint8")), "n": 1}] * 4), path)
    content = path.read_bytes()
    for broken in damaged(content):
        path.write_bytes(broken)
        read_all(WebDataset, path)
    path.write_bytes(content[:600])
    with pytest.raises(FileFormatError):
        WebDataset(path)
    path.write_bytes(b"not a tar" * 100)
    with pytest.raises(FileFormatError, match="no tar archive"):
        WebDataset(path)
    for kind, size in ((tarfile.GNUTYPE_LONGNAME, 1 << 40), (tarfile.XHDTYPE, 1 << 20), (tarfile.GNUTYPE_LONGNAME, 3)):
        member = tarfile.TarInfo("x")
        member.type, member.size = kind, size
        path.write_bytes((member.tobuf(tarfile.GNU_FORMAT) + b"x\0".ljust(512, b"\0")) * 3000)
        with pytest.raises(FileFormatError):
            WebDataset(path)
    write_webdataset(data.SampleDataset([{"label.cls": b"seven", "x.json": b"[" * 10_000, "x.npy": b"\0"}]), path)
    with pytest.raises(DataError, match=r"a.tar, 000000000.label.cls"):
        WebDataset(path)[0]


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        ({"__key__": "../x", "a": 1}, "the key"),
        ({"__key__": "x.y", "a": 1}, "the key"),
        ({"a/b": 1}, "cannot be a suffix"),
        ({"a": object()}, "cannot be stored"),
        (1, "wants dictionaries"),
    ],
)
def test_samples_that_no_archive_holds(tmp_path, sample, message):
    with pytest.raises(DataError, match=message):
        write_webdataset(data.SampleDataset([sample]), tmp_path / "a.tar")
    assert not list(tmp_path.iterdir())


# -- Parquet


def test_parquet_round_trip(tmp_path):
    path = tmp_path / "a.parquet"
    rows = [{**row, "half": np.float32(row["label"] / 2), "grid": np.full((2, 2), 1.5)} for row in ROWS]
    write_parquet(data.SampleDataset(rows), path, rows_per_group=3)
    assert pq.ParquetFile(path).num_row_groups == 3
    assert pq.read_table(path)["label"].to_pylist() == list(range(7))
    found = pickle.loads(pickle.dumps(ParquetDataset([path, path], groups_in_memory=1)))
    assert len(found) == 14
    for index in (13, 0, 6, 7, 3):
        row, read = rows[index % 7], found[index]
        assert (read["label"], read["text"], read["half"]) == (row["label"], row["text"], row["half"])
        for name in ("x", "n", "grid"):
            assert read[name].dtype == row[name].dtype
            np.testing.assert_array_equal(read[name], row[name])
    assert list(ParquetDataset(path, columns=["text"])[1]) == ["text"]
    with pytest.raises(ConfigError, match=r"no column 'labels'.*did you mean 'label'"):
        ParquetDataset(path, columns=["labels"])


@settings(max_examples=30, deadline=None)
@given(
    values=st.lists(
        st.one_of(st.none(), hnp.arrays("int16", st.integers(0, 4))).map(lambda v: {"v": v}), min_size=1, max_size=6
    )
)
def test_parquet_with_missing_values(values, tmp_path_factory):
    path = tmp_path_factory.mktemp("p") / "a.parquet"
    values = [{"v": np.zeros(1, "int16")}, *values]
    write_parquet(data.SampleDataset(values), path, rows_per_group=2)
    for read, row in zip(ParquetDataset(path), values, strict=True):
        if row["v"] is None:
            assert read["v"] is None
        else:
            np.testing.assert_array_equal(read["v"], row["v"])


def test_damaged_parquet(tmp_path):
    path = tmp_path / "a.parquet"
    write_parquet(data.SampleDataset(ROWS), path, rows_per_group=3)
    content = path.read_bytes()
    for broken in damaged(content):
        path.write_bytes(broken)
        read_all(ParquetDataset, path)
    path.write_bytes(content[:-20])
    with pytest.raises(FileFormatError, match=r"a.parquet is no Parquet file, or is damaged"):
        ParquetDataset(path)
    for samples, message in (
        ([{"a": 1}, {"b": 1}], "has the entry 'b'"),
        ([1], "wants dictionaries"),
        ([{"a": object()}], "cannot be stored as Parquet"),
    ):
        with pytest.raises(DataError, match=message):
            write_parquet(data.SampleDataset(samples), tmp_path / "b.parquet")


# -- HDF5


def test_hdf5_round_trip(tmp_path):
    path = tmp_path / "a.h5"
    rows = [{"x": row["x"], "label": row["label"], "text": row["text"], "on": True} for row in ROWS]
    for compress in (False, True):
        write_hdf5(data.SampleDataset(rows), path, compress=compress, rows_per_write=2)
        found = pickle.loads(pickle.dumps(HDF5Dataset(path)))
        assert len(found) == 7
        for read, row in zip(found, rows, strict=True):
            assert (read["label"], read["text"], read["on"]) == (row["label"], row["text"], True)
            np.testing.assert_array_equal(read["x"], row["x"])
    numbers = HDF5Dataset(path, names={"inputs": "x", "y": "label"})
    batch = numbers[np.array([5, 1, 5])]
    assert batch["y"].tolist() == [5, 1, 5]
    assert batch["inputs"][:, 0].tolist() == [5, 1, 5]
    with h5py.File(path) as file:
        assert file["label"][:].tolist() == list(range(7))
    with pytest.raises(ConfigError, match="no array 'labels'"):
        HDF5Dataset(path, names=["labels"])


def test_hdf5_of_other_files_is_refused(tmp_path):
    path, secret = tmp_path / "a.h5", tmp_path / "secret.h5"
    with h5py.File(secret, "w") as file:
        file["x"] = np.arange(5)
    with h5py.File(path, "w") as file:
        file["group/x"] = np.arange(4)
        file["link"] = h5py.ExternalLink("secret.h5", "/x")
        file["group/circle"] = file["group"]
        file["name"] = "a scalar"
    assert list(HDF5Dataset(path).arrays) == ["group/x"]
    with h5py.File(path, "a") as file:
        file.create_dataset("raw", (4,), "u1", external=[(str(secret), 0, 4)])
    with pytest.raises(FileFormatError, match="values in other files"):
        HDF5Dataset(path)
    with h5py.File(path, "w") as file:
        file.create_dataset("x", (2, 1 << 20, 1 << 20), "f8", chunks=(1, 8, 8))
    with pytest.raises(FileFormatError, match="rows of more than"):
        HDF5Dataset(path)
    with h5py.File(path, "w") as file:
        file["a"], file["b"] = np.arange(3), np.arange(4)
    with pytest.raises(ConfigError, match="different lengths: a 3, b 4"):
        HDF5Dataset(path)


def test_damaged_hdf5(tmp_path):
    path = tmp_path / "a.h5"
    write_hdf5(data.SampleDataset([{"x": row["x"]} for row in ROWS]), path)
    content = path.read_bytes()
    path.write_bytes(content[:100])
    with pytest.raises(FileFormatError, match="no HDF5 file, or is damaged"):
        HDF5Dataset(path)
    for broken in damaged(content, 30):
        path.write_bytes(broken)
        read_all(HDF5Dataset, path)
    for samples, message in (
        ([{"x": np.zeros(2)}, {"x": np.zeros(3)}], "has the shape"),
        ([{"x": 1}, {"y": 1}], "has no entry 'x'"),
        ([{"x": None}], "wants numbers or a text"),
        ([1], "wants dictionaries or tuples"),
    ):
        with pytest.raises(DataError, match=message):
            write_hdf5(data.SampleDataset(samples), tmp_path / "b.h5")
    assert not (tmp_path / "b.h5").exists()
