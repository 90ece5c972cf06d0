"""The routes of the zoo dialog and of the comparison of two models."""

import json

import pytest
from tornado.httpclient import HTTPClientError

from labdl import lab
from labdl.errors import ConfigError, ModelError
from labdl.graph import Edge, Graph, Node
from labdl.lab.editor import comparison, service, zoo
from labdl.lab.widgets import front_end
from labdl.models.zoo import ZOO

pytest_plugins = ["pytest_jupyter.jupyter_server"]


def line(size, name="net"):
    nodes = {"i": Node("Input", "input", {"shape": (None, 4)}), "a": Node("Linear", "head", {"out_features": size})}
    return Graph(nodes, {"e": Edge("i", "a")}, name=name)


def test_the_list_has_every_model_with_its_form():
    listed = json.loads(json.dumps(zoo.models_list()))["models"]
    assert {model["name"] for model in listed} == ZOO.keys()
    tasks = [model["task"] for model in listed]
    assert tasks == sorted(tasks)
    resnet = next(model for model in listed if model["name"] == "resnet50")
    assert resnet["parameters"] == 25_557_032
    assert resnet["schema"]["properties"]["classes"]["default"] == 1000


def test_a_graph_of_the_zoo_can_be_kept_in_a_file():
    graph = zoo.graph("resnet18", {"classes": 7})
    assert service.decode(service.encode(graph), "resnet18.labdl")["nodes"] == json.loads(json.dumps(graph))["nodes"]
    assert graph["name"] == "resnet18"
    with pytest.raises(ConfigError, match="did you mean"):
        zoo.graph("resnet19", {})


def test_a_difference_is_json_data():
    old, new = line(3), line(5, "other")
    found = json.loads(json.dumps(comparison.difference(old.to_dict(), new.to_dict())))
    assert found == {
        "same": {"i": "i", "a": "a"},
        "removed": [],
        "added": [],
        "renamed": [],
        "removed_edges": [],
        "added_edges": [],
        "changed": [{"old": "a", "new": "a", "settings": {"out_features": [3, 5]}}],
        "name": ["net", "other"],
        "classes": {},
        "ties": {},
    }
    masked = Node("ops.maximum", "bound", {"y": float("-inf")})
    nodes = [{**line(3).nodes, "b": Node("ops.maximum", "bound", {"y": 0.0})}, {**line(3).nodes, "b": masked}]
    (change,) = comparison.difference(*(Graph(n).to_dict() for n in nodes))["changed"]
    assert change["settings"] == {"y": [0.0, {"float": "-inf"}]}


def test_what_cannot_be_compared_is_refused(monkeypatch):
    with pytest.raises(ModelError, match="this is not graph data"):
        comparison.difference(line(3).to_dict(), {"nodes": 3})
    monkeypatch.setattr(comparison, "LARGEST", 3)
    with pytest.raises(ModelError, match="have 4 layers, and more than 3 are not compared here"):
        comparison.difference(line(3).to_dict(), line(3).to_dict())


async def test_routes(jp_fetch):
    async def post(route, body):
        answer = await jp_fetch("labdl", *route.split("/"), method="POST", body=json.dumps(body))
        return json.loads(answer.body)

    assert len(json.loads((await jp_fetch("labdl", "zoo")).body)["models"]) == len(ZOO)
    assert len((await post("zoo/model", {"name": "resnet18"}))["nodes"]) == 69
    assert (await post("diff", {"old": line(3).to_dict(), "new": line(3).to_dict()}))["changed"] == []
    with pytest.raises(HTTPClientError) as refused:
        await post("zoo/model", {"name": "resnet18", "settings": {"classes": "many"}})
    assert refused.value.code == 400
    assert "classes wants an integer or nothing" in json.loads(refused.value.response.body)["message"]


async def test_new_file_does_not_replace_another(jp_fetch, jp_root_dir):
    async def put(**query):
        body = json.dumps({"content": line(3).to_dict()})
        return await jp_fetch("labdl", "graph", method="PUT", body=body, params={"path": "net.labdl", **query})

    assert (await put(new="1")).code == 201
    with pytest.raises(HTTPClientError) as refused:
        await put(new="1")
    assert refused.value.code == 409
    assert "already exists" in json.loads(refused.value.response.body)["message"]
    assert (await put()).code == 200


# -- the widget


@pytest.fixture
def page(tmp_path, monkeypatch):
    """A widget of two models, and how to ask it as its page does."""
    for name in ("editor.js", "editor.css"):
        (tmp_path / name).write_text(name)
    monkeypatch.setattr(front_end, "STATIC", tmp_path)
    widget = lab.Diff(line(3), line(5, "other"))
    sent = []
    monkeypatch.setattr(widget, "send", sent.append)

    def ask(**content):
        widget._on_message(widget, {"type": "request", "id": "1", **content}, [])
        return sent.pop() if sent else None

    yield widget, ask
    widget.close()


def test_the_widget_answers_its_page(page):
    widget, ask = page
    state = widget.get_state()
    old, new = state["_old"], state["_graph"]
    assert (old["name"], new["name"]) == ("net", "other")
    assert ask(name="difference", graph=old, new=new)["result"] == comparison.difference(old, new)
    assert ask(name="check", graph=old)["result"] == service.check(old)
    assert ask(name="layers")["result"] == json.loads(json.dumps(service.layers()))
    assert ask(name="layout", nodes={}, edges=[], frames=[], direction="down")["result"] == {"positions": {}}
    assert str(widget.difference) == "model net -> other\n~ head (Linear): out_features 3 -> 5"
    bundle = widget._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    assert data["text/plain"] == str(widget.difference)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"name": "run"}, "can request layers, layout, check, difference, received 'run'"),
        ({"name": ["check"]}, "can request layers"),
        ({"name": "check"}, "'check' needs a graph"),
        ({"name": "difference", "graph": {}}, "'difference' needs two graphs"),
        ({"name": "difference", "graph": {}, "new": {}}, "this is not graph data"),
    ],
)
def test_unknown_widget_requests_have_error_messages(page, content, message):
    _, ask = page
    assert message in ask(**content)["error"]
    assert ask(type="other", **content) is None
