"""The routes of the Runs panel: listing, names, tags and notes, and protected files."""

import json
import os
import socket
import time

import pytest
from tornado.httpclient import HTTPClientError

from labdl.lab import runs_list

pytest_plugins = ["pytest_jupyter.jupyter_server"]


@pytest.fixture
def ask(jp_fetch):
    async def fetch(route, *, method="GET", body=None, **params):
        content = {} if body is None else {"body": json.dumps(body)}
        try:
            response = await jp_fetch("labdl", *route.split("/"), method=method, params=params, **content)
        except HTTPClientError as error:
            response = error.response
        return response.code, json.loads(response.body)

    return fetch


def begin(folder, *, alive=False, **start):
    folder.mkdir(parents=True, exist_ok=True)
    pid = os.getpid() if alive else 2**22 - 1
    tell(
        folder,
        {
            "kind": "start",
            "version": 2,
            "id": folder.name,
            "pid": pid,
            "host": socket.gethostname(),
            "model": "net",
            "backend": "torch",
            "epochs": 2,
            "steps_per_epoch": 2,
            **start,
        },
    )
    return folder


def tell(folder, *events):
    with open(folder / "events.jsonl", "a", encoding="utf-8") as file:
        file.writelines(json.dumps({"kind": event["kind"], "time": time.time(), **event}) + "\n" for event in events)


EPOCH = {"kind": "epoch", "epoch": 1, "step": 2, "loss": 0.5, "val_loss": 0.75}
END = {"kind": "end", "status": "finished"}


# --- the list ---


async def test_the_runs_below_a_folder(ask, jp_root_dir):
    one = begin(jp_root_dir / "runs" / "one", settings={"learning_rate": 0.1})
    tell(one, EPOCH, END)
    begin(jp_root_dir / "runs" / "deep" / "two", alive=True)
    begin(jp_root_dir / "elsewhere")
    status, answer = await ask("runs", path="runs")
    assert (status, answer["folder"], answer["whole"], answer["truncated"]) == (200, "runs", True, None)
    runs = {run["path"]: run for run in answer["runs"]}
    assert runs.keys() == {"one", "deep/two"}
    assert (runs["one"]["status"], runs["one"]["alive"]) == ("finished", False)
    assert runs["one"]["figures"] == {"loss": 0.5, "val_loss": 0.75}
    assert runs["one"]["settings"] == {"learning_rate": 0.1}
    assert (runs["deep/two"]["status"], runs["deep/two"]["alive"]) == ("running", True)
    status, answer = await ask("runs", path="")
    assert {run["path"] for run in answer["runs"]} == {"runs/one", "runs/deep/two", "elsewhere"}


async def test_changes_since_the_last_answer(ask, jp_root_dir):
    one, two = (begin(jp_root_dir / "runs" / name, alive=True) for name in ("one", "two"))
    _, first = await ask("runs", path="runs")
    status, answer = await ask("runs", path="runs", seen=first["token"])
    assert (status, answer) == (200, {"folder": "runs", "unchanged": True, "token": first["token"]})

    tell(two, EPOCH)
    begin(jp_root_dir / "runs" / "three", alive=True)
    _, answer = await ask("runs", path="runs", seen=first["token"])
    assert {run["path"] for run in answer["runs"]} == {"two", "three"}
    assert (answer["whole"], answer["gone"]) == (False, [])
    assert next(run for run in answer["runs"] if run["path"] == "two")["figures"]["loss"] == 0.5

    (one / "events.jsonl").unlink()
    _, later = await ask("runs", path="runs", seen=answer["token"])
    assert (later["runs"], later["gone"]) == ([], ["one"])
    # a page that knows less is told all that it missed, and one that knows nothing all
    _, missed = await ask("runs", path="runs", seen=first["token"])
    assert ({run["path"] for run in missed["runs"]}, missed["gone"]) == ({"two", "three"}, ["one"])
    for token in ("", "nonsense", "00:1", f"{first['token']}0", "9" * 100, "٣:٣"):
        _, whole = await ask("runs", path="runs", seen=token)
        if not whole.get("unchanged"):
            assert whole["whole"], token
            assert {run["path"] for run in whole["runs"]} == {"two", "three"}


async def test_ended_process_is_a_change(ask, jp_root_dir):
    one = begin(jp_root_dir / "one", alive=True)
    _, first = await ask("runs", path="")
    tell(one, END)
    _, answer = await ask("runs", path="", seen=first["token"])
    assert [(run["status"], run["alive"]) for run in answer["runs"]] == [("finished", False)]


async def test_many_deleted_runs_cause_a_complete_answer(ask, jp_root_dir, monkeypatch):
    monkeypatch.setattr(runs_list, "GONE", 2)
    runs = [begin(jp_root_dir / f"run-{i}") for i in range(5)]
    _, first = await ask("runs", path="")
    for run in runs[:3]:
        (run / "events.jsonl").unlink()
    _, answer = await ask("runs", path="", seen=first["token"])
    assert answer["whole"]
    assert {run["path"] for run in answer["runs"]} == {"run-3", "run-4"}


async def test_a_group_says_what_it_is(ask, jp_root_dir):
    folder = jp_root_dir / "sweep"
    begin(folder / "trial-1", group="sweep", params={"units": 3})
    told = {"version": 1, "kind": "sweep", "name": "wide", "method": "grid", "metric": "val_loss", "mode": "min"}
    hostile = {"deep": json.loads("[" * 500 + "]" * 500), "trials": -3, "time": "yesterday"}
    (folder / "group.json").write_text(json.dumps(told | hostile))
    _, answer = await ask("runs", path="sweep")
    del told["version"]
    assert answer["group"] == told | {"time": None, "trials": None, "choices": {}}
    assert answer["runs"][0]["params"] == {"units": 3}
    (folder / "group.json").write_text("{")
    _, answer = await ask("runs", path="sweep", seen=answer["token"])
    assert answer["group"] is None


async def test_choices_of_a_sweep_are_sent_as_long_as_they_are_small(ask, jp_root_dir):
    folder = jp_root_dir / "sweep"
    begin(folder / "trial-1", group="sweep", params={"heads": 4})
    choices = {"heads": [4, 8], "units": [[8], [8, 4]], "activation": ["relu", None]}
    space = {
        **choices,
        "rate": {"kind": "uniform", "low": 0.0, "high": 1.0},
        "deep": json.loads("[" * 500 + "]" * 500),
        "long": ["x" * 10_000],
        "many": list(range(1000)),
    }
    for given, expected in ((space, choices), ([1], {}), ("wide", {})):
        (folder / "group.json").write_text(json.dumps({"version": 1, "kind": "sweep", "name": "s", "space": given}))
        _, answer = await ask("runs", path="sweep")
        assert answer["group"]["choices"] == expected


async def test_hidden_and_foreign_folders_are_not_listed(ask, jp_root_dir):
    begin(jp_root_dir / ".hidden" / "one")
    outside = begin(jp_root_dir.parent / "outside" / "one")
    (jp_root_dir / "link").symlink_to(outside.parent)
    begin(jp_root_dir / "seen")
    _, answer = await ask("runs", path="")
    assert [run["path"] for run in answer["runs"]] == ["seen"]
    for path in (".hidden", "link", "link/one", "..", "../outside", "missing", "seen/events.jsonl"):
        status, answer = await ask("runs", path=path)
        assert status == 404, path
        assert len(answer["message"]) > 10


# --- what people write ---


async def test_name_tags_and_note(ask, jp_root_dir):
    one = begin(jp_root_dir / "one")
    events = (one / "events.jsonl").read_bytes()
    _, first = await ask("runs", path="")
    body = {"path": "one", "name": "wide", "tags": ["a", "b", "a"], "note": "slow\nbut good"}
    status, answer = await ask("runs/about", method="PUT", body=body)
    assert (status, answer["done"]) == (200, True)
    assert answer["about"] == {"name": "wide", "tags": ["a", "b"], "note": "slow\nbut good"}
    _, answer = await ask("runs", path="", seen=first["token"])
    assert [(run["name"], run["tags"], run["note"]) for run in answer["runs"]] == [
        ("wide", ["a", "b"], "slow\nbut good")
    ]
    assert (one / "events.jsonl").read_bytes() == events


async def test_edits_of_others_are_not_lost(ask, jp_root_dir):
    begin(jp_root_dir / "one")
    first = {"path": "one", "note": "mine", "before": {"note": ""}}
    assert (await ask("runs/about", method="PUT", body=first))[1]["done"]
    second = {"path": "one", "note": "theirs", "before": {"note": ""}}
    status, answer = await ask("runs/about", method="PUT", body=second)
    assert (status, answer["done"], answer["about"]["note"]) == (200, False, "mine")
    # other words, and the same ones, are no contradiction
    for words in ({"name": "x", "before": {"name": "", "note": "old"}}, {"note": "mine", "before": {"note": "old"}}):
        assert (await ask("runs/about", method="PUT", body={"path": "one"} | words))[1]["done"]
    agreed = {"path": "one", "note": "theirs", "before": {"note": "mine"}}
    assert (await ask("runs/about", method="PUT", body=agreed))[1]["about"] == {
        "name": "x",
        "tags": [],
        "note": "theirs",
    }


@pytest.mark.parametrize(
    "words",
    [
        {},
        {"name": 3},
        {"tags": "a"},
        {"tags": [3]},
        {"note": None},
        {"name": "x" * 10_000},
        {"note": "x" * 1_000_000},
        {"tags": ["x"] * 10_000},
        {"name": "x", "before": []},
    ],
)
async def test_invalid_names_tags_and_notes(ask, jp_root_dir, words):
    one = begin(jp_root_dir / "one")
    status, answer = await ask("runs/about", method="PUT", body={"path": "one"} | words)
    assert status == 400
    assert len(answer["message"]) > 10
    assert not (one / "about.json").exists()


# --- code and deleting ---


async def test_the_code_of_a_run(ask, jp_root_dir):
    code = begin(jp_root_dir / "one") / "code"
    assert await ask("runs/code", path="one") == (200, {"files": {}})
    code.mkdir()
    (jp_root_dir.parent / "secret.py").write_text("secret")
    (code / "script.py").write_text("print('ü')", encoding="utf-8")
    (code / "model.py").write_bytes(b"x = 1 # \xff")
    (code / "settings.json").write_text("{}")
    (code / "other.txt").write_text("not code")
    (jp_root_dir / "one" / "error.txt").write_text("Traceback")
    (code / "link.py").symlink_to(jp_root_dir.parent / "secret.py")
    (code / "round.py").symlink_to(code / "round.py")
    (code / "folder.py").mkdir()
    os.mkfifo(code / "pipe.py")
    (code / "long.py").write_text("#" * 300_000)
    status, answer = await ask("runs/code", path="one")
    assert status == 200
    files = answer["files"]
    assert files.keys() == {"script.py", "model.py", "settings.json", "long.py", "error.txt"}
    assert (files["script.py"], files["model.py"]) == ("print('ü')", "x = 1 # \ufffd")
    assert len(files["long.py"]) < 262_200
    assert files["long.py"].endswith("truncated")


async def test_code_outside_of_the_run_is_not_shown(ask, jp_root_dir):
    outside = jp_root_dir.parent / "outside"
    outside.mkdir()
    (outside / "secret.py").write_text("secret")
    (begin(jp_root_dir / "one") / "code").symlink_to(outside)
    assert await ask("runs/code", path="one") == (200, {"files": {}})


@pytest.fixture
def jp_serverapp(jp_serverapp):
    jp_serverapp.contents_manager.delete_to_trash = False  # nothing of a test belongs into the trash of who runs it
    jp_serverapp.contents_manager.always_delete_dir = True
    return jp_serverapp


async def test_a_run_is_deleted_through_the_contents_manager(ask, jp_root_dir, jp_serverapp, monkeypatch):
    deleted = []
    manager = jp_serverapp.contents_manager
    inner = manager.delete
    monkeypatch.setattr(manager, "delete", lambda path: deleted.append(path) or inner(path))
    one = begin(jp_root_dir / "runs" / "one")
    tell(one, END)
    begin(jp_root_dir / "runs" / "two")
    assert (await ask("run", method="DELETE", path="runs/one"))[0] == 200
    assert deleted == ["runs/one"]
    assert not one.exists()
    _, answer = await ask("runs", path="runs")
    assert [run["path"] for run in answer["runs"]] == ["two"]


async def test_jupyter_may_forbid_to_delete(ask, jp_root_dir, jp_serverapp):
    jp_serverapp.contents_manager.always_delete_dir = False
    tell(begin(jp_root_dir / "one"), END)
    status, answer = await ask("run", method="DELETE", path="one")
    assert (status, (jp_root_dir / "one").exists()) == (409, True)
    assert answer["message"].endswith("deletes folders only with FileContentsManager.always_delete_dir.")


async def test_a_run_under_way_is_not_deleted(ask, jp_root_dir, jp_serverapp):
    one = begin(jp_root_dir / "one", alive=True)
    status, answer = await ask("run", method="DELETE", path="one")
    assert (status, one.exists()) == (409, True)
    assert "stop it before you delete it" in answer["message"]


@pytest.mark.parametrize(
    "path", ["", "/", ".", "..", "folder", "folder/../one/..", ".hidden/one", "link", "../outside"]
)
async def test_only_runs_are_deleted(ask, jp_root_dir, jp_serverapp, path):
    begin(jp_root_dir / ".hidden" / "one")
    outside = begin(jp_root_dir.parent / "outside")
    (jp_root_dir / "link").symlink_to(outside)
    (jp_root_dir / "folder").mkdir()
    (jp_root_dir / "folder" / "precious.txt").write_text("")
    status, answer = await ask("run", method="DELETE", path=path)
    assert 400 <= status < 500, path
    assert len(answer["message"]) > 10
    assert (jp_root_dir / "folder" / "precious.txt").exists()
    assert (outside / "events.jsonl").exists()
    assert (jp_root_dir / ".hidden" / "one" / "events.jsonl").exists()
