"""Downloads of known data sets: checked, resumed, kept, and explained without a network."""

import hashlib
from dataclasses import replace
from types import SimpleNamespace

import pytest
from set_files import LABELS, PICTURES, idx, mnist_files

from labdl.data import sources
from labdl.errors import ConfigError, DataError, FileFormatError, MissingFileError


def test_mnist_is_downloaded_once(server, load):
    entry = server.entry("mnist", mnist_files())
    train, test = load(entry)
    assert (len(train), len(test)) == (6, 2)
    assert (train[4]["image"].array[..., 0] == PICTURES[4]).all()
    assert train[4]["label"] == 5
    assert train.labels().tolist() == LABELS.tolist()
    assert train.classes == [str(n) for n in range(10)]
    x, y = next(iter(train.as_supervised().loader(3)))
    assert x.shape == (3, 1, 28, 28)
    assert y.tolist() == [3, 1, 4]
    count = len(server.requests)
    assert count == 4
    load(entry)
    assert len(server.requests) == count
    server.stop()
    assert len(load(entry, "test")) == 2  # without a network


def test_broken_download_goes_on_where_it_stopped(server, load):
    entry = server.entry("mnist", mnist_files())
    server.broken["train-images-idx3-ubyte.gz"] = 1000
    assert len(load(entry, "train")) == 6
    ranges = [asked for name, asked in server.requests if name == "train-images-idx3-ubyte.gz"]
    assert ranges == [None, "bytes=1000-"]


@pytest.mark.parametrize(("version", "resumed"), [(True, True), (False, False)])
def test_interrupted_download_resumes_if_the_file_is_the_same(server, load, tmp_path, version, resumed):
    """An ETag of another version makes the server send the whole file."""
    entry = server.entry("mnist", mnist_files())
    body = server.files["train-images-idx3-ubyte.gz"]
    part = tmp_path / "mnist" / "train-images-idx3-ubyte.gz.part"
    part.parent.mkdir()
    part.write_bytes(body[:500] if version else b"other content")
    tag = hashlib.md5(body).hexdigest() if version else "other"
    part.with_name(part.name + ".version").write_text(f'"{tag}"')
    assert (load(entry, "train").images[..., 0] == PICTURES).all()
    assert server.requests[0] == ("train-images-idx3-ubyte.gz", f"bytes={500 if version else 13}-")
    assert sorted(file.name for file in part.parent.iterdir() if not file.name.startswith(".")) == [
        "train-images-idx3-ubyte.gz",
        "train-labels-idx1-ubyte.gz",
    ]


def test_without_tag_only_checked_files_are_resumed(server, load, tmp_path):
    server.tags = False
    entry = server.entry("mnist", mnist_files())
    unchecked = {s: tuple(replace(f, hash=None) for f in files) for s, files in entry.files.items()}
    for root, chosen, asked in (("a", entry, "bytes=500-"), ("b", replace(entry, files=unchecked), None)):
        part = tmp_path / root / "mnist" / "train-images-idx3-ubyte.gz.part"
        part.parent.mkdir(parents=True)
        part.write_bytes(server.files["train-images-idx3-ubyte.gz"][:500])
        server.requests.clear()
        assert len(sources.load(chosen, "train", tmp_path / root, progress=False)) == 6
        assert server.requests[0][1] == asked


def test_longer_part_than_file_starts_again(server, load, tmp_path):
    entry = server.entry("mnist", mnist_files())
    body = server.files["train-images-idx3-ubyte.gz"]
    part = tmp_path / "mnist" / "train-images-idx3-ubyte.gz.part"
    part.parent.mkdir()
    part.write_bytes(body + b"more")
    assert len(load(entry, "train")) == 6


def test_rest_that_does_not_fit_is_downloaded_from_the_start(server, load, tmp_path):
    server.tags = False
    entry = server.entry("mnist", mnist_files())
    part = tmp_path / "mnist" / "train-images-idx3-ubyte.gz.part"
    part.parent.mkdir()
    part.write_bytes(b"other content")
    assert len(load(entry, "train")) == 6
    assert [asked for _, asked in server.requests] == ["bytes=13-", None, None]


def test_wrong_hash_is_refused(server, load, tmp_path):
    entry = server.entry("mnist", mnist_files())
    server.files["train-labels-idx1-ubyte.gz"] = idx(LABELS[::-1].copy())
    with pytest.raises(FileFormatError, match=r"train-labels.*other content than the published hash"):
        load(entry, "train")
    assert not (tmp_path / "mnist" / "train-labels-idx1-ubyte.gz").exists()


def test_file_with_other_content_is_downloaded_again(server, load, tmp_path):
    entry = server.entry("mnist", mnist_files())
    load(entry, "train")
    (tmp_path / "mnist" / "train-labels-idx1-ubyte.gz").write_bytes(b"damaged")
    assert load(entry, "train").labels().tolist() == LABELS.tolist()
    (tmp_path / "mnist" / "train-labels-idx1-ubyte.gz").write_bytes(b"damaged")
    server.stop()
    with pytest.raises(MissingFileError, match="The file there has another content"):
        load(entry, "train")


def test_download_larger_than_the_free_space_is_refused(server, load, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=100))
    with pytest.raises(DataError, match="has 100 free"):
        load(server.entry("mnist", mnist_files()), "train")


def test_size_is_compared_where_no_hash_is_published(server, load):
    entry = server.entry("ag_news", {"train.csv": b'"3","Title","text, of ""news"""\n"1","A","b"\n'})
    file = replace(entry.files["train"][0], hash=None, size=10)
    with pytest.raises(FileFormatError, match="wants 10"):
        load(replace(entry, files={"train": (file,)}), "train")


def test_second_address_is_tried(server, load):
    entry = server.entry("ag_news", {"train.csv": b'"3","Title","text"\n'})
    (file,) = entry.files["train"]
    urls = (f"{server.address}missing/train.csv", *file.urls)
    assert len(load(replace(entry, files={"train": (replace(file, urls=urls),)}), "train")) == 1


def test_without_network_the_error_says_what_to_put_where(server, load, tmp_path):
    entry = server.entry("mnist", mnist_files())
    server.stop()
    with pytest.raises(MissingFileError) as error:
        load(entry)
    message = str(error.value)
    assert str(tmp_path / "mnist" / "train-images-idx3-ubyte.gz") in message
    assert server.address + "train-images-idx3-ubyte.gz" in message
    assert "LABDL_DATA" in message
    assert "\n" not in message


def test_folder_of_the_environment(server, tmp_path, monkeypatch):
    monkeypatch.setenv("LABDL_DATA", str(tmp_path / "sets"))
    sources.load(server.entry("mnist", mnist_files()), "test", progress=False)
    assert (tmp_path / "sets" / "mnist" / "t10k-images-idx3-ubyte.gz").exists()


def test_unknown_name_and_split(load):
    with pytest.raises(ConfigError, match="did you mean 'cifar10'"):
        sources.load("cifr10")
    with pytest.raises(ConfigError, match="train, test"):
        load("mnist", "validation")
