"""A pipeline's file is a data set of the Train panel: described, trained, and refused in a sentence."""

import json
import os

import numpy as np
import pytest
from tornado.httpclient import HTTPClientError

import labdl
from labdl import data, nn
from labdl.data import transforms as T
from labdl.data.codecs.image import encode_image
from labdl.errors import ConfigError, FileFormatError
from labdl.lab.training import data_files, script

pytest_plugins = ["pytest_jupyter.jupyter_server"]
SETTINGS = {
    "backend": "torch",
    "dataset": "shades.pipeline.json",
    "optimizer": "adam",
    "learning_rate": 0.01,
    "epochs": 1,
    "batch_size": 4,
}
STEPS = [T.Resize((6, 6)), T.HorizontalFlip(), T.ToFloat(), T.Transpose((2, 0, 1))]


def write_shades(folder, *, sizes=(16, 16), steps=STEPS):
    rng = np.random.default_rng(0)
    for name, shade in (("dark", 40), ("light", 200)):
        (folder / "shades" / name).mkdir(parents=True)
        for number in range(8):
            size = sizes[number % 2]
            picture = np.clip(rng.normal(shade, 9, (size, size, 3)), 0, 255).astype("uint8")
            (folder / "shades" / name / f"{number}.png").write_bytes(encode_image(picture, "png"))
    phases = ["always", "training", "always", "always"][: len(steps)]
    data.Pipeline(steps, phases=phases, dataset="shades").save(folder / "shades.pipeline.json")
    return folder / "shades.pipeline.json"


def test_pictures_are_described_after_their_steps(tmp_path):
    info = data_files.describe_file(write_shades(tmp_path))
    assert info["input_shape"] == [None, 3, 6, 6]
    assert (info["kind"], info["classes"], info["samples"], info["target_shape"]) == ("classes", 2, 16, [None])
    assert info["summary"] == "16 samples of 3 × 6 × 6, 2 classes"


def test_the_parts_of_a_folder_need_no_split(tmp_path, monkeypatch):
    file = write_shades(tmp_path)
    (tmp_path / "whole").mkdir()
    (tmp_path / "shades").rename(tmp_path / "whole" / "train")
    (tmp_path / "whole").rename(tmp_path / "shades")
    for part, shade in (("val", 210), ("test", 50)):
        name = "light" if part == "val" else "dark"
        (tmp_path / "shades" / part / name).mkdir(parents=True)
        picture = encode_image(np.full((16, 16, 3), shade, "uint8"), "png")
        (tmp_path / "shades" / part / name / "0.png").write_bytes(picture)
    info = data_files.describe_file(file)
    assert (info["classes"], info["samples"]) == (2, 17)
    assert info["summary"] == "16 training and 1 validation samples of 3 × 6 × 6, 2 classes"
    monkeypatch.chdir(tmp_path)
    labdl.save(nn.Sequential(nn.Flatten(), nn.Linear(2)).build((None, 3, 6, 6), backend="torch"), "net")
    names = {}
    exec(script.train_code("net.labdl", SETTINGS)["code"], names)
    names["run"].wait()
    assert (len(names["train_set"]), len(names["test_set"])) == (16, 1)
    assert np.isfinite(names["run"].history["val_loss"]).all()


def test_the_code_trains(tmp_path, monkeypatch):
    write_shades(tmp_path)
    monkeypatch.chdir(tmp_path)
    model = nn.Sequential(nn.Flatten(), nn.Linear(2)).build((None, 3, 6, 6), backend="torch")
    labdl.save(model, "net")
    code = script.train_code("net.labdl", SETTINGS)["code"]
    assert "labdl.data.Pipeline.load('shades.pipeline.json').datasets()" in code
    names = {}
    exec(code, names)
    names["run"].wait()
    assert np.isfinite(names["run"].history["val_loss"]).all()


def test_what_a_form_cannot_train_says_so(tmp_path):
    with pytest.raises(ConfigError, match=r"16 × 16 × 3 and 12 × 12 × 3: add a step .* Resize"):
        data_files.describe_file(write_shades(tmp_path, sizes=(16, 12), steps=[]))
    (tmp_path / "boxes" / "images").mkdir(parents=True)
    (tmp_path / "boxes" / "labels").mkdir()
    for number in range(4):
        (tmp_path / "boxes" / "images" / f"{number}.png").write_bytes(encode_image(np.zeros((8, 8, 3), "uint8"), "png"))
        (tmp_path / "boxes" / "labels" / f"{number}.txt").write_text("0 0.5 0.5 0.5 0.5\n")
    data.Pipeline([], dataset="boxes").save(tmp_path / "boxes.pipeline.json")
    with pytest.raises(ConfigError, match=r"bounding boxes and labels as targets.*with code"):
        data_files.describe_file(tmp_path / "boxes.pipeline.json")
    data.Pipeline([], dataset="nothing").save(tmp_path / "nothing.pipeline.json")
    with pytest.raises(FileNotFoundError, match="nothing"):
        data_files.describe_file(tmp_path / "nothing.pipeline.json")
    data.Pipeline([T.AddNoise(os.path.abspath(__file__))], dataset="shades").save(tmp_path / "noise.pipeline.json")
    with pytest.raises(ConfigError, match="names the file"):
        data_files.describe_file(tmp_path / "noise.pipeline.json")
    (tmp_path / "bad.pipeline.json").write_text('{"version": 2, "transforms": [{"type": "eval"}]}')
    with pytest.raises(FileFormatError, match="there is no transform 'eval'"):
        data_files.describe_file(tmp_path / "bad.pipeline.json")


async def test_route(jp_fetch, jp_root_dir):
    write_shades(jp_root_dir)
    params = {"path": "net.labdl", "name": "shades.pipeline.json"}
    info = json.loads((await jp_fetch("labdl", "data", params=params)).body)
    assert info["input_shape"] == [None, 3, 6, 6]
    (jp_root_dir / "shades").rename(jp_root_dir / ".shades")
    data.Pipeline([], dataset=".shades").save(jp_root_dir / "shades.pipeline.json")
    with pytest.raises(HTTPClientError) as caught:
        await jp_fetch("labdl", "data", params=params)
    assert caught.value.code == 404
