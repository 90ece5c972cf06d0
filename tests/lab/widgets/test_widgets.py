"""The kernel side of the widgets: messages, answers, and errors that do not stop a run."""

import json
import threading
from pathlib import Path

import numpy as np
import pytest
from jupyter_client.manager import start_new_kernel

from labdl import lab, nn
from labdl.graph import Edge, Graph, Node
from labdl.lab.editor import service
from labdl.lab.widgets import event_messages, front_end
from labdl.lab.widgets.binary_events import pack
from labdl.runs.control import check_command
from labdl.train import Trainer
from labdl.train.run.shutdown import active_runs

START = {"kind": "start", "version": 1, "time": 0.0, "id": "r", "epochs": 1, "steps_per_epoch": 4}


def steps(first: int, *losses: float | None) -> dict:
    return {"kind": "steps", "time": 1.0, "step": [first + i for i in range(len(losses))], "loss": list(losses)}


class FakeRun:
    """A run that says what the test tells it to."""

    folder = Path("runs/fake")

    def __init__(self, *past: dict):
        self.past, self.listeners, self.commands, self.alive = list(past), [], [], True
        self.lock = threading.RLock()

    def subscribe(self, listener):
        with self.lock:
            if self.past:
                listener(list(self.past))
            self.listeners.append(listener)
        return lambda: self.listeners.remove(listener) if listener in self.listeners else None

    def emit(self, *events: dict):
        with self.lock:
            self.past += events
            for listener in list(self.listeners):
                listener(list(events))

    def send_command(self, command, value=None, identity=None):
        value = check_command(command, value)
        self.commands.append(command if value is None else (command, value))


class Page:
    """Stands in for a browser: keeps what a widget sends and sends messages to it."""

    def __init__(self, widget, monkeypatch):
        self.widget, self.received = widget, []
        monkeypatch.setattr(widget, "send", lambda content, buffers=None: self.received.append((content, buffers)))

    def tell(self, content, buffers=()):
        self.widget._handle_custom_msg(content, list(buffers))

    def last(self):
        return self.received[-1][0]


@pytest.fixture(autouse=True)
def built_files(tmp_path, monkeypatch):
    """A front end of four empty files, since the real one may not be built where tests run."""
    for name in ("dashboard.js", "dashboard.css", "editor.js", "editor.css"):
        (tmp_path / name).write_text(f"/* {name} */")
    monkeypatch.setattr(front_end, "STATIC", tmp_path)
    return tmp_path


def graph(units: int = 10) -> Graph:
    return Graph(
        {"a": Node("Input", "a", {"shape": (None, 4)}), "b": Node("Linear", "b", {"out_features": units})},
        {"e": Edge("a", "b", target_port="x")},
        name="small",
    )


class TestPacking:
    def test_columns_travel_as_float32_and_keep_what_is_not_a_number(self):
        packed, buffers = pack([START, steps(1, 0.5, None, float("nan"), float("inf")), steps(5, 0.25)])
        assert packed[0] == START
        assert packed[1] == {"kind": "steps", "time": 1.0, "length": 4, "base": 1, "columns": ["loss"]}
        values = np.frombuffer(buffers[0], "<f4")
        np.testing.assert_array_equal(values, [0, 1, 2, 3, 0.5, np.nan, np.nan, np.inf, 0, 0.25])

    def test_steps_beyond_the_whole_numbers_of_float32_are_exact(self):
        packed, buffers = pack([steps(2**24 + 1, 1.0, 1.0)])
        assert [packed[0]["base"] + int(x) for x in np.frombuffer(buffers[0], "<f4")[:2]] == [2**24 + 1, 2**24 + 2]

    def test_events_without_columns_need_no_buffer_and_hold_no_nan(self):
        packed, buffers = pack([{"kind": "epoch", "time": 1.0, "epoch": 1, "step": 4, "loss": float("nan")}])
        assert packed[0]["loss"] is None
        assert buffers == []
        json.dumps(packed, allow_nan=False)


class TestDashboard:
    def test_answers_a_page_with_everything_so_far(self, monkeypatch):
        dashboard = lab.Dashboard(FakeRun(START, steps(1, 0.5)))
        page = Page(dashboard, monkeypatch)
        page.tell({"type": "sync"})
        message, buffers = page.received[-1]
        assert message["type"] == "events"
        assert message["first"] == 0
        assert message["alive"] is True
        assert [e["kind"] for e in message["events"]] == ["start", "steps"]
        assert len(buffers) == 1

    def test_sends_only_what_a_page_lacks(self, monkeypatch):
        run = FakeRun(START)
        page = Page(lab.Dashboard(run), monkeypatch)
        page.tell({"type": "sync", "after": 1})
        assert (page.last()["first"], page.last()["events"]) == (1, [])
        run.emit(steps(1, 0.5))
        assert (page.last()["first"], len(page.last()["events"])) == (1, 1)

    @pytest.mark.parametrize("after", [-1, 99, "all", None])
    def test_invalid_position_gets_all_events(self, after, monkeypatch):
        page = Page(lab.Dashboard(FakeRun(START)), monkeypatch)
        page.tell({"type": "sync", "after": after})
        assert page.last()["first"] == 0

    def test_resends_past_events_until_a_page_asks(self, monkeypatch):
        clock = [100.0]
        monkeypatch.setattr(event_messages.time, "monotonic", lambda: clock[0])
        run = FakeRun(START)
        page = Page(lab.Dashboard(run), monkeypatch)
        firsts = []
        for i in range(40):
            run.emit(steps(i + 1, 0.5))
            firsts.append(page.last()["first"])
            clock[0] += 0.2
        assert firsts[0] == 0
        assert firsts.count(0) == 5  # after 0, 0.25, 0.75, 1.75 and 3.75 seconds; the next is due after 7.75
        page.tell({"type": "sync"})
        clock[0] += 1000
        run.emit(steps(41, 0.5))
        assert page.last()["first"] == 41

    @pytest.mark.parametrize("command", ["pause", "resume", "stop", "checkpoint"])
    def test_passes_on_commands(self, command, monkeypatch):
        run = FakeRun(START)
        Page(lab.Dashboard(run), monkeypatch).tell({"type": "command", "command": command})
        assert run.commands == [command]

    @pytest.mark.parametrize(("command", "value"), [("learning_rate", 0.01), ("add_epochs", 2)])
    def test_passes_on_values(self, command, value, monkeypatch):
        run = FakeRun(START)
        Page(lab.Dashboard(run), monkeypatch).tell({"type": "command", "command": command, "value": value})
        assert run.commands == [(command, value)]

    @pytest.mark.parametrize(
        "content",
        [
            {},
            {"type": "command", "command": "wait"},
            {"type": "command"},
            "sync",
            None,
            [1],
            {"type": "command", "command": "learning_rate"},
            {"type": "command", "command": "add_epochs", "value": -1},
        ],
    )
    def test_ignores_what_it_does_not_know(self, content, monkeypatch):
        run = FakeRun(START)
        page = Page(lab.Dashboard(run), monkeypatch)
        page.tell(content)
        assert (run.commands, page.received) == ([], [])

    def test_a_dead_connection_leaves_the_run_alone(self, monkeypatch):
        run = FakeRun(START)
        dashboard = lab.Dashboard(run)

        def broken(*_):
            raise OSError("the socket is closed")

        monkeypatch.setattr(dashboard, "send", broken)
        run.emit(steps(1, 0.5))
        assert run.listeners == []

    def test_closing_leaves_the_run(self):
        run = FakeRun(START)
        lab.Dashboard(run).close()
        assert run.listeners == []

    def test_says_how_to_build_a_missing_front_end(self, built_files):
        (built_files / "dashboard.js").unlink()
        with pytest.raises(FileNotFoundError, match="make lab"):
            lab.Dashboard(FakeRun())


class TestEditor:
    def test_takes_a_graph_or_a_model_and_gives_a_graph_back(self):
        given = graph()
        assert lab.Editor(given).graph == given
        assert lab.Editor(given.to_module()).graph.to_dict()["nodes"] == given.to_dict()["nodes"]

    def test_the_graph_can_be_set_and_follows_the_canvas(self):
        editor = lab.Editor(graph())
        editor.graph = graph(20)
        assert editor._graph["nodes"]["b"]["params"]["out_features"] == 20
        editor.set_state({"_graph": graph(30).to_dict()})
        assert editor.graph == graph(30)

    def test_the_state_is_json(self):
        json.dumps(lab.Editor(graph()).get_state("_graph"), allow_nan=False)

    def test_rejects_other_objects(self):
        with pytest.raises((TypeError, ValueError)):
            lab.Editor("digits.labdl")

    @pytest.mark.parametrize("name", ["layers", "check", "code"])
    def test_answers_as_the_server_does(self, name, monkeypatch):
        page = Page(lab.Editor(graph()), monkeypatch)
        data = graph().to_dict()
        page.tell({"type": "request", "id": "p-1", "name": name, "graph": data})
        expected = service.layers() if name == "layers" else getattr(service, name)(data)
        expected = json.loads(json.dumps(expected))  # lists in the place of tuples
        assert page.last() == {"type": "reply", "id": "p-1", "result": expected}

    def test_arranges_boxes(self, monkeypatch):
        page = Page(lab.Editor(graph()), monkeypatch)
        boxes = {"a": {"name": "a", "width": 208, "height": 58}}
        request = {"nodes": boxes, "edges": [], "frames": [], "direction": "down"}
        page.tell({"type": "request", "id": "p-1", "name": "layout", **request})
        assert page.last() == {"type": "reply", "id": "p-1", "result": {"positions": {"a": [0.0, 0.0]}}}

    @pytest.mark.parametrize(
        ("name", "data"),
        [
            ("delete", None),
            ("check", None),
            ("check", [1]),
            ("code", {"nodes": 3}),
            ("layout", None),
            (None, None),
            ([], {}),
        ],
    )
    def test_errors_are_sent_as_messages(self, name, data, monkeypatch):
        page = Page(lab.Editor(graph()), monkeypatch)
        page.tell({"type": "request", "id": 7, "name": name, "graph": data})
        assert page.last()["id"] == 7
        answer = page.last()
        assert answer.get("error") or answer["result"]["problems"]

    def test_builds_a_model(self):
        model = lab.Editor(graph()).model(backend="numpy")
        assert {path: value.shape for path, value in model.state_dict().items()} == {
            "b/kernel:0": (4, 10),
            "b/bias:0": (10,),
        }

    def test_the_model_of_the_canvas_keeps_the_weights_that_fit(self):
        editor = lab.Editor(graph())
        model = editor.model(backend="numpy")
        assert editor.model() is model
        model.load_state_dict(
            {"b/kernel:0": np.full((4, 10), 3.0, "float32"), "b/bias:0": np.arange(10, dtype="float32")}
        )
        data = graph().to_dict()
        data["nodes"]["b"]["name"] = "head"
        data["nodes"]["c"] = {"type": "Linear", "name": "c", "params": {"out_features": 3}}
        data["edges"]["f"] = {"source": "b", "source_port": "output", "target": "c", "target_port": "x"}
        editor.set_state({"_graph": data})
        rebuilt = editor.model()
        assert rebuilt is not model
        assert rebuilt.backend == "numpy"
        assert (rebuilt.state_dict()["head/kernel:0"] == 3).all()
        assert rebuilt.state_dict()["head/bias:0"].tolist() == list(range(10))
        data["nodes"]["b"]["params"]["out_features"] = 7
        editor.set_state({"_graph": data})
        wider = editor.model().state_dict()
        assert wider["head/kernel:0"].shape == (4, 7)
        assert not (wider["head/kernel:0"] == 3).any()
        assert wider["c/bias:0"].tolist() == rebuilt.state_dict()["c/bias:0"].tolist()

    def test_a_model_that_was_given_is_the_one_of_the_canvas(self):
        given = nn.Sequential(nn.Linear(3), nn.ReLU()).build((None, 4), backend="numpy")
        editor = lab.Editor(given)
        assert editor.model() is given
        other = editor.model(backend="torch")
        assert other.backend == "torch"
        assert {k: v.tolist() for k, v in other.state_dict().items()} == {
            k: v.tolist() for k, v in given.state_dict().items()
        }

    def test_editors_of_one_model_show_one_canvas(self):
        model = nn.Sequential(nn.Linear(3), nn.ReLU()).build((None, 4), backend="numpy")
        first, second = lab.Editor(model), lab.Editor(model)
        data = first.graph.to_dict()
        (node,) = [i for i, n in data["nodes"].items() if n["type"] == "Linear"]
        data["nodes"][node]["params"]["out_features"] = 5
        first.set_state({"_graph": data})
        assert second.graph == first.graph
        # one that is opened later starts with the canvas, and the changed model is the same in each
        third = lab.Editor(model)
        assert third.graph == first.graph
        changed = third.model()
        assert changed is first.model() is second.model()
        assert lab.Editor(changed).graph == first.graph
        # the former model, a closed editor and a graph, which is a value, have canvases of their own
        assert lab.Editor(model).graph != first.graph
        first.close()
        second.graph = model
        assert (third.graph, first.graph == second.graph) == (second.graph, False)
        one, other = lab.Editor(graph()), lab.Editor(graph())
        one.graph = model
        assert other.graph == graph()

    def test_a_lone_layer_keeps_its_weights(self):
        given = nn.Linear(3).build((None, 4), backend="numpy")
        editor = lab.Editor(given)
        data = editor.graph.to_dict()
        (node,) = [i for i, n in data["nodes"].items() if n["type"] == "Linear"]
        data["nodes"]["r"] = {"type": "ReLU", "name": "r", "params": {}}
        data["edges"]["r"] = {"source": node, "source_port": "output", "target": "r", "target_port": "x"}
        editor.set_state({"_graph": data})
        made = editor.model()
        assert [v.tolist() for v in made.state_dict().values()] == [v.tolist() for v in given.state_dict().values()]


FOLLOWED = """
from labdl import nn
from labdl import lab
from labdl.lab.widgets import front_end
front_end.STATIC = __import__("pathlib").Path({static!r})
model = nn.Sequential(nn.Linear(3), nn.ReLU()).build((None, 4), backend="numpy")
editor = lab.Editor(model)
"""
SHOWN = "print(*(n.type for n in editor.graph.nodes.values()))"


def test_the_canvas_follows_a_model_that_a_cell_changes(built_files):
    manager, client = start_new_kernel(startup_timeout=60)

    def run(code: str) -> str:
        texts: list[str] = []

        def shown(message):
            texts.append(message["content"].get("text", "") + "".join(message["content"].get("traceback", ())))

        client.execute_interactive(code, timeout=60, output_hook=shown)
        return "".join(texts).strip()

    try:
        assert run(FOLLOWED.format(static=str(built_files))) == ""
        first, *_ = run(SHOWN), run("model.append(nn.Linear(2))")
        assert run(SHOWN).split() == [*first.split(), "Linear"]
        run("editor.close(); model.append(nn.ReLU())")
        assert run(SHOWN).split() == [*first.split(), "Linear"]
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


IN_KERNEL = """
import sys, threading
sys.path[:0] = {path!r}
from test_widgets import FakeRun, START, steps
from labdl import lab
from labdl.lab.widgets import front_end
front_end.STATIC = __import__("pathlib").Path({static!r})
run = FakeRun(START)
dashboard = lab.Dashboard(run)
thread = threading.Thread(target=lambda: [run.emit(steps(3 * i + 1, 0.5, 0.25, None)) for i in range(20)])
thread.start(); thread.join()
print(dashboard.comm.comm_id)
"""


def test_a_thread_reaches_the_page_of_a_real_kernel_and_the_page_reaches_the_run(built_files):
    manager, client = start_new_kernel(startup_timeout=60)
    messages: list[tuple[dict, list]] = []

    def follow(request: str) -> str:
        """Keep what widgets send until the kernel has dealt with a request; returns what that printed."""
        printed = ""
        while True:
            message = client.get_iopub_msg(timeout=60)
            kind, content = message["msg_type"], message["content"]
            if kind == "comm_msg" and content["data"].get("method") == "custom":
                messages.append((content["data"]["content"], message["buffers"]))
            elif message["parent_header"].get("msg_id") == request:
                printed += content.get("text", "") + "\n".join(content.get("traceback", ()))
                if kind == "status" and content["execution_state"] == "idle":
                    return printed.strip()

    def tell(comm_id: str, content: dict) -> None:
        message = client.session.msg("comm_msg", {"comm_id": comm_id, "data": {"method": "custom", "content": content}})
        client.shell_channel.send(message)
        follow(message["header"]["msg_id"])

    try:
        paths = [str(Path(__file__).parent), str(Path(lab.__file__).parents[2])]
        comm_id = follow(client.execute(IN_KERNEL.format(path=paths, static=str(built_files))))
        assert len(messages) == 20, comm_id
        first, buffers = messages[0]
        assert [e["kind"] for e in first["events"]] == ["start", "steps"]
        np.testing.assert_array_equal(np.frombuffer(buffers[0], "<f4")[3:], [0.5, 0.25, np.nan])

        messages.clear()
        tell(comm_id, {"type": "sync"})
        assert len(messages[0][0]["events"]) == 21
        tell(comm_id, {"type": "command", "command": "pause"})
        assert follow(client.execute("print(run.commands)")) == "['pause']"
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_messages_of_threads_keep_their_order(monkeypatch):
    run = FakeRun(START)
    page = Page(lab.Dashboard(run), monkeypatch)
    page.tell({"type": "sync"})
    threads = [threading.Thread(target=lambda: [run.emit(steps(1, 0.5)) for _ in range(50)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    position = 1
    for message, _ in page.received[1:]:
        assert message["first"] == position
        position += len(message["events"])
    assert position == 201


class TestEditorOfATraining:
    """The canvas shows how the layers do in the runs of this process that train its model."""

    @staticmethod
    def run(model, folder, **options):
        data = np.ones((32, 4), "float32"), np.ones((32, 10), "float32")
        trainer = Trainer(model, "mean_squared_error", backend="torch", seed=0)
        return trainer.start(data, epochs=options.pop("epochs", 2), batch_size=8, folder=folder, **options)

    def test_only_runs_of_its_model_are_sent(self, monkeypatch, tmp_path):
        editor = lab.Editor(graph())
        page = Page(editor, monkeypatch)
        model = editor.model("torch")
        for name in ("one", "two"):
            self.run(model, tmp_path / name).wait()
        self.run(graph().to_module(), tmp_path / "other").wait()
        page.tell({"type": "sync", "after": 0})
        told = page.last()
        assert (told["type"], told["run"], told["first"], told["alive"]) == ("events", 2, 0, False)
        assert [e["kind"] for e in told["events"]] == ["start", "health", "end"]
        assert told["events"][0]["id"] == "two"
        assert told["events"][1]["layers"] == ["b"]
        live = [(content["run"], e["kind"]) for content, _ in page.received[:-1] for e in content["events"]]
        assert live[-3:] == [(2, "start"), (2, "health"), (2, "end")], "they came while they happened, too"
        assert {run for run, _ in live} == {1, 2}

    def test_a_run_that_began_before_is_found(self, monkeypatch, tmp_path):
        model, go = graph().to_module(), threading.Event()
        run = self.run(model, tmp_path / "run", callbacks=[lambda event: go.wait(30)])
        editor = lab.Editor(model)
        page = Page(editor, monkeypatch)
        go.set()
        run.wait()
        page.tell({"type": "sync"})
        assert page.last()["events"][0]["id"] == "run"
        editor.close()
        before = len(page.received)
        self.run(model, tmp_path / "later").wait()
        assert len(page.received) == before, "who is closed hears nothing"

    def test_closed_editor_is_collected(self, tmp_path):
        editor = lab.Editor(graph())
        listeners = len(active_runs._listeners)
        editor.close()
        assert len(active_runs._listeners) == listeners - 1

    def test_a_dead_connection_leaves_the_run_alone(self, monkeypatch, tmp_path):
        editor = lab.Editor(graph())

        def dead(*_):
            raise RuntimeError("closed")

        monkeypatch.setattr(editor, "send", dead)
        assert self.run(editor.model("torch"), tmp_path / "run").wait().status == "finished"
