"""Names that people write are kept as they are by every writer and reader, or refused where they are typed."""

import csv

import numpy as np
import pytest

import labdl
from labdl import Graph, data, nn
from labdl.data import transforms as T
from labdl.errors import ConfigError
from labdl.graph import as_graph
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
