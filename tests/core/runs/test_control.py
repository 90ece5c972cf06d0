"""Commands in the folder of a run: atomic writes, removal after reading, and harmless invalid files (docs/runs.md)."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labdl.errors import ConfigError
from labdl.runs import control
from labdl.runs.control import Command, ControlFolder


@pytest.fixture
def spool(tmp_path):
    return ControlFolder(tmp_path / "control")


def put(spool, name, data):
    (spool.path / name).write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())


def test_commands_come_in_order_and_once(tmp_path, spool):
    values = [("pause", None), ("learning_rate", 0.5), ("add_epochs", 3), ("branch", {"epochs": 4}), ("step", None)]
    identities = [control.append(tmp_path, command, value) for command, value in values]
    assert spool.commands() == [Command(identity, *given) for identity, given in zip(identities, values, strict=True)]
    assert spool.commands() == []
    assert not os.listdir(spool.path)


def test_a_command_keeps_the_identity_that_it_is_given(tmp_path, spool):
    assert control.append(tmp_path, "stop", identity="page-1_X") == "page-1_X"
    assert spool.commands()[0].identity == "page-1_X"
    for wrong in ("", "a/b", "../x", "a" * 65, "ä", 3, "a\n"):
        with pytest.raises(ConfigError, match="the id of a command wants"):
            control.append(tmp_path, "stop", identity=wrong)
    assert not os.listdir(spool.path)


def test_commands_to_an_earlier_run_are_ignored(tmp_path):
    (tmp_path / "control").mkdir()
    control.append(tmp_path, "stop")
    (tmp_path / "control" / ".old.part").write_bytes(b"{")
    os.utime(tmp_path / "control" / ".old.part", (1, 1))
    (tmp_path / "control" / ".new.part").write_bytes(b"{")
    assert ControlFolder(tmp_path / "control").commands() == []
    assert os.listdir(tmp_path / "control") == [".new.part"]


def test_a_folder_that_vanishes_is_read_again_when_it_is_back(tmp_path, spool):
    spool.path.rmdir()
    assert spool.commands() == []
    control.append(tmp_path, "pause")
    assert [c.command for c in spool.commands()] == ["pause"]
    with pytest.raises(OSError, match="No such file"):
        control.append(tmp_path / "no-run", "pause")


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "is not JSON"),
        (b'{"command": "pa', "is not JSON"),
        (b'{"command": "\xff"}', "is not JSON"),
        (b'{"command": "learning_rate", "value": NaN}', "is not JSON"),
        (b"[" * 60_000, "is not JSON"),
        (b"[]", "wants an object"),
        (b'{"command": "pause"}' + b" " * control.LARGEST, "is larger than any command"),
        ({"command": "explode"}, "command wants one of"),
        ({"command": ["stop"]}, "command wants one of"),
        ({}, "command wants one of"),
        ({"command": "learning_rate", "value": "1"}, "learning_rate wants a number"),
        ({"command": "learning_rate", "value": 1e308 * 10}, "is not JSON"),
        ({"command": "add_epochs", "value": 10**18}, "add_epochs wants an integer up to"),
        ({"command": "branch", "value": [1]}, "branch wants an object"),
        ({"command": "branch", "value": {"learning_rate": -1}}, "branch: learning_rate wants a number"),
        ({"command": "pause", "id": 7}, "the id of a command"),
    ],
)
def test_invalid_commands_are_refused_with_a_reason(data, sentence, spool):
    put(spool, "odd name.json", data)
    (refused,) = spool.commands()
    assert sentence in refused.refusal
    assert refused.identity == "odd_name"
    assert refused.command in ("", *control.COMMANDS)
    assert spool.commands() == []


@pytest.mark.skipif(os.name != "posix", reason="links, pipes and rights as POSIX has them")
def test_links_pipes_and_folders_are_not_followed(tmp_path, spool):
    (tmp_path / "secret.json").write_text('{"command": "stop"}')
    (spool.path / "a.json").symlink_to(tmp_path / "secret.json")
    (spool.path / "b.json").symlink_to(tmp_path / "nothing")
    os.mkfifo(spool.path / "c.json")
    (spool.path / "d.json").mkdir()
    control.append(tmp_path, "pause")
    found = spool.commands()
    assert [c.command for c in found if c.refusal is None] == ["pause"]
    assert len([c for c in found if c.refusal]) == 4
    assert (tmp_path / "secret.json").exists()
    assert spool.commands() == [], "what cannot be taken away is spoken of once"
    assert os.listdir(spool.path) == ["d.json"]
    (tmp_path / "other").mkdir()
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "control").symlink_to(tmp_path / "other")
    with pytest.raises(ConfigError, match="is a link"):
        control.append(tmp_path / "run", "pause")
    (tmp_path / "other" / "x.json").write_text('{"command": "stop"}')
    assert ControlFolder(tmp_path / "run" / "control").commands() == []
    assert (tmp_path / "other" / "x.json").exists()


_leaf = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
_json = st.recursive(
    _leaf, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3), max_leaves=8
)
_orders = st.fixed_dictionaries(
    {"command": st.sampled_from([*control.COMMANDS, "x"]) | _json}, optional={"value": _json, "id": _json}
)


@pytest.mark.sample(False)
@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.binary(max_size=200) | _json.map(json.dumps).map(str.encode) | _orders.map(json.dumps).map(str.encode),
        max_size=5,
    )
)
def test_other_files_in_the_control_folder_are_harmless(tmp_path_factory, contents):
    """Whatever comes out can be written as an event, and what may be carried out is as `checked` wants it."""
    spool = ControlFolder(tmp_path_factory.mktemp("run") / "control")
    for n, data in enumerate(contents):
        put(spool, f"{n}.json", data)
    found = spool.commands()
    assert len(found) == len(contents)
    for command in found:
        orjson.dumps([command.identity, command.command, command.value, command.refusal])
        assert control.check_id(command.identity)
        if command.refusal is None:
            assert control.check_command(command.command, command.value) == command.value
    assert not os.listdir(spool.path)


WRITER = """
import sys, threading
from pathlib import Path
from labdl.runs import control
number = 0
while True:
    control.append(Path(sys.argv[1]), "branch", {"epochs": 5, "learning_rate": 0.25}, f"n-{number}")
    number += 1
    if number == 1:
        print("begun", flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_killed_writer_leaves_no_partial_command(tmp_path, spool):
    """Killed at any point: what is there is whole, comes in order, and misses nothing that came before."""
    heard = []
    for at in range(4):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, tmp_path], stdout=subprocess.PIPE)
        assert writer.stdout.readline() == b"begun\n"
        stop = time.monotonic() + 0.03 + at * 0.017
        round_ = []
        while time.monotonic() < stop:
            round_ += spool.commands()
        writer.send_signal(signal.SIGKILL)
        writer.wait(30)
        writer.stdout.close()
        while rest := spool.commands():
            round_ += rest
        assert [c.refusal for c in round_] == [None] * len(round_)
        assert [c.identity for c in round_] == [f"n-{n}" for n in range(len(round_))]
        assert all(c.value == {"epochs": 5, "learning_rate": 0.25} for c in round_)
        heard += round_
    assert heard


def test_unfinished_command_is_ignored(tmp_path, spool, monkeypatch):
    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(control.os, "rename", killed)
    with pytest.raises(KeyboardInterrupt):
        control.append(tmp_path, "stop")
    assert spool.commands() == []
    assert not os.listdir(spool.path)


def test_commands_of_many_writers_are_received(tmp_path, spool):
    def write(n):
        for i in range(25):
            control.append(tmp_path, "pause", identity=f"{n}-{i}")

    threads = [threading.Thread(target=write, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    found = []
    while any(thread.is_alive() for thread in threads) or os.listdir(spool.path):
        found += spool.commands()
    assert len({c.identity for c in found}) == len(found) == 100
