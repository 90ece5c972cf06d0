"""The data sets that a server keeps open, and its limits."""

import json
import threading

import numpy as np
import pytest

from labdl import data
from labdl.data.codecs.image import encode_image
from labdl.errors import ConfigError, DataError
from labdl.lab.dataset_view import opened_datasets
from labdl.lab.dataset_view.opened_datasets import OpenedDatasets
from labdl.lab.messages.data import SamplesRequest


def write_pictures(folder, count=3, size=(12, 16)):
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        (folder / f"{number}.png").write_bytes(encode_image(np.full((*size, 3), number, np.uint8), "png"))
    return folder


def test_the_last_few_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(opened_datasets, "MOST_OPEN", 2)
    opened = OpenedDatasets()
    folders = {name: write_pictures(tmp_path / name) for name in "abc"}
    first = opened.view(folders["a"], "a")
    assert opened.view(folders["a"], "a") is first
    opened.view(folders["b"], "b")
    opened.view(folders["c"], "c")
    assert opened.view(folders["a"], "a") is not first


def test_requests_at_once_open_a_data_set_once(tmp_path, monkeypatch):
    folder, opened, calls = write_pictures(tmp_path / "a"), OpenedDatasets(), []
    own = opened_datasets.open_data
    monkeypatch.setattr(opened_datasets, "open_data", lambda *a, **k: calls.append(a) or own(*a, **k))
    views = []
    threads = [threading.Thread(target=lambda: views.append(opened.view(folder, "a"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(calls), len({id(view) for view in views})) == (1, 1)


def test_limits(tmp_path, monkeypatch):
    monkeypatch.setattr(opened_datasets, "MOST_FILES", 3)
    with pytest.raises(DataError, match="more than 3 files: pack it"):
        OpenedDatasets().view(write_pictures(tmp_path / "many", 4), "many")
    monkeypatch.setattr(opened_datasets, "LARGEST", 10)
    (tmp_path / "list.csv").write_text("path,label\n" + "many/1.png,a\n" * 9)
    with pytest.raises(ConfigError, match="MiB"):
        OpenedDatasets().view(tmp_path / "list.csv", "list.csv")


def test_a_change_of_the_files_or_of_the_pipeline_is_seen(tmp_path):
    folder, opened = write_pictures(tmp_path / "a"), OpenedDatasets()
    file = tmp_path / "x.pipeline.json"
    file.write_text(json.dumps({"version": 2, "transforms": [], "phases": [], "dataset": "a"}))
    assert len(opened.view(file, file.name).dataset) == 3
    write_pictures(folder, 5)
    assert len(opened.view(file, file.name).dataset) == 5
    write_pictures(tmp_path / "b", 2)
    file.write_text(json.dumps({"version": 2, "transforms": [], "phases": [], "dataset": "b"}))
    assert len(opened.view(file, file.name).dataset) == 2


def test_each_part_has_a_view(tmp_path):
    for part, count in (("train", 3), ("val", 2)):
        write_pictures(tmp_path / "a" / part / "class", count)
    opened = OpenedDatasets()
    training, validation = (opened.view(tmp_path / "a", "a", split) for split in ("training", "validation"))
    assert opened.view(tmp_path / "a", "a") is training
    assert (len(training.dataset), len(validation.dataset)) == (3, 2)
    write_pictures(tmp_path / "a" / "val" / "class", 5)  # two levels below the folder
    assert len(opened.view(tmp_path / "a", "a", "validation").dataset) == 5
    with pytest.raises(ConfigError, match="the parts training, validation, received 'test'"):
        opened.view(tmp_path / "a", "a", "test")


def test_large_pictures_are_decoded_small(tmp_path, monkeypatch):
    """A JPEG of a camera is decoded at an eighth, not whole; its size is that of the file."""
    from labdl.data.codecs import image

    folder = tmp_path / "photos"
    folder.mkdir()
    (folder / "1.jpg").write_bytes(encode_image(np.full((1600, 2400, 3), 90, np.uint8), "jpeg"))
    sizes, own = [], image.decode_jpeg
    monkeypatch.setattr(image, "decode_jpeg", lambda *a: sizes.append((pixels := own(*a)).shape) or pixels)
    view = OpenedDatasets().view(folder, "photos")
    (sample,) = view.samples(SamplesRequest(start=0, count=1, size=128))["samples"]
    assert sizes == [(200, 300, 3)]
    assert (sample["parts"][0]["width"], sample["parts"][0]["height"]) == (2400, 1600)


def test_a_page_that_takes_long_is_given_up(tmp_path, monkeypatch):
    from labdl.lab.dataset_view import service

    monkeypatch.setattr(service, "_PAGE_SECONDS", -1.0)
    view = OpenedDatasets().view(write_pictures(tmp_path / "a"), "a")
    samples = view.samples(SamplesRequest(start=0, count=3))["samples"]
    assert {s["problem"] for s in samples} == {service.LATE}


def test_exif_turns_thumbnail_and_size(tmp_path):
    import io

    import PIL.Image

    folder = tmp_path / "turned"
    folder.mkdir()
    stream = io.BytesIO()
    exif = PIL.Image.Exif()
    exif[0x0112] = 6
    PIL.Image.fromarray(np.zeros((40, 80, 3), np.uint8)).save(stream, "JPEG", exif=exif)
    (folder / "1.jpg").write_bytes(stream.getvalue())
    (part,) = OpenedDatasets().view(folder, "turned").sample(0, 64)["parts"]
    assert (part["width"], part["height"]) == (40, 80)
    assert data.open_dataset(folder)[0]["image"].shape == (80, 40, 3)
