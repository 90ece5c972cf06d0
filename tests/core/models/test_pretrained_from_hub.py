"""Models of the Hub by huggingface_hub, whose place a server on this machine takes; and without a connection."""

import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from labdl import models
from labdl.errors import MissingFileError
from labdl.models.pretrained import hub

FOLDERS = Path(__file__).parents[2] / "oracles" / "hub"
COMMIT = "0123456789" * 4


class Hub(BaseHTTPRequestHandler):
    """The two kinds of requests that a download makes: the list of a model's files, and a file."""

    asked: list[str]
    extra = ("pytorch_model.bin", "tf_model.h5", "onnx/model.onnx")  # listed, and not to be downloaded

    def do_HEAD(self):
        self.answer(body=False)

    def do_GET(self):
        self.answer(body=True)

    def answer(self, body: bool) -> None:
        words = self.path.partition("?")[0].strip("/").split("/")
        if words[:2] == ["api", "models"] and (FOLDERS / words[3]).is_dir():
            files = [{"rfilename": path.name} for path in (FOLDERS / words[3]).iterdir()]
            files += [{"rfilename": name} for name in self.extra]
            if "tree" in words:
                listed = [
                    {
                        "type": "file",
                        "path": f.name,
                        "size": f.stat().st_size,
                        "oid": hashlib.sha1(f.read_bytes()).hexdigest(),
                    }
                    for f in (FOLDERS / words[3]).iterdir()
                ]
                listed += [{"type": "file", "path": name, "size": 1, "oid": "0" * 40} for name in self.extra]
                return self.send(200, json.dumps(listed).encode(), {"Content-Type": "application/json"}, body)
            content = {"id": "/".join(words[2:4]), "sha": COMMIT, "siblings": files, "private": False, "tags": []}
            return self.send(200, json.dumps(content).encode(), {"Content-Type": "application/json"}, body)
        if len(words) == 5 and words[2] == "resolve" and (FOLDERS / words[1] / words[4]).is_file():
            if body:
                self.asked.append(words[4])
            data = (FOLDERS / words[1] / words[4]).read_bytes()
            return self.send(200, data, {"ETag": f'"{hashlib.sha1(data).hexdigest()}"', "X-Repo-Commit": COMMIT}, body)
        return self.send(404, b"{}", {"X-Error-Code": "RepoNotFound"}, body)

    def send(self, code, data, headers, body):
        self.send_response(code)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        if body:
            self.wfile.write(data)

    def log_message(self, *args):
        pass


@pytest.fixture
def server(tmp_path, monkeypatch):
    """Address of the server, which huggingface_hub asks; its cache is a folder of the test."""
    Hub.asked = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        address = f"http://127.0.0.1:{running.server_port}"
        point_hub_at(monkeypatch, address, tmp_path / "cache")
        yield running
        running.shutdown()
        thread.join()


def point_hub_at(monkeypatch, address, cache) -> None:
    """huggingface_hub reads its address when it is imported."""
    from huggingface_hub import constants, hf_api

    monkeypatch.setattr(constants, "ENDPOINT", address)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(cache))
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", address + "/{repo_id}/resolve/{revision}/{filename}")
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr(hf_api.HfApi.__init__, "__defaults__", hf_api.HfApi.__init__.__defaults__)
    monkeypatch.setenv("HF_HUB_DISABLE_PROGRESS_BARS", "1")


def test_a_model_of_the_hub_is_downloaded_once_and_found_again_without_a_connection(server):
    model = models.from_pretrained("someone/bert_classifier", backend="numpy")
    assert model.class_names == ["negative", "neutral", "positive"]
    assert sorted(Hub.asked) == ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"]
    server.shutdown()
    server.server_close()
    again = models.from_pretrained("someone/bert_classifier", backend="numpy")
    assert all(np.array_equal(value, again.state_dict()[name]) for name, value in model.state_dict().items())


def test_parts_of_weights_are_downloaded(server):
    files = hub.folder_of("someone/bart_sharded").iterdir()
    assert sum(file.suffix == ".safetensors" for file in files) == 5


def test_unknown_names_are_named(server):
    with pytest.raises(MissingFileError, match="the Hub has no model someone/nothing"):
        models.from_pretrained("someone/nothing")


def test_without_a_connection_the_files_and_their_place_are_named(tmp_path, monkeypatch):
    point_hub_at(monkeypatch, "http://127.0.0.1:9", tmp_path)
    with pytest.raises(MissingFileError, match=r"cannot be reached.*config\.json, model\.safetensors .* into a folder"):
        models.from_pretrained("google-bert/bert-base-uncased")
