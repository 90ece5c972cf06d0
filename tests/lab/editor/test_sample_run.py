"""Inspection: statistics of parameters, one sample through a model, and their routes."""

import itertools
import json
import math
import os
import time

import numpy as np
import pytest
from tornado.httpclient import HTTPClientError

import labdl
from labdl import lab, nn
from labdl.errors import FileFormatError
from labdl.graph import Edge, Graph, Node
from labdl.lab.editor import inspection, sample_run
from labdl.lab.editor.array_stats import BINS, figures
from labdl.lab.editor.model_sync import ModelSync
from labdl.lab.widgets import front_end
from labdl.runs.array_preview import picture
from labdl.saving import save, save_parameters
from labdl.spec import Spec

pytest_plugins = ["pytest_jupyter.jupyter_server"]


@pytest.fixture
def labdl_fetch(jp_fetch):
    async def fetch(route, *, body=None, **params):
        content = {} if body is None else {"method": "POST", "body": json.dumps(body)}
        try:
            response = await jp_fetch("labdl", route, params=params, **content)
        except HTTPClientError as error:
            response = error.response
        return response.code, json.loads(response.body)

    return fetch


def of(array: np.ndarray) -> dict:
    found = figures([array], shape=array.shape, dtype=array.dtype.name)
    json.dumps(found, allow_nan=False)
    return found


def network() -> Graph:
    """An image, a convolution, an activation, and two numbers."""
    layers = {
        "a": Node("Input", "image", {"shape": (None, 1, 8, 8)}),
        "b": Node("Conv2d", "conv", {"out_channels": 4, "kernel_size": 3}),
        "c": Node("ReLU", "relu"),
        "d": Node("Flatten", "flat"),
        "e": Node("Linear", "head", {"out_features": 2}),
    }
    chain = list(layers)
    return Graph(layers, {f"e{i}": Edge(*pair) for i, pair in enumerate(itertools.pairwise(chain))})


class TestPrediction:
    def test_the_classes_of_a_sample_are_those_of_the_model(self):
        graph = Graph({**network().nodes, "e": Node("Linear", "head", {"out_features": 10})}, network().edges)
        model = graph.to_module().build(backend="numpy", seed=1)
        shown = sample_run.answer(model, "digits")
        x, y = (array[shown["index"]] for array in sample_run._test_set("digits").arrays)
        scores = labdl.predict(model, x[None].astype("float32"))[0]
        shares = np.exp(scores) / np.exp(scores).sum()
        classes = shown["prediction"]["classes"]
        assert shown["prediction"]["target"] == str(int(y))
        assert [int(c["name"]) for c in classes] == list(np.argsort(-shares)[:5])
        np.testing.assert_allclose([c["probability"] for c in classes], np.sort(shares)[::-1][:5], rtol=1e-5)

    @pytest.mark.parametrize("features", [2, 11])
    def test_a_model_for_other_classes_predicts_none(self, features):
        graph = Graph({**network().nodes, "e": Node("Linear", "head", {"out_features": features})}, network().edges)
        assert sample_run.answer(graph.to_module().build(backend="numpy"), "digits")["prediction"] is None


class TestFigures:
    def test_agree_with_numpy(self):
        values = np.random.default_rng(0).standard_normal((50, 40)).astype("float32")
        values[:, :10] = 0
        found = of(values)
        expected = values.mean(), values.std(), values.min(), values.max(), 0.25
        assert [found[k] for k in ("mean", "std", "min", "max", "zeros")] == pytest.approx(expected, rel=1e-4)
        assert (found["shape"], found["dtype"], found["size"], found["counted"]) == ([50, 40], "float32", 2000, 2000)
        assert found["histogram"]["counts"] == np.histogram(values.astype("float64"), BINS)[0].tolist()

    def test_what_is_not_finite_is_counted_apart(self):
        found = of(np.array([1, np.nan, 3, np.inf, -np.inf, 0], "float32"))
        assert (found["not_finite"], found["mean"], found["max"]) == (3, pytest.approx(4 / 3, rel=1e-5), 3)
        assert sum(found["histogram"]["counts"]) == 3

    @pytest.mark.parametrize("array", [np.full(3, np.nan), np.empty((0, 4)), np.array(["a", "b"]), np.array([1 + 2j])])
    def test_statistics_of_empty_arrays_and_texts(self, array):
        found = of(array)
        assert found["mean"] is None
        assert found["histogram"] is None

    def test_ranges_at_the_ends_of_what_numbers_can_be(self):
        assert of(np.array([-1.7e308, 1.7e308]))["histogram"] is None
        assert sum(of(np.array([0, 5e-324]))["histogram"]["counts"]) == 2
        assert sum(of(np.array([1, np.nextafter(1, 2)]))["histogram"]["counts"]) == 2
        assert of(np.full(7, 0.5))["histogram"] == {"low": 0.5, "high": 0.5, "counts": [7]}
        assert of(np.array([True, False]))["mean"] == 0.5


class TestPicture:
    def test_pixels_of_an_image(self):
        image = np.array([[[0, 1], [2, 4]]], "float32")
        found = picture(image, 10_000)
        assert (found["width"], found["height"], found["tiles"], found["colors"]) == (2, 2, 1, 1)
        assert found["data"] == "AECA/w=="  # 0, 64, 128, 255
        assert picture(np.concatenate([image] * 3), 10_000)["colors"] == 3
        assert picture(np.moveaxis(image, 0, -1), 10_000, channels_last=True) == found

    def test_a_large_picture_is_made_of_means(self):
        found = picture(np.kron(np.array([[0.0, 1.0]]), np.ones((200, 100))), 4096)
        assert (found["width"], found["height"]) == (64, 64)
        assert found["data"].startswith("AAAA")

    @pytest.mark.parametrize("budget", [100, 1000, 65536])
    def test_a_budget_holds(self, budget):
        found = picture(np.random.default_rng(0).standard_normal((40, 90, 120)), budget)
        assert len(found["data"]) * 3 / 4 <= budget + 3
        assert found["channels"] == 40

    @pytest.mark.parametrize("shape", [(5,), (4, 1, 1), (4, 0, 3), (1, 2, 3, 4)])
    def test_arrays_that_are_not_images(self, shape):
        assert picture(np.zeros(shape), 10_000) is None

    def test_values_that_are_not_finite(self):
        assert picture(np.full((3, 3), np.nan), 10_000) is None
        assert picture(np.array([[0, np.nan], [np.inf, 1]]), 10_000)["data"] == "AAD//w=="


class TestWeights:
    def test_only_of_the_layers_asked_for(self, tmp_path):
        names = ("conv/kernel:0", "conv/bias:0", "conv1/kernel:0", "block/deep/kernel:0")
        save_parameters({name: np.ones((2, 3), "float32") for name in names}, tmp_path / "net.npz")
        found = inspection.weights(tmp_path / "net.npz", ["conv", "block", "gone"])
        assert {p["name"] for p in found["parameters"]} == {"conv/kernel:0", "conv/bias:0", "block/deep/kernel:0"}
        assert found["file"] == "net.npz"
        assert abs(found["saved"] - time.time()) < 60
        [one] = inspection.weights(tmp_path / "net.npz", ["conv/bias:0"])["parameters"]
        assert (one["name"], one["shape"], one["mean"]) == ("conv/bias:0", [2, 3], 1)

    @pytest.mark.parametrize("pack", [np.savez, np.savez_compressed])
    def test_a_large_parameter_is_sampled(self, pack, tmp_path, monkeypatch):
        monkeypatch.setattr(inspection, "SAMPLED", 10 * inspection._BLOCK)
        values = np.arange(200_000, dtype="float32").reshape(400, 500)
        pack(tmp_path / "net.npz", **{"a/kernel:0": values, "a/bias:0": np.zeros(3)})
        [large, small] = inspection.weights(tmp_path / "net.npz", ["a"])["parameters"]
        assert (large["size"], large["counted"]) == (200_000, 10 * inspection._BLOCK)
        assert (large["min"], large["max"]) == (0, 199_999)
        assert large["mean"] == pytest.approx(100_000, rel=0.01)
        assert (small["size"], small["counted"]) == (3, 3)

    def test_many_parameters_are_counted(self, tmp_path):
        save_parameters({f"a/{i}/kernel:0": np.zeros(1) for i in range(inspection.SHOWN + 5)}, tmp_path / "net.npz")
        found = inspection.weights(tmp_path / "net.npz", ["a"])
        assert (len(found["parameters"]), found["left_out"]) == (inspection.SHOWN, 5)

    def test_cut_files_are_refused(self, tmp_path, monkeypatch):
        file = tmp_path / "net.npz"
        np.savez(file, **{"a/kernel:0": np.zeros(5000, "float32")})
        data = bytearray(file.read_bytes())
        data[300:310] = b"0123456789"
        file.write_bytes(data)
        with pytest.raises(FileFormatError, match="checksum"):
            inspection.weights(file, ["a"])
        monkeypatch.setattr(inspection, "_PACKED", 100)
        monkeypatch.setattr(inspection, "SAMPLED", inspection._BLOCK)
        np.savez_compressed(file, **{"a/kernel:0": np.random.default_rng(0).random(5000)})
        with pytest.raises(FileFormatError, match="too large to inspect"):
            inspection.weights(file, ["a"])


class TestActivations:
    def test_of_every_node(self):
        model = network().to_module().build(backend="torch", seed=0)
        image = np.random.default_rng(0).random((1, 1, 8, 8), "float32")
        found = inspection.activations(model, [image])
        assert list(found) == list("abcde")
        assert found["a"]["output"]["mean"] == pytest.approx(image.mean(), rel=1e-4)
        assert found["b"]["output"]["shape"] == [1, 4, 6, 6]
        assert (found["b"]["output"]["picture"]["tiles"], found["e"]["output"]["picture"]) == (4, None)
        relu = labdl.to_numpy(model.run("relu", {"image": labdl.tensor(image, backend="torch")}))
        assert found["c"]["output"]["zeros"] == pytest.approx((relu == 0).mean(), rel=1e-4)
        assert model.training

    def test_several_outputs_and_shared_layers(self):
        graph = Graph(
            {
                "x": Node("Input", "x", {"shape": (None, 5, 3)}),
                "l": Node("LSTM", "lstm", {"hidden_size": 4}),
                "m": Node("Linear", "one", {"out_features": 4}),
                "n": Node("Linear", "again", {}, "m"),
            },
            {"1": Edge("x", "l"), "2": Edge("l", "m"), "3": Edge("m", "n")},
        )
        found = inspection.activations(graph.to_module().build(backend="torch"), [np.ones((1, 5, 3), "float32")])
        assert len(found["l"]) > 1
        assert found["n"]["output"]["shape"] == [1, 5, 4]

    def test_outputs_without_a_sample(self):
        graph = Graph(
            {"x": Node("Input", "x", {"shape": (None, 3, 4)}), "r": Node("ReLU", "relu")}, {"e": Edge("x", "r")}
        )
        found = inspection.activations(graph.to_module().build(backend="torch"), [np.empty((0, 3, 4), "float32")])
        assert (found["r"]["output"]["mean"], found["r"]["output"]["picture"]) == (None, None)

    def test_the_answer_stays_small(self):
        nodes = {"n0": Node("Input", "image", {"shape": (None, 3, 64, 64)})}
        nodes |= {f"n{i}": Node("Conv2d", f"c{i}", {"out_channels": 16, "kernel_size": 1}) for i in range(1, 200)}
        edges = {f"e{i}": Edge(f"n{i - 1}", f"n{i}") for i in range(1, 200)}
        model = Graph(nodes, edges).to_module().build(backend="torch")
        answer = json.dumps(sample_run.answer(model), allow_nan=False)
        assert len(answer) < 2_000_000
        assert answer.count('"tiles": 16') == 199


class TestSample:
    def test_of_a_data_set_where_the_shape_fits(self):
        [image], origin = sample_run.sample([Spec((None, 1, 8, 8))], "digits", seed=0)
        assert (image.shape, image.dtype, origin["dataset"]) == ((1, 1, 8, 8), "float32", "digits")
        assert 0 <= image.min() <= image.max() <= 1
        assert sample_run.sample([Spec((None, 1, 8, 8))])[1]["dataset"] == "digits"
        assert sample_run.sample([Spec((None, 1, None, 8), "float16")])[0][0].dtype == "float16"

    def test_drawn_where_none_fits(self):
        specs = [Spec((None, 3, None)), Spec((None, 7), "int64"), Spec((2, 2), "bool"), Spec((None, 2), "bfloat16")]
        arrays, origin = sample_run.sample(specs, "digits")
        assert origin == {"dataset": None, "index": None}
        assert [a.shape for a in arrays] == [(1, 3, 32), (1, 7), (2, 2), (1, 2)]
        assert [a.dtype.name for a in arrays] == ["float32", "int64", "bool", "bfloat16"]
        assert set(np.unique(arrays[1])) <= {0, 1}


class TestModelSync:
    def test_parameters_under_the_names_of_the_canvas(self):
        model = nn.Sequential(nn.Linear(3), nn.Linear(2)).build((None, 4), backend="torch")
        sync = ModelSync(model)
        graph = sync.graph
        last = [i for i, n in graph.nodes.items() if n.name == "1"]
        nodes = {i: Node(n.type, "renamed", n.params) if i in last else n for i, n in graph.nodes.items()}
        canvas = Graph(nodes, graph.edges, name=graph.name, groups=graph.groups)
        found = sync.parameters(canvas, ["renamed", "nobody"])
        assert set(found) == {"renamed/kernel:0", "renamed/bias:0"}
        assert found["renamed/bias:0"] is dict(model.named_parameters())["1/bias:0"]
        assert ModelSync(network()).parameters(network(), ["conv"]) == {}

    def test_a_sample_leaves_the_model_alone(self):
        model = nn.Sequential(nn.Linear(3)).build((None, 4), backend="torch")
        sync = ModelSync(model)
        runs = sync.runnable_model(sync.graph)
        for name, value in model.state_dict().items():
            np.testing.assert_array_equal(runs.state_dict()[name], value)
        assert sync.model is model
        assert sync.build(sync.graph, None) is model


class TestWidget:
    @pytest.fixture
    def ask(self, tmp_path, monkeypatch):
        """Asks an editor as its page would."""
        for name in ("editor.js", "editor.css"):
            (tmp_path / name).write_text("")
        monkeypatch.setattr(front_end, "STATIC", tmp_path)

        def ask(editor, **content):
            replies = []
            monkeypatch.setattr(editor, "send", lambda reply, buffers=None: replies.append(reply))
            editor._handle_custom_msg({"type": "request", "id": "1", **content}, [])
            [reply] = replies
            json.dumps(reply, allow_nan=False)
            return reply

        return ask

    def test_weights_are_those_of_the_model(self, ask):
        editor = lab.Editor(network())
        assert ask(editor, name="weights", graph=editor._graph, names=["conv"])["result"]["parameters"] == []
        model = editor.model("torch")
        found = ask(editor, name="weights", graph=editor._graph, names=["conv"])["result"]
        assert (found["source"], [p["name"] for p in found["parameters"]]) == (
            "model",
            ["conv/kernel:0", "conv/bias:0"],
        )
        model.get_parameters()["conv/bias:0"].value.data.fill_(3)
        [bias] = ask(editor, name="weights", graph=editor._graph, names=["conv/bias:0"])["result"]["parameters"]
        assert bias["mean"] == 3

    def test_a_sample_runs_through_what_is_on_the_canvas(self, ask):
        editor = lab.Editor(network().to_module().build(backend="torch"))
        model, graph = editor.model(), editor._graph
        [head] = [i for i, node in graph["nodes"].items() if node["name"] == "head"]
        found = ask(editor, name="sample", graph=graph)["result"]
        assert (found["weights"], found["backend"], found["nodes"][head]["output"]["shape"]) == (
            "model",
            "torch",
            [1, 2],
        )
        wider = {**graph["nodes"][head], "params": {"out_features": 5}}
        found = ask(editor, name="sample", graph=graph | {"nodes": graph["nodes"] | {head: wider}})["result"]
        assert found["nodes"][head]["output"]["shape"] == [1, 5]
        assert editor.model() is model

    @pytest.mark.parametrize(
        "content",
        [
            {"name": "weights", "names": "conv"},
            {"name": "weights"},
            {"name": "sample", "graph": {"nodes": 3}},
            {"name": "sample", "graph": None},
            {"name": "activations"},
        ],
    )
    def test_invalid_requests_have_error_messages(self, ask, content):
        editor = lab.Editor(network())
        assert ask(editor, **{"graph": editor._graph, **content})["error"]


@pytest.fixture
def document(jp_root_dir):
    """A model and its parameters, where Jupyter serves them."""
    model = network().to_module().build(backend="torch")
    save(model, jp_root_dir / "net.labdl")
    return jp_root_dir / "net.labdl"


async def test_route_answers_with_the_parameters_of_layers(labdl_fetch, document):
    status, answer = await labdl_fetch("weights", path="net.labdl", name="conv")
    assert status == 200
    assert [p["name"] for p in answer["parameters"]] == ["conv/kernel:0", "conv/bias:0"]
    assert answer["parameters"][0]["shape"] == [3, 3, 1, 4]
    status, answer = await labdl_fetch("weights", path="net.labdl", name="nobody")
    assert (status, answer["parameters"], answer["file"]) == (200, [], "net.npz")


async def test_no_parameters_yet(labdl_fetch, document):
    document.with_suffix(".npz").unlink()
    status, answer = await labdl_fetch("weights", path="net.labdl", name="conv")
    assert (status, answer) == (200, {"source": "file", "file": None, "saved": None, "parameters": [], "left_out": 0})
    os.mkfifo(document.with_suffix(".npz"))
    status, answer = await labdl_fetch("weights", path="net.labdl", name="conv")
    assert (status, answer["file"]) == (200, None)
    document.with_suffix(".npz").unlink()
    document.with_suffix(".npz").symlink_to("net.npz")
    status, answer = await labdl_fetch("weights", path="net.labdl", name="conv")
    assert (status, answer["file"]) == (200, None)


async def test_damaged_parameters_are_reported(labdl_fetch, document):
    document.with_suffix(".npz").write_bytes(b"PK\3\4 nothing")
    status, answer = await labdl_fetch("weights", path="net.labdl", name="conv")
    assert status == 400
    assert "net.npz is not a readable parameter file" in answer["message"]


@pytest.mark.parametrize(
    "path", ["", "gone.labdl", "../net.labdl", "%2e%2e/net.labdl", ".secret/net.labdl", "sub/../../net.labdl"]
)
async def test_paths_that_are_not_served(labdl_fetch, document, path, jp_root_dir):
    (jp_root_dir / "sub").mkdir()
    (jp_root_dir / ".secret").mkdir()
    for place in (jp_root_dir.parent, jp_root_dir / ".secret"):
        for suffix in (".labdl", ".npz"):
            (place / f"net{suffix}").write_bytes(document.with_suffix(suffix).read_bytes())
    status, _ = await labdl_fetch("weights", path=path, name="conv")
    assert status == 404


@pytest.mark.parametrize("away", ["../elsewhere.npz", ".hidden/elsewhere.npz"])
async def test_links_outside_of_the_root_are_rejected(labdl_fetch, document, away, jp_root_dir):
    target = jp_root_dir / away
    target.parent.mkdir(exist_ok=True)
    document.with_suffix(".npz").rename(target)
    document.with_suffix(".npz").symlink_to(target)
    status, answer = await labdl_fetch("weights", path="net.labdl", name="conv")
    assert status == 404
    assert "parameters" not in answer


async def test_number_of_names_is_limited(labdl_fetch, document, monkeypatch):
    assert (await labdl_fetch("weights", path="net.labdl"))[0] == 400
    monkeypatch.setattr("labdl.lab.server.extension.NAMES_LIMIT", 0)
    status, answer = await labdl_fetch("weights", path="net.labdl", name="conv")
    assert status == 400
    assert "received 1" in answer["message"]


async def test_permission_is_needed(jp_fetch, document):
    with pytest.raises(HTTPClientError) as error:
        await jp_fetch("labdl", "weights", params={"path": "net.labdl"}, headers={"Authorization": "token wrong"})
    assert error.value.code == 403


async def test_route_gives_the_code_of_a_sample(labdl_fetch, document):
    graph = network().to_dict() | {"name": "it's \"quoted\" \\ \n'''"}
    body = {"path": "net.labdl", "graph": graph, "backend": "torch", "dataset": "digits"}
    status, answer = await labdl_fetch("sample", body=body)
    assert (status, answer["backend"]) == (200, "torch")
    assert "parameters='net.npz'" in answer["code"]
    scope = {}
    exec(answer["code"].partition("run_sample(")[0].replace("from labdl", "#"), scope)
    assert scope["graph"]["name"] == graph["name"]
    assert (await labdl_fetch("sample", body=body | {"backend": None}))[0] == 200


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"backend": "jax"}, "jax"),
        ({"backend": 3}, "backend"),
        ({"dataset": "x'); import os"}, "dataset"),
        ({"graph": {"nodes": {}, "edges": {}}}, "Input"),
        ({"graph": 3}, "graph"),
        ({"path": ".x/net.labdl"}, "does not exist"),
    ],
)
async def test_bad_requests_for_a_sample(labdl_fetch, document, change, expected):
    status, answer = await labdl_fetch("sample", body={"path": "net.labdl", "graph": network().to_dict()} | change)
    assert status in (400, 404)
    assert expected in answer["message"]


async def test_a_graph_with_problems_gives_no_sample(labdl_fetch, document):
    graph = network().to_dict()
    graph["nodes"]["b"]["params"]["kernel_size"] = 99
    status, answer = await labdl_fetch("sample", body={"path": "net.labdl", "graph": graph})
    assert status == 400
    assert "conv" in answer["message"]


class TestRunSample:
    def shown(self, monkeypatch, tmp_path, graph=None, **settings):
        shown = []
        monkeypatch.setattr("IPython.display.display", lambda data, raw: shown.append(data))
        monkeypatch.chdir(tmp_path)
        sample_run.run_sample((graph or network()).to_dict(), backend="torch", parameters="net.npz", **settings)
        return shown[0][sample_run.MIME]

    def test_with_the_parameters_beside(self, monkeypatch, tmp_path):
        model = network().to_module().build(backend="torch")
        for parameter in model.parameters():
            parameter.value.data.fill_(0.25)
        save_parameters(model, tmp_path / "net.npz")
        answer = self.shown(monkeypatch, tmp_path)
        assert (answer["weights"], answer["file"], answer["dataset"]) == ("file", "net.npz", "digits")
        assert answer["nodes"]["e"]["output"]["std"] == 0
        assert math.isfinite(answer["seconds"])

    def test_with_new_ones_where_they_do_not_fit(self, monkeypatch, tmp_path):
        assert self.shown(monkeypatch, tmp_path)["weights"] == "new"
        save_parameters({"other/kernel:0": np.zeros(3)}, tmp_path / "net.npz")
        answer = self.shown(monkeypatch, tmp_path)
        assert answer["weights"] == "new"
        assert answer["reason"]
