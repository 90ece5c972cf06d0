"""Names that people write are kept as they are by every writer and reader, or refused where they are typed."""

import csv

import numpy as np
import pytest
from run_files import trained, written

import labdl
from labdl import Graph, data, nn
from labdl.cli import main
from labdl.data import transforms as T
from labdl.errors import ConfigError
from labdl.graph import as_graph
from labdl.runs.listing.listing import list_runs
from labdl.runs.metadata import about, write_about
from labdl.train import Trainer

NAMES = [
    *("class", "loss", "step", "time", "kind", "epoch", "name", "id", "self", "None", "weight", "1conv", "_", "CON"),
    *("损失", "précision", "a b", " a", "a/b", "a.b", "a'b", 'a"b', "<b>x</b>", "x" * 300, "", "a\nb", "a:b", "a,b"),
    *("..", "-", "a\\b", "{x}", "%s", "🙂", "\u202eabc"),
]
X = np.random.default_rng(0).normal(size=(8, 4)).astype("float32")


@pytest.mark.parametrize("name", NAMES)
def test_names_of_layers(name, tmp_path):
    class Model(nn.Module):
        def __init__(self):
            setattr(self, name, nn.Linear(3))

        def forward(self, x):
            return getattr(self, name)(x)

    if not name.replace("/", "").replace("_", "x").isalnum():
        with pytest.raises(ConfigError, match=r"cannot hold a layer or parameter of the name .* letters, digits and _"):
            Model()
        return
    model = Model().build((None, 4), backend="torch")
    labdl.save(model, tmp_path / "model.labdl")
    graph = Graph.from_python(as_graph(model).to_python(), (None, 4))
    assert name in {node.name for node in graph.nodes.values()}
    loaded = labdl.load(tmp_path / "model.labdl", backend="torch")
    assert loaded.get_parameters().keys() == model.get_parameters().keys()
    np.testing.assert_array_equal(labdl.predict(loaded, X), labdl.predict(model, X))


@pytest.mark.parametrize("name", NAMES)
def test_names_of_classes(name, tmp_path):
    model = nn.Sequential(nn.Linear(2))
    Trainer(model, "cross_entropy").fit(X, np.array([name, "other"] * 4), progress=False)
    labdl.save(model, tmp_path / "model.labdl")
    loaded = labdl.load(tmp_path / "model.labdl")
    assert {*loaded.class_names} == {*model.class_names} == {name, "other"}
    assert {*labdl.predict(loaded, X, labels=True)} <= {name, "other"}


@pytest.mark.parametrize("name", NAMES)
def test_names_of_columns(name, tmp_path):
    file = tmp_path / "rows.csv"
    with file.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([[name, "b", "label"], *[[n, 2 * n, "xy"[n % 2]] for n in range(10)]])
    table = data.Table(file, label="label")
    own = name.strip() or "column_1"
    if name.strip() != "label":
        assert next(iter(table.kinds)) == own
        assert T.TablePreprocessor().fit(table)(table[0])["features"].shape == (2,)
    assert len(data.csv(file)[0]) == 8
    assert next(iter(data.Table({name: [1.0, 2.0]}, label=False).kinds)) == name


@pytest.mark.parametrize("name", NAMES)
def test_names_and_tags_of_runs(name, tmp_path, capsys):
    folder = written(tmp_path / "one", trained(1))
    kept = " ".join(name.split())
    if len(name) > 200:
        with pytest.raises(ConfigError, match="name wants at most 200 characters, received 300"):
            write_about(folder, name=name)
        name = kept = name[:50]
    write_about(folder, name=name, tags=[name, "other"], note=name)
    assert (about(folder).name, about(folder).tags) == (kept, tuple(filter(None, (kept, "other"))))
    assert about(folder).note == name
    row = list_runs(tmp_path).runs[0]
    assert (row.name, row.tags) == (kept, about(folder).tags)
    assert main(["runs", str(tmp_path)]) == 0
    assert main(["runs", "show", str(folder)]) == 0
    shown = capsys.readouterr().out
    assert "\u202e" not in shown, "text that changes the direction of what follows"
    assert kept.isprintable() <= (kept in shown)
