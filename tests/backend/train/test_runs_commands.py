"""Commands of runs: executed once, acknowledged by an event, and single steps while paused."""

import threading

import pytest
from runs import DATA, WAIT, acknowledgements, lines_of, of_kind, pause_run, soon, trainer, write_command

from labdl import train
from labdl.errors import ConfigError
from labdl.runs import control
from labdl.train.run.locks import compute_lock

pytestmark = pytest.mark.sample(backends=1)


def acknowledgement(run, identity):
    assert soon(lambda: identity in acknowledgements(run)), of_kind(run, "command")
    return acknowledgements(run)[identity]


def test_pause_is_acknowledged_when_the_run_is_paused(held, tmp_path):
    held = held(tmp_path / "run")
    identity = write_command(held.run, command="pause")
    assert soon(lambda: not list((held.run.folder / "control").iterdir()))
    assert identity not in acknowledgements(held.run)
    held.go(1)
    answer = acknowledgement(held.run, identity)
    assert {key: answer[key] for key in ("command", "step", "status", "message")} == {
        "command": "pause",
        "step": 1,
        "status": "done",
        "message": None,
    }
    assert held.run.status == "paused"
    kinds = [
        (e["kind"], e.get("status"), e.get("step")) for e in lines_of(held.run) if e["kind"] in ("status", "command")
    ]
    assert kinds == [("status", "paused", 1), ("command", "done", 1)]


def test_every_command_is_acknowledged_and_recorded(held, tmp_path):
    held = held(tmp_path / "run")
    pause_run(held)
    identity = {
        name: write_command(held.run, command=name, **({"value": value} if value else {}))
        for name, value in [
            ("learning_rate", 0.01),
            ("add_epochs", 2),
            ("checkpoint", None),
            ("branch", {"epochs": 4}),
            ("pause", None),
            ("resume", None),
        ]
    }
    found = {name: acknowledgement(held.run, identity) for name, identity in identity.items()}
    assert {name: answer["status"] for name, answer in found.items()} == dict.fromkeys(found, "done")
    assert [found[name].get("value") for name in ("learning_rate", "add_epochs", "branch", "resume")] == [
        0.01,
        2,
        {"epochs": 4},
        None,
    ]
    assert of_kind(held.run, "checkpoint")[0]["step"] == 1
    assert (of_kind(held.run, "epochs")[0]["epochs"], of_kind(held.run, "epochs")[0]["step"]) == (5, 1)
    assert of_kind(held.run, "branch")[0]["folder"] == "../run-branch-1"
    stop = write_command(held.run, command="stop")
    assert soon(lambda: held.run.status == "stopping")
    held.go()
    held.run.wait(WAIT)
    assert acknowledgements(held.run)[stop]["status"] == "done"
    assert [e["kind"] for e in lines_of(held.run)].index("end") == len(lines_of(held.run)) - 1


def test_command_with_an_id_is_executed_once(held, tmp_path):
    held = held(tmp_path / "run")
    pause_run(held)
    for _ in range(3):
        control.append(held.run.folder, "add_epochs", 1, "the-same")
        held.run.send_command("add_epochs", 1, "the-same")
    control.append(held.run.folder, "add_epochs", 1, "another")
    acknowledgement(held.run, "another")
    assert [e["epochs"] for e in of_kind(held.run, "epochs")] == [4, 5]
    assert [e["id"] for e in of_kind(held.run, "command")] == ["the-same", "another"]


@pytest.mark.parametrize(
    ("command", "value", "message"),
    [
        ("explode", None, "command wants one of pause, resume, step"),
        ("learning_rate", -1, "learning_rate wants a number at least 0, received -1"),
        ("add_epochs", 10**12, "add_epochs wants an integer up to 1,000,000,000"),
        ("branch", {"batch_size": 3}, "branch wants an object of learning_rate and epochs"),
        ("branch", {"epochs": 0}, "branch: epochs wants an integer at least 1"),
        ("step", None, "is not paused: pause it"),
    ],
)
def test_invalid_command_is_refused_with_a_message(command, value, message, held, tmp_path):
    held = held(tmp_path / "run")
    identity_in_folder = write_command(held.run, command=command, value=value)
    held.run.send_command(command, value, "by-hand")
    for identity in (identity_in_folder, "by-hand"):
        answer = acknowledgement(held.run, identity)
        assert answer["status"] == "refused"
        assert message in answer["message"]
    if command != "step":
        with pytest.raises(ConfigError):
            held.run.send_command(command, value)


def test_superseded_command_is_refused(held, tmp_path):
    held = held(tmp_path / "run")
    held.run.send_command("pause", identity="overtaken")
    held.run.send_command("resume", identity="at-once")
    held.run.send_command("pause", identity="stopped-before")
    held.run.send_command("stop", identity="end")
    held.run.send_command("pause", identity="too-late")
    held.go()
    held.run.wait(WAIT)
    found = {name: (e["status"], e["message"]) for name, e in acknowledgements(held.run).items()}
    assert found["overtaken"][0] == "refused"
    assert "was resumed before" in found["overtaken"][1]
    assert found["at-once"] == ("done", None)
    assert "was stopped before" in found["stopped-before"][1]
    assert "about to stop" in found["too-late"][1]
    assert found["end"] == ("done", None)


def test_commands_at_the_end_of_a_run_are_acknowledged(backend, tmp_path):
    """Commands in the folder after the last step are acknowledged before the last event."""
    ended = threading.Event()

    def late(event):
        if isinstance(event, train.Epoch) and event.epoch == 2:
            for command in ("pause", "stop", "checkpoint", "step"):
                control.append(tmp_path / "run", command, identity=command)
            ended.set()

    subject = trainer(backend)
    run = subject.start(*DATA, epochs=2, batch_size=8, folder=tmp_path / "run", callbacks=[late]).wait(WAIT)
    assert ended.is_set()
    found = acknowledgements(run)
    assert found.keys() == {"pause", "stop", "checkpoint", "step"}
    assert run.status == "finished" or found["stop"]["status"] == "done"
    assert lines_of(run)[-1]["kind"] == "end"


def test_first_event_precedes_acknowledgements(backend, tmp_path):
    with compute_lock:  # the run waits for the lock
        run = trainer(backend).start(*DATA, epochs=2, batch_size=8, folder=tmp_path / "run")
        run.send_command("add_epochs", 1, "more")
        run.send_command("explode", None, "wrong")
        run.send_command("stop", None, "end")
    run.wait(WAIT)
    events = lines_of(run)
    assert (events[0]["kind"], events[0]["epochs"]) == ("start", 3)
    assert [e["kind"] for e in events if e["kind"] in ("status", "epochs", "end")] == ["status", "end"]
    assert {name: e["status"] for name, e in acknowledgements(run).items()} == {
        "more": "done",
        "wrong": "refused",
        "end": "done",
    }


def test_single_steps_while_paused(held, tmp_path):
    held = held(tmp_path / "run")
    with pytest.raises(RuntimeError, match="is not paused"):
        held.run.step_once()
    pause_run(held)
    held.go()
    for step in range(2, 9):  # across the end of an epoch of five steps
        held.run.step_once()
        assert (held.run.step, held.run.status) == (step, "paused")
    identity = [write_command(held.run, command="step") for _ in range(3)]
    assert [acknowledgement(held.run, identity)["step"] for identity in identity] == [9, 10, 11]
    assert [e["status"] for e in of_kind(held.run, "status")] == ["paused"]
    held.run.resume()
    held.run.wait(WAIT)
    assert held.run.step == 15
    with pytest.raises(RuntimeError, match="has ended"):
        held.run.step_once()


def test_concurrent_pauses_and_resumes_lose_no_step(held, tmp_path):
    """Commands of several threads: all are acknowledged, and the run makes all its steps."""
    held = held(tmp_path / "run", epochs=40)
    held.go(100)  # the other steps wait until all commands are written: none can come after the end
    names = ("pause", "resume", "step", "pause", "step", "resume")

    def send_commands(thread):
        for n in range(60):
            held.run.send_command(names[(n * 7 + thread * 3) % len(names)], identity=f"{thread}-{n}")

    threads = [threading.Thread(target=send_commands, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT)
    held.go()
    held.run.resume()
    held.run.wait(WAIT)
    assert held.run.step == 200
    assert len(acknowledgements(held.run)) == 240
    assert {e["status"] for e in of_kind(held.run, "command")} == {"done", "refused"}


def test_parameters_are_written_to_the_new_name_of_their_file(held, tmp_path):
    held = held(tmp_path / "run", save_to=tmp_path / "net.npz")
    run = held.run
    pause_run(held)
    identity = write_command(run, command="save_to", value="../other.npz")
    assert acknowledgement(run, identity)["status"] == "done"
    assert of_kind(run, "start")[0]["save_to"] == "../net.npz"
    run.resume()
    held.go()
    assert run.wait(WAIT).status == "finished"
    assert sorted(path.name for path in tmp_path.glob("*.npz")) == ["other.npz"]


@pytest.mark.parametrize("value", ["other.txt", 3, None, "a\0.npz"])
def test_only_parameter_files_are_written(value):
    with pytest.raises(ConfigError, match=r"\.npz"):
        control.check_command("save_to", value)
