"""Unauthorized requests and hostile data at every route: an error message, and the server continues."""

import asyncio
import gzip
import io
import json
import os
import re
import sys
import time
from pathlib import Path

import h5py
import numpy as np
import pytest
from example_graphs import graph_with_input
from tornado.httpclient import HTTPClientError
from tornado.web import RequestHandler

from labdl.lab.editor import service
from labdl.lab.server import base_handler, extension
from labdl.nn.schema import LAYERS, layer_schema

sys.path.append(str(Path(__file__).parents[2] / "core" / "untrusted"))
from hostile_files import RUN_LINES, run_file

pytest_plugins = ["pytest_jupyter.jupyter_server"]

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
WITH_BODY = ("POST", "PUT", "PATCH")


def methods_of(handler) -> list[str]:
    return [m for m in METHODS if getattr(handler, m.lower()) is not RequestHandler._unimplemented_method]


CALLS = [(route, method) for route, handler in extension.ROUTES.items() for method in methods_of(handler)]
SENDING = [(route, method) for route, method in CALLS if method in WITH_BODY]


@pytest.fixture
def good(jp_root_dir):
    """A body that holds all that any route asks for, and the query likewise."""
    graph = graph_with_input()
    (jp_root_dir / "net.labdl").write_bytes(service.encode(graph))
    folder = jp_root_dir / "runs" / "one"
    folder.mkdir(parents=True)
    (folder / "events.jsonl").write_text(json.dumps({"kind": "start", "pid": os.getpid(), "time": 0.0}) + "\n")
    return {
        "graph": graph,
        "content": graph,
        "path": "net.labdl",
        "backend": "torch",
        "dataset": "digits",
        "optimizer": "adam",
        "learning_rate": 0.01,
        "epochs": 2,
        "batch_size": 32,
        "command": "stop",
        "value": 1,
        "name": "resnet18",
        "settings": {"classes": 2},
        "old": graph,
        "new": graph,
        "start": 0,
        "count": 1,
        "index": 0,
        "entry": "image",
        "step": 0,
        "pipeline": {"steps": [], "split": {}},
    }


@pytest.fixture
def ask(jp_fetch):
    """Ask a route, which must answer soon; status, the answer's sentence, and all of its text."""

    async def fetch(route, method="GET", body=None, *, headers=None, **params):
        given = {"method": method, "params": params, "request_timeout": 30, "allow_nonstandard_methods": True}
        if method in WITH_BODY:
            given["body"] = body if isinstance(body, (str, bytes)) else json.dumps(body)
        if headers is not None:
            given["headers"] = headers
        try:
            response = await jp_fetch("labdl", *route.split("/"), **given)
        except HTTPClientError as error:
            response = error.response
            if response is None:
                pytest.fail(f"{method} {route} gave no answer: {error}")
        text = response.body.decode(errors="replace") if response.body else ""
        answer = json.loads(text) if text.startswith("{") else {}
        return response.code, answer.get("message") or "", text

    return fetch


def refused(status, message, text="", *, code=range(400, 500)):
    assert status in code, (status, text[:300])
    assert len(message) > 10, text[:300]
    assert "Traceback" not in text
    assert len(text) < 2000


# --- who may ask, and how ---


def test_every_route_is_known_here(jp_serverapp):
    """Whatever the extension adds to the server stands in its table of routes, which these tests walk."""
    app = jp_serverapp.web_app
    rules = [inner for rule in app.default_router.rules for inner in getattr(rule.target, "rules", [])]
    ours = {rule.target for rule in rules if getattr(rule.target, "__module__", "").startswith("labdl.")}
    assert ours == set(extension.ROUTES.values())
    assert all(issubclass(handler, base_handler.LabDLHandler) and methods_of(handler) for handler in ours)


@pytest.mark.parametrize(("route", "method"), CALLS)
async def test_requests_need_a_token(ask, good, route, method):
    for headers in (
        {"Authorization": ""},
        {"Authorization": "token wrong"},
        {"Authorization": "", "Cookie": "username=somebody"},
    ):
        status, _, text = await ask(route, method, good, headers=headers, path="net.labdl")
        assert status in (401, 403), headers
        assert "net" not in text


@pytest.mark.sample(every=4)
@pytest.mark.parametrize("route", extension.ROUTES)
async def test_other_methods_are_refused(ask, good, route):
    for method in set(METHODS) - set(methods_of(extension.ROUTES[route])):
        status, _, _ = await ask(route, method, good, path="net.labdl")
        assert status == 405, method


@pytest.mark.sample(every=4)
@pytest.mark.parametrize(("route", "method"), SENDING)
async def test_a_page_of_another_site_cannot_send(
    ask, good, jp_serverapp, jp_base_url, http_server_client, route, method
):
    """The browser's cookie alone is not enough: a foreign page would send that too."""
    login = await http_server_client.fetch(
        f"{jp_base_url}?token={jp_serverapp.identity_provider.token}", follow_redirects=False, raise_error=False
    )
    cookies = [c.partition(";")[0] for c in login.headers.get_list("Set-Cookie")]
    cookies = [c for c in cookies if c.startswith("username-")]
    assert cookies, "logging in gave no cookie"
    headers = {"Authorization": "", "Cookie": "; ".join(cookies)}
    assert (await ask("layers", headers=headers))[0] == 200  # it is a cookie that opens
    status, _, text = await ask(route, method, good, headers=headers, path="net.labdl")
    assert status == 403
    assert "_xsrf" in text


# --- bodies ---

DEEP = 100_000
BODIES = {
    "nothing": "",
    "no JSON": "{nonsense",
    "bytes": b"\xff\xfe\x00",
    "a list": "[]",
    "a number": "3",
    "null": "null",
    "not a number": "NaN",
    "a huge number": "1" * 100_000,
    "deep lists": "[" * DEEP + "]" * DEEP,
    "deep objects": '{"graph":' * DEEP + "1" + "}" * DEEP,
    "compressed": gzip.compress(b"{" + b" " * 50_000_000 + b"}"),
}


@pytest.mark.sample(every=4)
@pytest.mark.parametrize(("route", "method"), SENDING)
async def test_bodies_that_are_no_objects(ask, route, method):
    for name, body in BODIES.items():
        for encoding in ("gzip", "") if name == "compressed" else ("",):
            status, message, text = await ask(
                route,
                method,
                body,
                path="new.labdl",
                **({"headers": {"Content-Encoding": encoding}} if encoding else {}),
            )
            refused(status, message, text)
    assert (await ask("layers"))[0] == 200


@pytest.mark.sample(every=4)
@pytest.mark.parametrize(("route", "method"), SENDING)
async def test_deep_values_in_fields(ask, good, route, method):
    """What the parser still takes may be too deep for what comes after it."""
    for depth in (50, 200, 400, 900, 5000):
        deep = "[" * depth + "]" * depth
        graph = json.dumps(good["graph"]).replace('"params": {', f'"params": {{"deep": {deep}, ', 1)
        body = json.dumps(good | {"graph": 0, "content": 0}).replace(
            '"graph": 0, "content": 0', f'"graph": {graph}, "content": {graph}'
        )
        status, message, text = await ask(route, method, body, path="deep.labdl")
        if status >= 400:
            refused(status, message, text)
        if route == "graph" and status < 300:  # what is written can be read
            assert (await ask("graph", path="deep.labdl"))[0] == 200, depth


WRONG = [
    None,
    True,
    3,
    -1,
    0,
    1e308,
    10**400,
    float("inf"),
    float("nan"),
    "",
    "x" * 100_000,
    "\0",
    "\ud800",
    "../../x",
    [],
    [[]],
    {},
    {"a": 1},
    {"nodes": 1},
    {"nodes": {}, "edges": []},
]


@pytest.mark.sample(every=30)
@pytest.mark.parametrize(("route", "method"), SENDING)
async def test_fields_of_wrong_types(ask, good, route, method):
    for field in good:
        for value in WRONG:
            status, message, text = await ask(route, method, good | {field: value}, path="new.labdl")
            assert status < 500, (field, value if not isinstance(value, str) else value[:10], text[:300])
            if status >= 400:
                refused(status, message, text)
    assert (await ask("layers"))[0] == 200


@pytest.mark.parametrize(
    "change",
    [
        lambda g: g["nodes"]["input"].update(type=3),
        lambda g: g["nodes"]["input"].update(name="a" * 1_000_000),
        lambda g: g["nodes"]["input"].update(name="/".join("a" * 60_000)),
        lambda g: g["nodes"]["input"].update(name="__class__"),
        lambda g: g.update(groups={"/".join("a" * 60_000): "Block"}),
        lambda g: extend(g, "SinusoidalPositions", [None, 2**35, 2**10]),
        lambda g: extend(g, "ops.unstack", [None, 10**8], axis=1),
        lambda g: extend(g, "ops.split", [None, 10**8], axis=1, sections=10**8),
        lambda g: g["nodes"]["input"].update(params=[]),
        lambda g: g["nodes"]["input"].update(params={"shape": [None, 10**400]}),
        lambda g: g["nodes"]["input"].update(params={"shape": [1] * 5000}),
        lambda g: g["nodes"]["input"].update(params={"shape": [10**30, 10**30]}),
        lambda g: g["nodes"]["input"].update(params={"shape": [float("nan")]}),
        lambda g: g["nodes"]["input"].update(shares="input"),
        lambda g: g["nodes"].update(input=None),
        lambda g: g["positions"].update(input=[float("nan"), float("inf")]),
        lambda g: g["positions"].update(input=[10**400, 0]),
        lambda g: g["positions"].update(input=["1e999", "0"]),
        lambda g: g["edges"].update(e={"source": "input", "target": "input"}),
        lambda g: g["edges"].update(e={"source": "\ud800", "target": "input"}),
        lambda g: g.update(groups={"input": {}}),
        lambda g: g.update(groups=[1], ties=3),
        lambda g: g.update(name="\0"),
        lambda g: g.update(version=10**9),
    ],
)
async def test_hostile_graphs(ask, good, change):
    """RequestError, or taken: then the file that holds it can be read again."""
    change(good["graph"])
    begin = time.process_time()
    for route in ("check", "code", "drawing"):
        status, message, text = await ask(route, "POST", {"graph": good["graph"]})
        if status != 200:
            refused(status, message, text)
    status, message, text = await ask("graph", "PUT", {"content": good["graph"]}, path="hostile.labdl")
    if status == 201:
        assert (await ask("graph", path="hostile.labdl"))[0] == 200
    else:
        refused(status, message, text)
    assert time.process_time() - begin < 60


def extend(graph, kind, shape, **params):
    """Connect a layer or an operator to an input of this shape."""
    graph["nodes"]["wide"] = {"type": "Input", "name": "wide", "params": {"shape": shape}}
    graph["nodes"]["layer"] = {"type": kind, "name": "layer", "params": params}
    graph["edges"]["layer"] = {"source": "wide", "target": "layer"}


@pytest.mark.parametrize(("route", "method"), SENDING)
async def test_a_body_over_the_limit(ask, monkeypatch, route, method):
    monkeypatch.setattr(base_handler, "BODY_LIMIT", 1000)
    status, message, _ = await ask(route, method, "{" + " " * 2000 + "}", path="new.labdl")
    assert status == 413
    assert "larger" in message


@pytest.mark.sample(every=4)
@pytest.mark.parametrize(("route", "method"), SENDING)
async def test_wrong_content_length(ask, jp_http_port, jp_base_url, jp_auth_header, route, method):
    """A length far over any limit is answered, or the connection closed, before it has come."""
    reader, writer = await asyncio.open_connection("127.0.0.1", jp_http_port)
    head = [
        f"{method} {jp_base_url}labdl/{route}?path=new.labdl HTTP/1.1",
        "Host: localhost",
        f"Content-Length: {10**15}",
        *(f"{k}: {v}" for k, v in jp_auth_header.items()),
        "",
        "{",
    ]
    writer.write("\r\n".join(head).encode())
    answer = await asyncio.wait_for(reader.read(), 10)
    writer.close()
    assert answer == b"" or answer.split()[1].startswith(b"4"), answer[:100]
    assert (await ask("layers"))[0] == 200


ABSURD = [10**9, 10**30, -1, 1e308, "x" * 1000, [10**9] * 3, [[10**9] * 2] * 2, [1] * 2000, {"a": 1}]


@pytest.mark.sample(every=6)
@pytest.mark.parametrize("kind", LAYERS)
def test_absurd_settings_are_answered_soon(kind):
    """The check runs at every keystroke, beside the server's loop: what it cannot finish nobody can end."""
    cls = LAYERS[kind]
    schema, example = layer_schema(cls), cls.layer_example
    nodes, edges = {}, {}
    for port, sample in zip(schema["inputs"], example.inputs, strict=False):
        shape = list(getattr(sample, "shape", (2, 3)))
        nodes[port["name"]] = {"type": "Input", "name": f"in_{port['name']}", "params": {"shape": shape}}
        edges[port["name"]] = {"source": port["name"], "target": "layer", "target_port": port["name"]}
    for name in schema["schema"]["properties"]:
        for value in ABSURD:
            nodes["layer"] = {"type": kind, "name": "layer", "params": example.params | {name: value}}
            answer = service.check({"nodes": nodes, "edges": edges})
            json.dumps(answer, allow_nan=False)


# --- paths ---

PATHS = [
    "",
    "/",
    "..",
    "../out.labdl",
    "a/../../out.labdl",
    "%2e%2e/out.labdl",
    "..%2fout.labdl",
    "..\\out.labdl",
    "/etc/passwd",
    "//etc/passwd",
    "{outside}",
    "file://{outside}",
    ".hidden/net.labdl",
    ".net.labdl",
    "folder/.hidden/net.labdl",
    "net.labdl\0",
    "\0",
    "net.labdl/",
    "net.labdl/x",
    "x" * 300,
    "x/" * 5000,
    "\ud800",
    "~/out.labdl",
    "$HOME",
    "folder",
    "fifo.labdl",
    "folder.labdl",
    "text.labdl",
    "missing.labdl",
]

# names of files in the root, whatever they look like; a NUL is dropped before it comes to us
PLAIN = (
    "text.labdl",
    "net.labdl/",
    "net.labdl\0",
    "missing.labdl",
    "%2e%2e/out.labdl",
    "..%2fout.labdl",
    "..\\out.labdl",
    "$HOME",
)


@pytest.mark.sample(every=20)
@pytest.mark.parametrize(("route", "method"), CALLS)
async def test_hostile_paths_are_rejected(ask, good, jp_root_dir, route, method):
    outside = jp_root_dir.parent / "out.labdl"
    for folder in ("", ".hidden", "folder", "folder/.hidden", "folder.labdl"):
        (jp_root_dir / folder).mkdir(exist_ok=True)
        for name in ("net.labdl", ".net.labdl"):
            (jp_root_dir / folder / name).write_bytes(b"a secret of others")
    outside.write_bytes(b"a secret of others")
    (jp_root_dir / "text.labdl").write_bytes(b"a secret of others")
    os.mkfifo(jp_root_dir / "fifo.labdl")
    before = contents_of(jp_root_dir.parent)
    for path in PATHS:
        path = path.format(outside=outside)
        if path == "\ud800":
            params, body = {"path": b"\xed\xa0\x80"}, good | {"path": path}
        else:
            params, body = {"path": path}, good | {"path": path}
        if method == "PUT" and path in PLAIN:
            continue
        status, message, text = await ask(route, method, body, **params)
        assert status < 500, (path, text[:300])
        assert "a secret of others" not in text
        if status >= 400 and "path" in text:
            refused(status, message, text)
    assert contents_of(jp_root_dir.parent) == before
    assert (await ask("layers"))[0] == 200


def contents_of(folder: Path) -> dict:
    return {str(p): p.read_bytes() for p in folder.rglob("*") if p.is_file() and p.suffix in (".labdl", ".jsonl")}


async def test_links_out_of_the_root(ask, jp_root_dir):
    """Links are followed as Contents follows them, so that a linked folder of models works; but nothing else is told."""
    outside = jp_root_dir.parent / "outside"
    outside.mkdir()
    (outside / "text.labdl").write_bytes(b"secret")
    (outside / "net.labdl").write_bytes(service.encode(graph_with_input()))
    (jp_root_dir / "link").symlink_to(outside)
    (jp_root_dir / "link.labdl").symlink_to("/etc/passwd")
    assert (await ask("graph", path="link/net.labdl"))[0] == 200
    for path in ("link/text.labdl", "link.labdl"):
        status, message, text = await ask("graph", path=path)
        refused(status, message, text)
        assert "secret" not in text
        assert "root:" not in text


@pytest.mark.parametrize("offset", [-1, 2**63, 10**30, 1.5, "1", None, True, [0]])
async def test_offsets(ask, good, offset):
    body = {"runs": [{"path": "runs/one", "offset": offset, "alive": None}], "wait": 0}
    status, message, text = await ask("runs/follow", method="POST", body=body)
    refused(status, message, text)


@pytest.mark.sample(False)
@pytest.mark.parametrize("name", RUN_LINES)
async def test_runs_that_take_long_to_read(ask, jp_root_dir, name):
    run_file(jp_root_dir, RUN_LINES[name]())
    begin = time.process_time()
    followed = {"runs": [{"path": "run", "offset": 0, "alive": None}], "wait": 0}
    for route, method, path in (("runs", "GET", ""), ("runs/follow", "POST", ""), ("runs/picture", "GET", "run")):
        status, _, text = await ask(route, method, followed, path=path)
        assert status == 200, text[:300]
    assert time.process_time() - begin < 30


# --- files ---


class Bomb:
    def __reduce__(self):
        return os.system, ("touch ran-code",)


def hostile(change) -> bytes:
    buffer = io.BytesIO(service.encode(graph_with_input()))
    with h5py.File(buffer, "r+") as file:
        change(file)
    return buffer.getvalue()


def replace(file, path, **dataset):
    del file[path]
    return file.create_dataset(path, **dataset)


def link_out(file):
    del file["nodes/id"]
    file["nodes/id"] = h5py.ExternalLink("/etc/passwd", "/")


def link_itself(file):
    del file["nodes/id"]
    file["nodes/id"] = h5py.SoftLink("/nodes/id")


def pickled(file):
    import pickle

    for name in ("format", "name", "version", "parameters"):
        file.attrs[name] = np.void(pickle.dumps(Bomb()))
    replace(file, "nodes/params", data=np.frombuffer(pickle.dumps(Bomb()), "u1"))


def attributes_of_texts(file):
    file.attrs["name"] = "x" * 100
    file.attrs["version"] = ["a", "b"]


HOSTILE = {
    "a link out": link_out,
    "a link to itself": link_itself,
    "pickled objects": pickled,
    "attributes": attributes_of_texts,
    "huge sizes": lambda f: replace(f, "nodes/id", shape=(1 << 40,), dtype="S100", chunks=(1024,)),
    "sizes that are filled": lambda f: replace(f, "nodes/id", shape=(1 << 30,), dtype="S1"),
    "outside storage": lambda f: replace(f, "nodes/id", shape=(10,), dtype="S1", external=[("/etc/passwd", 0, 10)]),
    "a bomb": lambda f: replace(f, "nodes/params", data=np.zeros(50_000_000, "u1"), compression="gzip"),
    "objects": lambda f: replace(f, "nodes/id", data=["a"], dtype=h5py.string_dtype()),
    "references": lambda f: replace(f, "nodes/id", data=[f.ref], dtype=h5py.ref_dtype),
    "deep settings": lambda f: replace(f, "nodes/params", data=np.frombuffer(b"[" * 100_000, "u1")),
    "settings nested 900 deep": lambda f: replace(
        f, "nodes/params", data=np.frombuffer(b'[{"shape":' + b"[" * 900 + b"]" * 900 + b"}]", "u1")
    ),
    "a name of 60,000 words": lambda f: replace(f, "nodes/name", data=np.array([b"/".join([b"a"] * 60_000)])),
    "places that are none": lambda f: replace(f, "canvas/position", data=np.array([[np.nan, np.inf]])),
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_opening_a_hostile_file_runs_nothing(ask, good, jp_root_dir, monkeypatch, name):
    monkeypatch.chdir(jp_root_dir)
    (jp_root_dir / "hostile.labdl").write_bytes(hostile(HOSTILE[name]))
    status, message, text = await ask("graph", path="hostile.labdl")
    refused(status, message, text)
    assert not list(jp_root_dir.rglob("ran-code"))
    assert "root:" not in text


def version(number: int):
    return lambda file: file.attrs.__setitem__("version", number)


async def test_a_file_of_a_newer_version_is_shown_and_never_saved_over(ask, good, jp_fetch, jp_root_dir):
    data = hostile(version(99))
    (jp_root_dir / "newer.labdl").write_bytes(data)
    status, _, text = await ask("graph", path="newer.labdl")
    shown = json.loads(text)
    assert status == 200
    assert shown["writable"] is False
    assert "newer version of LabDL (format 99, this one reads up to" in shown["content"]["read_only"]
    assert shown["content"]["nodes"] == good["graph"]["nodes"]
    status, message, _ = await ask("graph", "PUT", {"content": good["graph"]}, path="newer.labdl")
    assert status == 409
    assert "Update labdl" in message
    # nor is what was shown of it written elsewhere, as if it were all
    status, message, text = await ask("graph", "PUT", {"content": shown["content"]}, path="copy.labdl")
    refused(status, message, text)
    body = json.dumps({"type": "file", "format": "json", "content": shown["content"]})
    with pytest.raises(HTTPClientError) as error:
        await jp_fetch("api/contents/copy.labdl", method="PUT", body=body)
    assert error.value.code == 400
    assert (jp_root_dir / "newer.labdl").read_bytes() == data
    assert not (jp_root_dir / "copy.labdl").exists()


async def test_a_newer_version_with_other_columns_is_an_error(ask, good, jp_root_dir):
    def change(file):
        version(99)(file)
        del file["nodes/type"]

    data = hostile(change)
    (jp_root_dir / "newer.labdl").write_bytes(data)
    status, message, text = await ask("graph", path="newer.labdl")
    refused(status, message, text)
    assert "newer.labdl was written by a newer LabDL (format 99" in message
    assert (await ask("graph", "PUT", {"content": good["graph"]}, path="newer.labdl"))[0] == 409
    assert (jp_root_dir / "newer.labdl").read_bytes() == data


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("with_canvas", [True, False])
@pytest.mark.parametrize(
    "layers",
    [
        "nn.Linear(0x" + "f" * 5000 + ")",
        "nn.Reshape([" + "1," * 90_000 + "])",
        "nn.Linear(2**63), nn.Linear(2**63 + 1)",
    ],
)
async def test_sources_with_large_numbers_and_lists(ask, good, layers, with_canvas):
    source = layers
    if with_canvas:
        source = "from labdl import nn\nclass Net(nn.Module):\n    def __init__(self):\n"
        source += f"        self.a = nn.Sequential({layers})\n"
        source += "    def forward(self, x):\n        return self.a(x)\n"
    start = time.process_time()
    status, _, text = await ask("read", "POST", {"source": source, "graph": good["graph"] if with_canvas else None})
    assert status == 200
    answer = json.loads(text)
    if answer["graph"] is not None:
        assert (await ask("check", "POST", {"graph": answer["graph"]}))[0] == 200
    else:
        assert re.search("bits|items|grow too large", answer["problem"]["message"])
    assert time.process_time() - start < 10
