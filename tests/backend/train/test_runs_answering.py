"""Commands of runs: carried out once, answered when that has happened, and single steps out of a rest (R9.4)."""

import threading

import pytest
from runs import DATA, WAIT, answers, lines_of, of_kind, order, resting, soon, trainer

from labdl import train
from labdl.errors import ConfigError
from labdl.runs import control
from labdl.train.run.locks import turns


def answered(run, identity):
    assert soon(lambda: identity in answers(run)), of_kind(run, "command")
    return answers(run)[identity]


def test_a_pause_is_answered_when_the_run_rests(held, tmp_path):
    held = held(tmp_path / "run")
    asked = order(held.run, command="pause")
    assert soon(lambda: not list((held.run.folder / "control").iterdir()))
    assert asked not in answers(held.run)
    held.go(1)
    answer = answered(held.run, asked)
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


def test_every_command_leaves_an_answer_and_its_mark(held, tmp_path):
    held = held(tmp_path / "run")
    resting(held)
    asked = {
        name: order(held.run, command=name, **({"value": value} if value else {}))
        for name, value in [
            ("learning_rate", 0.01),
            ("add_epochs", 2),
            ("checkpoint", None),
            ("branch", {"epochs": 4}),
            ("pause", None),
            ("resume", None),
        ]
    }
    found = {name: answered(held.run, identity) for name, identity in asked.items()}
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
    stop = order(held.run, command="stop")
    assert soon(lambda: held.run.status == "stopping")
    held.go()
    held.run.wait(WAIT)
    assert answers(held.run)[stop]["status"] == "done"
    assert [e["kind"] for e in lines_of(held.run)].index("end") == len(lines_of(held.run)) - 1


def test_a_command_is_carried_out_once(held, tmp_path):
    held = held(tmp_path / "run")
    resting(held)
    for _ in range(3):
        control.append(held.run.folder, "add_epochs", 1, "the-same")
        held.run.obey("add_epochs", 1, "the-same")
    control.append(held.run.folder, "add_epochs", 1, "another")
    answered(held.run, "another")
    assert [e["epochs"] for e in of_kind(held.run, "epochs")] == [4, 5]
    assert [e["id"] for e in of_kind(held.run, "command")] == ["the-same", "another"]


@pytest.mark.parametrize(
    ("command", "value", "sentence"),
    [
        ("explode", None, "command wants one of pause, resume, step"),
        ("learning_rate", -1, "learning_rate wants a number at least 0, received -1"),
        ("add_epochs", 10**12, "add_epochs wants an integer up to 1,000,000,000"),
        ("branch", {"batch_size": 3}, "branch wants an object of learning_rate and epochs"),
        ("branch", {"epochs": 0}, "branch: epochs wants an integer at least 1"),
        ("step", None, "is not at rest: pause it"),
    ],
)
def test_what_cannot_be_done_is_refused_and_said(command, value, sentence, held, tmp_path):
    held = held(tmp_path / "run")
    told = order(held.run, command=command, value=value)
    held.run.obey(command, value, "by-hand")
    for identity in (told, "by-hand"):
        answer = answered(held.run, identity)
        assert answer["status"] == "refused"
        assert sentence in answer["message"]
    if command != "step":
        with pytest.raises(ConfigError):
            held.run.obey(command, value)


def test_what_is_overtaken_is_refused(held, tmp_path):
    held = held(tmp_path / "run")
    held.run.obey("pause", identity="overtaken")
    held.run.obey("resume", identity="at-once")
    held.run.obey("pause", identity="stopped-before")
    held.run.obey("stop", identity="end")
    held.run.obey("pause", identity="too-late")
    held.go()
    held.run.wait(WAIT)
    found = {name: (e["status"], e["message"]) for name, e in answers(held.run).items()}
    assert found["overtaken"][0] == "refused"
    assert "was to go on" in found["overtaken"][1]
    assert found["at-once"] == ("done", None)
    assert "was stopped before" in found["stopped-before"][1]
    assert "about to stop" in found["too-late"][1]
    assert found["end"] == ("done", None)


def test_a_run_that_ends_first_says_so(backend, tmp_path):
    """What lies in the folder when the last step is over is answered before the last event."""
    ended = threading.Event()

    def late(event):
        if isinstance(event, train.Epoch) and event.epoch == 2:
            for command in ("pause", "stop", "checkpoint", "step"):
                control.append(tmp_path / "run", command, identity=command)
            ended.set()

    subject = trainer(backend)
    run = subject.start(*DATA, epochs=2, batch_size=8, folder=tmp_path / "run", callbacks=[late]).wait(WAIT)
    assert ended.is_set()
    found = answers(run)
    assert found.keys() == {"pause", "stop", "checkpoint", "step"}
    assert run.status == "finished" or found["stop"]["status"] == "done"
    assert lines_of(run)[-1]["kind"] == "end"


def test_nothing_is_told_before_the_first_event(backend, tmp_path):
    with turns:  # the run waits for its first turn
        run = trainer(backend).start(*DATA, epochs=2, batch_size=8, folder=tmp_path / "run")
        run.obey("add_epochs", 1, "more")
        run.obey("explode", None, "wrong")
        run.obey("stop", None, "end")
    run.wait(WAIT)
    events = lines_of(run)
    assert (events[0]["kind"], events[0]["epochs"]) == ("start", 3)
    assert [e["kind"] for e in events if e["kind"] in ("status", "epochs", "end")] == ["status", "end"]
    assert {name: e["status"] for name, e in answers(run).items()} == {
        "more": "done",
        "wrong": "refused",
        "end": "done",
    }


def test_single_steps_out_of_a_rest(held, tmp_path):
    held = held(tmp_path / "run")
    with pytest.raises(RuntimeError, match="is not at rest"):
        held.run.step_once()
    resting(held)
    held.go()
    for step in range(2, 9):  # over the end of an epoch, which has five
        held.run.step_once()
        assert (held.run.step, held.run.status) == (step, "paused")
    asked = [order(held.run, command="step") for _ in range(3)]
    assert [answered(held.run, identity)["step"] for identity in asked] == [9, 10, 11]
    assert [e["status"] for e in of_kind(held.run, "status")] == ["paused"]
    held.run.resume()
    held.run.wait(WAIT)
    assert held.run.step == 15
    with pytest.raises(RuntimeError, match="has ended"):
        held.run.step_once()


def test_pauses_and_resumes_in_any_order_lose_no_step(held, tmp_path):
    """Threads that steer at random while the run goes on: all are answered, and it ends as it would alone."""
    held = held(tmp_path / "run", epochs=40)
    held.go()
    names = ("pause", "resume", "step", "pause", "step", "resume")

    def steer(thread):
        for n in range(60):
            held.run.obey(names[(n * 7 + thread * 3) % len(names)], identity=f"{thread}-{n}")

    threads = [threading.Thread(target=steer, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT)
    held.run.resume()
    held.run.wait(WAIT)
    assert held.run.step == 200
    assert len(answers(held.run)) == 240
    assert {e["status"] for e in of_kind(held.run, "command")} == {"done", "refused"}
