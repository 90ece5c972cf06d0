"""Models of the Hub by huggingface_hub, whose place a server on this machine takes; and without a connection."""

from pathlib import Path

import numpy as np
import pytest
from hub_server import HubServer, point_hub_at

from labdl import models
from labdl.errors import MissingFileError
from labdl.models.pretrained.location import find_folder

FOLDERS = Path(__file__).parents[2] / "oracles" / "hub"
# listed, and not to be downloaded
OTHER_FILES = ("pytorch_model.bin", "tf_model.h5", "onnx/model.onnx")


@pytest.fixture
def server(tmp_path, monkeypatch):
    server = HubServer()
    server.direct(monkeypatch, tmp_path / "cache")
    for name in ("bert_classifier", "bart_sharded"):
        for path in (FOLDERS / name).iterdir():
            server.put(f"someone/{name}", path.name, path.read_bytes())
        for file in OTHER_FILES:
            server.put(f"someone/{name}", file, b"other")
    yield server
    server.stop()


def test_a_model_of_the_hub_is_downloaded_once_and_found_again_without_a_connection(server):
    model = models.from_pretrained("someone/bert_classifier", backend="numpy")
    assert model.class_names == ["negative", "neutral", "positive"]
    assert sorted(server.downloads) == ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"]
    server.stop()
    again = models.from_pretrained("someone/bert_classifier", backend="numpy")
    assert all(np.array_equal(value, again.state_dict()[name]) for name, value in model.state_dict().items())


def test_parts_of_weights_are_downloaded(server):
    files = find_folder("someone/bart_sharded").iterdir()
    assert sum(file.suffix == ".safetensors" for file in files) == 5


def test_unknown_names_are_named(server):
    with pytest.raises(MissingFileError, match="the Hub has no model someone/nothing"):
        models.from_pretrained("someone/nothing")


def test_without_a_connection_the_files_and_their_place_are_named(tmp_path, monkeypatch):
    point_hub_at(monkeypatch, "http://127.0.0.1:9", tmp_path)
    with pytest.raises(
        MissingFileError, match=r"cannot be reached.*one of model\.safetensors, .* of config\.json, .* into a folder"
    ):
        models.from_pretrained("google-bert/bert-base-uncased")
