"""Damaged and hostile files of known data sets."""

import gzip
import io
import random
import tarfile
from contextlib import suppress

import numpy as np
import pytest
from set_files import LABELS, PICTURES, idx, mnist_files, packed, tar

from labdl.data.sources.svhn import read_svhn
from labdl.data.sources.unpacking import unpack
from labdl.errors import FileFormatError


@pytest.mark.parametrize("compressed", [True, False])
def test_damaged_mat_is_an_error(tmp_path, compressed):
    """Damaged files end the process in scipy.io.loadmat."""
    from scipy.io import savemat

    memory, rng = io.BytesIO(), random.Random(0)
    pictures = np.random.default_rng(3).integers(0, 256, (32, 32, 3, 2), dtype=np.uint8)
    savemat(memory, {"other": np.ones(3), "X": pictures, "y": np.array([[1.0], [10.0]])}, do_compression=compressed)
    whole, file = memory.getvalue(), tmp_path / "train.mat"
    file.write_bytes(whole)
    assert read_svhn("train", file).labels().tolist() == [1, 0]
    for cut in (0, 100, 128, 130, 300, len(whole) - 9):
        file.write_bytes(whole[:cut])
        with pytest.raises(FileFormatError, match=r"train\.mat is no file of SVHN"):
            read_svhn("train", file)
    for _ in range(100):
        damaged = bytearray(whole)
        for _ in range(3):
            damaged[rng.randrange(600)] = rng.randrange(256)
        file.write_bytes(damaged)
        with suppress(FileFormatError):
            read_svhn("train", file)


@pytest.mark.parametrize("name", ["../evil", "a/../../evil", "/tmp/evil", "..\\evil", "C:/evil"])
@pytest.mark.parametrize("make", [tar, packed])
def test_member_that_leads_out_of_the_folder_is_refused(server, load, tmp_path, name, make):
    archive = {tar: "cifar-10-binary.tar.gz", packed: "wikitext-2-v1.zip"}[make]
    entry = server.entry({tar: "cifar10", packed: "wikitext2"}[make], {archive: make({"good": b"1", name: b"evil"})})
    with pytest.raises(FileFormatError, match="leads out of its folder"):
        load(entry, "test")
    folder = tmp_path / entry.name
    assert sorted(file.name for file in folder.iterdir() if file.name != ".lock") == [archive]
    assert not list(tmp_path.rglob("evil"))


def test_links_are_left_out_and_bombs_refused(tmp_path):
    memory = io.BytesIO()
    with tarfile.open(fileobj=memory, mode="w:gz") as archive:
        info = tarfile.TarInfo("link")
        info.type, info.linkname = tarfile.SYMTYPE, "/etc"
        archive.addfile(info)
        info = tarfile.TarInfo("link/file")
        info.size = 1
        archive.addfile(info, io.BytesIO(b"1"))
    (tmp_path / "a.tar.gz").write_bytes(memory.getvalue())
    unpack(tmp_path / "a.tar.gz", tmp_path / "a")
    assert not (tmp_path / "a" / "link").is_symlink()
    assert (tmp_path / "a" / "link" / "file").read_bytes() == b"1"

    (tmp_path / "b.tar.gz").write_bytes(tar({"zeros": bytes(80 << 20)}))
    with pytest.raises(FileFormatError, match="more than 40 times"):
        unpack(tmp_path / "b.tar.gz", tmp_path / "b")
    (tmp_path / "c.tar.gz").write_bytes(memory.getvalue()[:60])
    with pytest.raises(FileFormatError, match="broken archive"):
        unpack(tmp_path / "c.tar.gz", tmp_path / "c")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "a.tar.gz", "b.tar.gz", "c.tar.gz"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no gzip",
        idx(PICTURES)[:-30],
        gzip.compress(bytes([0, 0, 8, 3]) + np.array([1 << 30] * 3, ">u4").tobytes()),
        gzip.compress(bytes([0, 0, 8, 3]) + np.array([9, 28, 28], ">u4").tobytes() + PICTURES.tobytes()),
        gzip.compress(bytes([0, 0, 8, 3]) + np.array([1, 28, 28], ">u4").tobytes() + PICTURES.tobytes()),
        idx(LABELS),
    ],
)
def test_damaged_idx_is_an_error(server, load, content):
    entry = server.entry("mnist", mnist_files() | {"t10k-images-idx3-ubyte.gz": content})
    with pytest.raises(FileFormatError, match="t10k-images"):
        load(entry, "test")
