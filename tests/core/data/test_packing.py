"""Packed data sets: any sample comes back as it was, other software reads the files, damage and interruption are handled."""

import contextlib
import hashlib
import io
import json
import os
import pickle
import signal
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from labdl import data
from labdl.data.codecs.image import encode_image
from labdl.data.packing import PackedDataset, pack
from labdl.errors import ConfigError, DataError, FileFormatError, MissingFileError

pa = pytest.importorskip("pyarrow")


class Samples(data.Dataset):
    name, classes, inputs, targets = "samples", ["a", "b", "c"], ("image",), ("label",)

    def __init__(self, count=20, shift=0):
        self.count, self.shift = count, shift

    def __len__(self):
        return self.count

    def read(self, index, epoch=0):
        return {
            "image": data.Image(np.full((4 + index % 2, 6, 3), index + self.shift, "uint8")),
            "boxes": data.BoundingBoxes([[0, 1, 2, 3]] * (index % 3), canvas_size=(4, 6)),
            "label": index % 3,
        }


def same(one, two) -> bool:
    if isinstance(one, np.ndarray):
        attributes = getattr(one, "metadata", ())
        return (
            type(one) is type(two)
            and one.dtype == two.dtype
            and one.shape == two.shape
            and one.tobytes() == np.ascontiguousarray(two).tobytes()
            and all(getattr(one, name) == getattr(two, name) for name in attributes)
        )
    if isinstance(one, dict):
        return list(one) == list(two) and all(same(one[name], two[name]) for name in one)
    if isinstance(one, list | tuple):
        return type(one) is type(two) and len(one) == len(two) and all(map(same, one, two))
    return type(one) is type(two) and (one == two or one != one)


NUMBERS = st.one_of(
    hnp.integer_dtypes(endianness="?"),
    hnp.floating_dtypes(endianness="?"),
    hnp.complex_number_dtypes(),
    hnp.boolean_dtypes(),
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(),
    TEXTS,
    TEXTS.map(data.Text),
    st.lists(TEXTS, max_size=3).map(data.Tokens),
    hnp.arrays(NUMBERS, hnp.array_shapes(min_dims=0, min_side=0, max_side=3)),
    st.integers(0, 255).map(np.uint8),
    st.floats(width=16).map(np.float16),
    st.lists(st.text("abc", min_size=1), min_size=1, max_size=3).map(np.array),
    hnp.arrays("uint8", (2, 3, 1)).map(data.Image),
    hnp.arrays("float32", (2, 3)).map(lambda a: data.Audio(a, sample_rate=16000)),
    hnp.arrays("float32", (2, 4)).map(lambda a: data.BoundingBoxes(a, canvas_size=(5, 6), format="xywh")),
)
ANY = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.dictionaries(st.text("ab/.", max_size=3), inner, max_size=3),
        st.lists(inner, max_size=3),
        st.tuples(inner, inner),
    ),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None)
@given(samples=st.lists(ANY, min_size=1, max_size=4))
def test_any_sample_comes_back(samples, tmp_path_factory):
    folder = tmp_path_factory.mktemp("packed")
    try:
        packed = pack(data.SampleDataset(samples), folder, samples_per_shard=2)
    except DataError as error:
        assume("two entries of the path" not in str(error))
        raise
    assert len(packed) == len(samples)
    for index, sample in enumerate(samples):
        assert same(packed[index], sample)


def test_arrays_are_views_of_the_files(tmp_path):
    packed = pack(Samples(), tmp_path / "p", samples_per_shard=8)
    assert sorted(path.name for path in packed.folder.glob("*.arrow")) == [f"shard-00000{i}.arrow" for i in range(3)]
    image = packed[13]["image"]
    assert isinstance(image, data.Image)
    assert image.shape == (5, 6, 3)
    assert (image == 13).all()
    assert not image.flags.writeable
    assert not image.flags.owndata
    large = data.SampleDataset([(np.full((500, 500, 3), i, "uint8"), i) for i in range(4)])
    packed_arrays = pack(large, tmp_path / "large")
    before = pa.total_allocated_bytes()
    images = [packed_arrays[i][0] for i in range(4)]
    assert [int(image[-1, -1, -1]) for image in images] == [0, 1, 2, 3]
    assert pa.total_allocated_bytes() - before < 10_000
    assert packed.labels().tolist() == [i % 3 for i in range(20)]
    assert (packed.name, packed.classes, packed.inputs, packed.targets) == (
        "samples",
        list("abc"),
        ("image",),
        ("label",),
    )
    again = pickle.loads(pickle.dumps(packed))
    assert same(again[7], Samples().read(7))


def test_threads_read_side_by_side(tmp_path):
    packed = pack(Samples(60), tmp_path / "p", samples_per_shard=4)
    wrong = []

    def read(seed):
        for index in np.random.default_rng(seed).permutation(60).tolist():
            if not same(packed[index], Samples(60).read(index)):
                wrong.append(index)

    threads = [threading.Thread(target=read, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_other_software_reads_the_files(tmp_path):
    packed = pack(Samples(), tmp_path / "p", samples_per_shard=8)
    table = pa.ipc.open_file(packed.folder / "shard-000001.arrow").read_all()
    assert table["label"].to_pylist() == [i % 3 for i in range(8, 16)]
    assert table["image"][0].as_py() == [8] * 4 * 6 * 3
    assert table["boxes"].type == pa.large_list(pa.float32())
    dataset = pytest.importorskip("pyarrow.dataset").dataset(sorted(packed.folder.glob("*.arrow")), format="ipc")
    assert dataset.count_rows() == 20
    for file in packed.folder.glob("*.sha256"):
        digest, name = file.read_text().split()
        assert hashlib.sha256((packed.folder / name).read_bytes()).hexdigest() == digest


def test_samples_of_another_structure_are_stored_whole(tmp_path):
    samples = [{"x": 1, "y": "a"}, {"x": 2}, {"x": 2.5, "y": "b"}, (1, 2)]
    packed = pack(data.SampleDataset(samples), tmp_path / "p")
    assert list(packed) == samples
    table = pa.ipc.open_file(packed.folder / "shard-000000.arrow").read_all()
    assert table["x"].to_pylist() == [1, 2, None, None]
    assert [value is None for value in table["labdl.other"].to_pylist()] == [True, True, False, False]


def test_pictures_stay_encoded(tmp_path):
    class Photos(Samples):
        def read(self, index, epoch=0):
            wave = np.sin(np.arange(32) / 5 + index) * 100 + 128
            return {
                "image": data.Image(np.stack([wave[:, None] + np.zeros(24)] * 3, -1).astype("uint8")),
                "label": index,
            }

    packed = pack(Photos(5), tmp_path / "png", encode={"image": "png"})
    assert all(same(packed[i], Photos(5).read(i)) for i in range(5))
    packed = pack(Photos(5), tmp_path / "jpeg", encode={"image": "jpeg"})
    assert isinstance(packed[2]["image"], data.Image)
    assert np.abs(packed[2]["image"].astype(int) - Photos(5).read(2)["image"]).max() < 8
    raw = PackedDataset(packed.folder, decode=False)
    assert raw[2]["image"] == encode_image(Photos(5).read(2)["image"], "jpeg")
    grey = data.SampleDataset([(np.zeros((3, 4), "uint8"), 1)])
    assert pack(grey, tmp_path / "grey", encode={"0": "png"})[0][0].shape == (3, 4, 1)
    ready = data.SampleDataset([{"image": raw[0]["image"]}])
    assert PackedDataset(pack(ready, tmp_path / "b", encode={"image": "jpeg"}).folder, decode=False)[0] == ready[0]


def test_files_of_a_folder_stay_as_they_are(tmp_path):
    for name in ("cat", "dog"):
        (tmp_path / "f" / name).mkdir(parents=True)
        (tmp_path / "f" / name / "1.jpg").write_bytes(encode_image(np.full((8, 9, 3), len(name) * 9, "uint8"), "jpeg"))
    pictures = data.ImageFolder(tmp_path / "f")
    packed = pack(pictures, tmp_path / "p", encode={"image": "file"})
    assert packed.classes == ["cat", "dog"]
    assert all(same(packed[i], pictures[i]) for i in range(2))
    assert PackedDataset(packed.folder, decode=False)[1]["image"] == pictures.path(1).read_bytes()


def test_interrupted_packing_goes_on(tmp_path):
    class Broken(Samples):
        limit = 13

        def read(self, index, epoch=0):
            if self.limit < index < 19:
                raise OSError("gone")
            return super().read(index)

    source = Broken()
    with pytest.raises(OSError, match="gone"):
        pack(source, tmp_path / "p", samples_per_shard=4)
    names = {path.name for path in (tmp_path / "p").iterdir()}
    assert {"shard-000002.arrow", "shard-000002.arrow.sha256"} <= names
    assert not [name for name in names if name.startswith(".") or "000003" in name]
    with pytest.raises(FileFormatError, match="not complete: 3 of 5 shards"):
        PackedDataset(tmp_path / "p")
    written = (tmp_path / "p" / "shard-000001.arrow").stat().st_mtime_ns
    source.limit = 100
    packed = pack(source, tmp_path / "p", samples_per_shard=4)
    assert all(same(packed[i], Samples().read(i)) for i in range(20))
    assert (tmp_path / "p" / "shard-000001.arrow").stat().st_mtime_ns == written


PROGRAM = """
import sys, time
import numpy as np
from labdl import data
from labdl.data.packing import pack

class Slow(data.Dataset):
    name = "slow"
    def __len__(self):
        return 40
    def read(self, index, epoch=0):
        if index not in (0, 39):
            time.sleep(float(sys.argv[2]))
        return np.full(1000, index), index

pack(Slow(), sys.argv[1], samples_per_shard=4)
"""


@pytest.mark.sample(False)
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_killed_packing_goes_on(tmp_path):
    folder = tmp_path / "p"
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, str(folder), "0.05"])
    try:
        end = time.monotonic() + 60
        while not (folder / "shard-000001.arrow.sha256").exists():
            assert time.monotonic() < end
            assert process.poll() is None
            time.sleep(0.01)
        time.sleep(0.1)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    whole = {path.name: path.read_bytes() for path in folder.glob("shard-*.sha256")}
    assert 2 <= len(whole) < 10
    for path in folder.glob("shard-*.arrow"):  # no shard is ever there in part
        pa.ipc.open_file(path).read_all()
    stamp = (folder / "shard-000000.arrow").stat().st_mtime_ns
    subprocess.run([sys.executable, "-c", PROGRAM, str(folder), "0"], check=True)
    packed = PackedDataset(folder)
    assert [int(x[0]) for x, _ in packed] == list(range(40))
    assert (folder / "shard-000000.arrow").stat().st_mtime_ns == stamp


def test_folders_of_others_are_refused(tmp_path):
    pack(Samples(), tmp_path / "p", samples_per_shard=8)
    for other, names in ((Samples(19), "samples, "), (Samples(shift=1), "fingerprint")):
        with pytest.raises(ConfigError, match=rf"another data set or other settings \({names}"):
            pack(other, tmp_path / "p", samples_per_shard=8)
    with pytest.raises(ConfigError, match="samples_per_shard differ"):
        pack(Samples(), tmp_path / "p")
    (tmp_path / "q").mkdir()
    (tmp_path / "q" / "thesis.txt").write_text("")
    with pytest.raises(ConfigError, match="has other files"):
        pack(Samples(), tmp_path / "q")
    (tmp_path / "q" / "dataset.json").write_text("{}")
    with pytest.raises(ConfigError, match="something else"):
        pack(Samples(), tmp_path / "q")
    with pytest.raises(MissingFileError, match="no packed data set"):
        PackedDataset(tmp_path / "nowhere")


def test_settings_and_samples_that_cannot_be_packed(tmp_path):
    for settings_, message in (
        ({"samples_per_shard": 0}, "samples_per_shard of at least 1"),
        ({"encode": {"image": "jp2"}}, "wants jpeg, png"),
        ({"encode": {"picture": "png"}}, "names 'picture'"),
    ):
        with pytest.raises(ConfigError, match=message):
            pack(Samples(), tmp_path / "p", **settings_)
    for sample, message in (
        ({"a/b": 1, "a": {"b": 2}}, "two entries of the path 'a/b'"),
        ({"x": object()}, "sample 0: a sample with object"),
        ({"x": 2**70}, "more than 64 bits"),
        ({"x": "\ud800"}, "characters that do not exist"),
    ):
        with pytest.raises(DataError, match=message):
            pack(data.SampleDataset([sample]), tmp_path / "p")
    assert not (tmp_path / "p").exists()


def test_damage_is_found_at_the_first_reading(tmp_path):
    packed = pack(Samples(), tmp_path / "p", samples_per_shard=10)
    path = packed.folder / "shard-000001.arrow"
    content = bytearray(path.read_bytes())
    content[content.index(bytes([15]) * 50)] ^= 1
    path.write_bytes(content)
    found = PackedDataset(packed.folder)
    assert found[9]["label"] == 0
    with pytest.raises(FileFormatError, match=r"shard-000001.arrow is damaged: its checksum does not match"):
        found[10]
    assert PackedDataset(packed.folder, verify=False)[15]["image"].max() == 15
    path.unlink()
    with pytest.raises(MissingFileError, match="call pack again"):
        PackedDataset(packed.folder)[10]
    assert pack(Samples(), packed.folder, samples_per_shard=10)[10]["label"] == 1


def test_hostile_shards_are_errors(tmp_path):
    packed = pack(Samples(6), tmp_path / "p")
    path = packed.folder / "shard-000000.arrow"
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    for round_ in range(150):
        damaged = bytearray(content)
        if round_ % 3 == 0:
            del damaged[int(rng.integers(len(damaged))) :]
        else:
            for at in rng.integers(0, len(damaged), 8).tolist():
                damaged[at] = int(rng.integers(256))
        path.write_bytes(damaged)
        found = PackedDataset(packed.folder, verify=False)
        for index in range(6):
            with contextlib.suppress(FileFormatError, DataError):
                found[index]
    message = pa.ipc.read_message(pa.BufferReader(content[8:])).metadata.to_pybytes()
    root = struct.unpack_from("<I", message)[0]
    table = root - struct.unpack_from("<i", message, root)[0]
    kind = 16 + root + struct.unpack_from("<H", message, table + 6)[0]  # the byte of the kind of the first message
    unknown = bytearray(content)
    assert unknown[kind] == 1
    unknown[kind] = 0
    for replaced in (b"", b"ARROW1\0\0", os.urandom(500), bytes(unknown)):
        path.write_bytes(replaced)
        with pytest.raises(FileFormatError):
            PackedDataset(packed.folder, verify=False)[0]


def test_compressed_and_foreign_shards_are_refused(tmp_path):
    packed = pack(Samples(6), tmp_path / "p")
    path = packed.folder / "shard-000000.arrow"
    table = pa.ipc.open_file(io.BytesIO(path.read_bytes())).read_all()
    for columns, options, message in (
        (table, pa.ipc.IpcWriteOptions(compression="zstd"), "compressed"),
        (table.slice(0, 4), None, "has 4 samples, not 6"),
        (table.drop(["label"]), None, "other columns"),
    ):
        with pa.ipc.new_file(str(path), columns.schema, options=options) as writer:
            writer.write_table(columns)
        with pytest.raises(FileFormatError, match=message):
            PackedDataset(packed.folder, verify=False)[0]


@pytest.mark.parametrize(
    ("name", "value"), [("samples", -1), ("samples_per_shard", 0), ("columns", []), ("version", 2), ("name", None)]
)
def test_damaged_descriptions_are_errors(tmp_path, name, value):
    packed = pack(Samples(6), tmp_path / "p")
    path = packed.folder / "dataset.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), name: value}))
    with pytest.raises(FileFormatError, match=r"dataset.json"):
        PackedDataset(packed.folder)
    path.write_text(json.dumps({**json.loads(path.read_text()), name: getattr(packed.description, name, 1)}))
    path.write_text(path.read_text().replace("list<uint8>", "list<binary>"))
    if name != "columns":
        with pytest.raises(FileFormatError, match="no columns of 'list<binary>'"):
            PackedDataset(packed.folder)[0]
    path.write_text("[" * 100_000)
    with pytest.raises(FileFormatError):
        PackedDataset(packed.folder)
    path.write_text(json.dumps({"format": "labdl.packed", "version": 1}))
    with pytest.raises(FileFormatError):
        PackedDataset(packed.folder)
    Path(path).unlink()
