"""`labdl runs`: a table that fits the terminal, one run, exports, and commands to a running training."""

import dataclasses
import json
import os
import signal
import subprocess
import sys
import threading
import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from run_files import NOW, end, gone, start, steps, trained, written

from labdl import cli, runs
from labdl.runs.curves.sparkline import render
from labdl.runs.listing.listing import Listing
from labdl.runs.listing.summary_row import Brief
from labdl.runs.terminal import tables
from labdl.runs.terminal.formatting import age, duration, figure


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Three runs: one that is over, one under way, and one whose process was killed."""
    written(tmp_path / "runs" / "over", [*trained(), end()])
    written(tmp_path / "runs" / "going", trained(2, time=NOW + 1))
    written(tmp_path / "runs" / "killed", [start(**gone()), steps(1, 4)])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


def run(capsys, *arguments):
    status = cli.main(["runs", *map(str, arguments)])
    out, err = capsys.readouterr()
    return status, out, err


def test_the_table_has_a_line_for_each(folder, capsys):
    status, out, err = run(capsys)
    assert (status, err) == (0, "")
    head, *lines = out.splitlines()
    assert head.split() == [
        "status",
        "run",
        "model",
        "backend",
        "age",
        "epochs",
        "time",
        "val_loss",
        "val_accuracy",
        "best",
        "val_accuracy",
        "curve",
    ]
    by_name = {line.split()[2]: line for line in lines}
    assert by_name.keys() == {"over", "going", "killed"}
    assert "✓ finished" in by_name["over"]
    assert "● running" in by_name["going"]
    assert "? lost" in by_name["killed"]
    assert "3/3" in by_name["over"]
    assert "0.2000 @2" in by_name["over"]
    assert "█" in by_name["over"]


@pytest.mark.sample(False)
def test_ascii_terminal(folder):
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "COLUMNS": "120"}
    written(folder / "runs" / "名前", trained())
    for words in (["runs"], ["runs", "show", "名前"]):
        done = subprocess.run(
            [sys.executable, "-m", "labdl.cli", *words], capture_output=True, env=environment, timeout=60
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.decode("ascii")


def test_json_has_everything(folder, capsys):
    found = json.loads(run(capsys, "--json")[1])
    assert found == json.loads(json.dumps([dataclasses.asdict(row) for row in runs.list(folder)]))
    assert {row["path"] for row in found} == {"runs/over", "runs/going", "runs/killed"}


def test_sorted_by_a_figure_the_best_come_first(folder, capsys):
    assert [row["id"] for row in json.loads(run(capsys, "--json", "--sort", "val_loss")[1])] == [
        "over",
        "going",
        "killed",
    ]
    written(folder / "best", trained(6))
    assert json.loads(run(capsys, "--json", "--sort", "accuracy")[1])[0]["id"] == "best"
    assert json.loads(run(capsys, "--json", "--sort", "step")[1])[0]["id"] == "best"
    status, _, err = run(capsys, "--sort", "nonsense")
    assert status == 1
    assert "val_accuracy" in err, "what there is to sort by is named"


def test_thirty_are_shown_unless_all_are_asked_for(folder, capsys):
    for number in range(40):
        written(folder / f"more-{number}", [start(**gone())])
    out = run(capsys)[1]
    assert len(out.splitlines()) == 1 + 30 + 1
    assert out.splitlines()[-1] == "13 more: --all"
    assert len(run(capsys, "--all")[1].splitlines()) == 1 + 43


def test_an_empty_folder_says_how_to_fill_it(tmp_path, capsys):
    assert "Trainer.start" in run(capsys, tmp_path)[1]
    assert run(capsys, tmp_path / "nowhere")[0] == 1


def test_watch_needs_a_terminal(folder, capsys):
    status, _, err = run(capsys, "--watch")
    assert (status, "terminal" in err) == (1, True)


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals")
def test_watching_shows_what_changes_in_place(folder):
    import pty
    import select

    process, terminal_end = pty.fork()
    if not process:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # what is begun in the background would not hear Ctrl+C
        os.execvpe(
            sys.executable, [sys.executable, "-m", "labdl.cli", "runs", "--watch"], {**os.environ, "COLUMNS": "120"}
        )
    heard, until, told = b"", time.monotonic() + 40, False
    while b"stopped" not in heard and time.monotonic() < until:
        if select.select([terminal_end], [], [], 0.2)[0]:
            heard += os.read(terminal_end, 65536)
        if b"running" in heard and not told:
            told = True
            written(folder / "runs" / "going", [end("stopped", after=40.0)])
    os.write(terminal_end, b"\x03")
    _, status = os.waitpid(process, 0)
    os.close(terminal_end)
    assert b"stopped" in heard
    assert b"\x1b[4A\x1b[J" in heard, "four lines were replaced"
    assert os.waitstatus_to_exitcode(status) == 0


def test_one_run_is_shown_with_its_epochs(folder, capsys):
    did = {"kind": "learning_rate", "time": NOW + 40, "step": 12, "value": 0.5}
    written(
        folder / "runs" / "over",
        [
            did,
            {
                "kind": "alert",
                "time": NOW + 41,
                "step": 20,
                "alert": "plateau",
                "message": "No improvement\x1b[2J for long.",
            },
        ],
    )
    runs.write_about(folder / "runs" / "over", name="The good one", tags=["a", "b"])
    for which in ("over", "ov", "runs/over", "The good one", folder / "runs" / "over"):
        status, out, err = run(capsys, "show", which)
        assert (status, err) == (0, "")
        assert out.startswith("The good one  ✓ finished")
    for part in ("tags      a, b", "seed 3", "0.2000 *", "samples/s", "step       12  learning rate  0.5", "plateau"):
        assert part in out, part
    assert "\x1b" not in out
    assert run(capsys, "show", "nobody")[0] == 1
    written(folder / "runs" / "overture", trained())
    assert "several" in run(capsys, "show", "ove")[2]


def test_a_lost_run_names_its_newest_checkpoint(folder, capsys):
    """Written on command or automatically, as long as it exists, also in a folder that was moved."""
    at = folder / "runs" / "dead"
    saved = [
        {"kind": "checkpoint", "time": NOW + 1, "step": 10, "path": str(at / "checkpoints" / "step-00000010")},
        {"kind": "checkpoint", "time": NOW + 1, "step": 20, "path": "elsewhere/step-00000020", "automatic": True},
    ]
    written(at, [*trained(**gone()), *saved])
    assert "resume    there is no checkpoint: train again, with checkpoint=" in run(capsys, "show", "dead")[1]
    assert runs.open(at).checkpoint is None
    (at / "checkpoints" / "step-00000020").mkdir(parents=True)
    assert runs.open(at).checkpoint == at / "checkpoints" / "step-00000020"
    assert runs.open(at).marks[-1]["step"] == 10, "automatic checkpoints are no marks"
    assert (
        "resume    trainer.start(data, resume='runs/dead/checkpoints/step-00000020')" in run(capsys, "show", "dead")[1]
    )
    written(at, [end()])
    assert "resume" not in run(capsys, "show", "dead")[1]


def test_a_run_is_exported_by_name(folder, capsys):
    pytest.importorskip("plotly")
    pytest.importorskip("pyarrow")
    for to, name in (
        ("csv", "over.csv"),
        ("arrow", "over.arrow"),
        ("svg", "over.svg"),
        ("png", "over.png"),
        ("html", "over.html"),
        ("tensorboard", "over-tensorboard"),
    ):
        status, out, _ = run(capsys, "export", "over", "--to", to)
        assert (status, out) == (0, f"wrote {name}\n")
        assert (folder / name).exists()
    run(capsys, "export", "over", "--to", "csv", "-o", folder / "else.csv")
    assert (folder / "else.csv").read_bytes() == (folder / "over.csv").read_bytes()


def test_command_is_sent_and_its_answer_shown(folder, capsys):
    from labdl.runs import control

    taken = control.ControlFolder(folder / "runs" / "going" / control.CONTROL)

    def answer(status, message):
        until = time.monotonic() + 10
        while time.monotonic() < until:
            for command in taken.commands():
                told = {
                    "kind": "command",
                    "time": time.time(),
                    "id": command.identity,
                    "command": command.command,
                    "step": 20,
                    "value": command.value,
                    "status": status,
                    "message": message,
                }
                written(folder / "runs" / "going", [told])
                heard.append((command.command, command.value))
                return
            time.sleep(0.02)

    for words, asked, status in (
        ("pause", ("pause", None), "done"),
        ("learning_rate=0.25", ("learning_rate", 0.25), "done"),
        ("add_epochs=2", ("add_epochs", 2), "refused"),
    ):
        heard = []
        thread = threading.Thread(target=answer, args=(status, "too late"))
        thread.start()
        code, out, err = run(capsys, "tell", "going", words)
        thread.join()
        assert heard == [asked]
        assert f"{asked[0]}: {status} after step 20" in out
        assert (code, err) == ((1, "labdl: too late\n") if status == "refused" else (0, ""))
    assert run(capsys, "tell", "going", "learning_rate=much")[0] == 1
    assert run(capsys, "tell", "going", "fly")[0] == 1
    code, _, err = run(capsys, "tell", "killed", "pause")
    assert (code, "lost" in err) == (1, True)


finite = st.floats(allow_nan=False, allow_infinity=False)
words, maybe = st.text(max_size=60), st.one_of(st.none(), st.text(max_size=40))
paths = st.text(min_size=1, max_size=60).filter(lambda path: not path.startswith("/"))  # they are relative
rows = st.builds(
    Brief,
    path=paths,
    id=st.just("x"),
    name=words,
    status=st.sampled_from(["running", "lost"]),
    time=st.one_of(st.none(), st.floats(0, 2e9)),
    seconds=st.floats(0, 1e9),
    epoch=st.integers(0, 10**9),
    epochs=st.one_of(st.none(), st.integers(0, 10**9)),
    model=maybe,
    metrics=st.just(("accuracy",)),
    spark=st.lists(st.one_of(st.none(), finite), max_size=32),
    figures=st.dictionaries(st.sampled_from(["loss", "val_loss", "accuracy"]), st.one_of(st.none(), st.floats())),
)


def wide(line):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else not unicodedata.combining(c) for c in line)


@pytest.mark.sample(False)
@settings(deadline=None)
@given(st.lists(rows, min_size=1, max_size=5), st.integers(50, 250), st.booleans())
def test_the_table_fits_whatever_it_shows(tmp_path_factory, found, width, plain):
    lines = tables.table(Listing("folder", found), width=width, plain=plain).splitlines()
    assert len(lines) == 1 + len(found)
    assert all(wide(line) <= width for line in lines)
    assert not plain or all(line.isascii() for line in lines)


@given(
    st.lists(st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)), max_size=100), st.integers(1, 40)
)
def test_a_curve_in_characters_shows_highest_and_lowest(values, width):
    found = render(values, width)
    assert len(found) <= max(width, 0) or len(values) <= width
    there = [value for value in values if value is not None]
    if len(values) <= width and there and min(there) / 2 < max(there) / 2:
        assert found[values.index(max(there))] == "█"
        assert found[values.index(min(there))] == "▁"


def test_number_formats():
    assert [figure(v) for v in (0.12345, 0, 12.5, 1234.5, 1e-5, 2e7, float("nan"), None, float("-inf"), -0.5)] == [
        "0.1235",
        "0.000",
        "12.50",
        "1,234",
        "1.00e-05",
        "2.00e+07",
        "NaN",
        "NaN",
        "-∞",
        "-0.5000",
    ]
    assert [duration(v) for v in (7, 83, 3723, -1)] == ["0:07", "1:23", "1:02:03", "0:00"]
    assert [age(v) for v in (-5, 40, 90, 4000, 200_000)] == ["0 s", "40 s", "1 min", "1 h", "2 d"]
