"""Checkpoint folders: retention, the best checkpoint, crashes, and invalid files."""

import json
import math
import os
import pickle
import shutil
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import labdl
from labdl import dispatch, nn, ops, train
from labdl.errors import ConfigError, FileFormatError, LabDLError, ModelError, StateDictError
from labdl.ops.random.state import random_state, set_random_state
from labdl.train import Checkpoint, Trainer, pytree
from labdl.train.checkpoint import best, checkpoints, latest

pytestmark = pytest.mark.slow

FILES = ("model.npz", "optimizer.npz", "state.json", "state.npz")


@pytest.fixture(autouse=True)
def seeds():
    before = dispatch.current_seed(), dispatch.portable()
    yield
    dispatch._seed, dispatch._portable = before


def numpy_trainer(seed=0, optimizer="adam"):
    model = nn.Sequential(nn.Linear(4), nn.Linear(2)).build((None, 3), backend="numpy", seed=seed)
    return Trainer(model, "mean_squared_error", optimizer, backend="numpy")


def names(folder):
    return [path.name for path in checkpoints(folder)]


def run_scripted(values, **options):
    """Train with one step per epoch and given metric values; returns the steps and the best after each epoch."""
    left = list(values)

    def figure(output, target):
        return left.pop(0)

    model = nn.Sequential(nn.Linear(1)).build((None, 2), backend="torch", seed=0)
    subject = Trainer(model, "mean_squared_error", train.SGD(0.0), metrics=[figure])
    seen = []
    x = np.ones((4, 2), "float32")
    for event in subject.events((x, x[:, :1]), epochs=len(values), batch_size=4, **options):
        if isinstance(event, train.Epoch):
            folder = options["checkpoint"].folder
            found = best(folder)
            seen.append(([int(n[5:]) for n in names(folder)], found and int(found.name[5:])))
    return seen


# -- retention


def test_last_and_best_checkpoints_are_kept(tmp_path):
    seen = run_scripted(
        [3.0, 1.0, 2.0, 1.0, 4.0, 0.5], checkpoint=Checkpoint(tmp_path, keep=2, monitor="figure", mode="min")
    )
    assert seen == [([1], 1), ([1, 2], 2), ([2, 3], 2), ([2, 3, 4], 2), ([2, 4, 5], 2), ([5, 6], 6)]
    assert Checkpoint(tmp_path).best == best(tmp_path) == latest(tmp_path) == tmp_path / "step-00000006"


def test_best_by_maximum_ignores_nan(tmp_path):
    values = [math.nan, 1.0, math.nan, 5.0, -math.inf, math.inf, 5.0]
    seen = run_scripted(values, checkpoint=Checkpoint(tmp_path, keep=1, monitor="figure", mode="max"))
    assert [found for _, found in seen] == [None, 2, 2, 4, 4, 6, 6]
    assert [there for there, _ in seen] == [[1], [2], [2, 3], [4], [4, 5], [6], [6, 7]]


def test_keep_none_and_no_best_without_monitor(tmp_path):
    assert run_scripted([1.0] * 3, checkpoint=Checkpoint(tmp_path, keep=None)) == [
        ([1], None),
        ([1, 2], None),
        ([1, 2, 3], None),
    ]


def test_best_and_end_are_saved_independently_of_every(tmp_path):
    seen = run_scripted(
        [5.0, 4.0, 9.0, 9.0, 9.0], checkpoint=Checkpoint(tmp_path, every=3, monitor="figure", mode="min")
    )
    assert seen == [([1], 1), ([1, 2], 2), ([1, 2, 3], 2), ([1, 2, 3], 2), ([2, 3, 5], 2)]


def test_steps_are_counted_over_epochs(tmp_path):
    model = nn.Sequential(nn.Linear(1)).build((None, 2), backend="torch", seed=0)
    x = np.ones((10, 2), "float32")
    subject = Trainer(model, "mean_squared_error")
    subject.fit(
        x, x[:, :1], epochs=2, batch_size=2, progress=False, checkpoint=Checkpoint(tmp_path, every=3, keep=None)
    )
    assert names(tmp_path) == [f"step-{n:08d}" for n in (3, 6, 9, 10)]


def test_best_of_a_resumed_training(tmp_path):
    checkpoint = Checkpoint(tmp_path, keep=1, monitor="figure", mode="min")
    run_scripted([5.0, 1.0], checkpoint=checkpoint)
    left = [3.0, 2.0]

    def figure(output, target):
        return left.pop(0)

    model = nn.Sequential(nn.Linear(1)).build((None, 2), backend="torch", seed=0)
    subject = Trainer(model, "mean_squared_error", train.SGD(0.0), metrics=[figure])
    x = np.ones((4, 2), "float32")
    history = subject.fit(x, x[:, :1], epochs=4, batch_size=4, checkpoint=checkpoint, resume=True, progress=False)
    assert history["figure"] == [5.0, 1.0, 3.0, 2.0]
    assert names(tmp_path) == ["step-00000002", "step-00000004"]
    assert best(tmp_path).name == "step-00000002"


def test_other_files_are_not_removed(tmp_path):
    """Only partial checkpoints of LabDL are removed."""
    for name in ("step-3", "step-00000009", "step-00000003.zip", "notes", ".step-mine.part", ".hidden"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text("mine")
    left = tmp_path / ".step-00000007.0123abcd.part"
    left.mkdir()
    subject = numpy_trainer()
    for _ in range(3):
        Checkpoint(tmp_path, keep=1).save(subject.context, subject.state)
    assert names(tmp_path) == ["step-00000000-3"]
    assert not left.exists()
    assert len(list(tmp_path.glob("*/file"))) == 6
    assert latest(tmp_path / "nowhere") is best(tmp_path / "nowhere") is None


def test_invalid_settings_and_folders_raise(tmp_path):
    for wrong, message in (
        ({"folder": ""}, "folder wants a path"),
        ({"every": 0}, "every wants 'epoch' or a number of steps at least 1, received 0"),
        ({"every": "day"}, "received 'day'"),
        ({"keep": 0}, "keep wants a number at least 1, or None for all, received 0"),
        ({"keep": True}, "received True"),
        ({"mode": "best"}, "mode wants 'auto', 'min' or 'max', received 'best'"),
    ):
        with pytest.raises(ConfigError, match=message):
            Checkpoint(**{"folder": tmp_path, **wrong})
    with pytest.raises(ConfigError, match="Checkpoint monitors 'val_f1', the epoch has loss, figure"):
        run_scripted([1.0], checkpoint=Checkpoint(tmp_path, monitor="val_f1"))
    with pytest.raises(ConfigError, match=r"resume=True wants a checkpoint"):
        run_scripted([1.0], resume=True)
    with pytest.raises(FileNotFoundError, match="has no checkpoint"):
        run_scripted([1.0], resume=tmp_path)
    run_scripted([1.0, 2.0], checkpoint=Checkpoint(tmp_path))
    for resume in (None, tmp_path / "step-00000001"):
        with pytest.raises(ConfigError, match="already has checkpoints up to step-00000002: give resume=True"):
            run_scripted([1.0], checkpoint=Checkpoint(tmp_path), resume=resume)
    with pytest.warns(UserWarning, match="nothing is left to train"):
        run_scripted([1.0], checkpoint=Checkpoint(tmp_path / "other"), resume=tmp_path / "step-00000001")


# -- crashes

PAUSING = """
import sys, time
from labdl import nn
from labdl.train import Trainer, checkpoint
folder, point = sys.argv[1:]
def numpy_trainer(seed):
    model = nn.Sequential(nn.Linear(4), nn.Linear(2)).build((None, 3), backend="numpy", seed=seed)
    return Trainer(model, "mean_squared_error", backend="numpy")
subject = numpy_trainer(1)
keeper = checkpoint.Checkpoint(folder, keep=2)
keeper.save(subject.context, subject.state); keeper.save(subject.context, subject.state)
name, _, after = point.partition(":")
owner = {"rmtree": checkpoint.shutil, "rename": checkpoint.os}.get(name, checkpoint)
real, left = getattr(owner, name), [int(after)]
def pausing(*args, **options):
    left[0] -= 1
    if left[0] < 0:
        print("paused", flush=True); time.sleep(600)
    return real(*args, **options)
setattr(owner, name, pausing)
subject.load_state_dict({**subject.state_dict(), "parameters": numpy_trainer(2).model.state_dict()})
keeper.save(subject.context, subject.state)
"""
POINTS = ["_write:0", "save_parameters:2", "flush_folder:0", "rename:0", "flush_folder:1", "rename:1", "rmtree:0"]


@pytest.mark.sample(False)
def test_folder_is_consistent_after_a_kill_at_any_point(tmp_path):
    """kill -9 before each file operation: all visible checkpoints are complete, with or without the new one."""
    started = {
        point: subprocess.Popen(
            [sys.executable, "-c", PAUSING, str(tmp_path / point), point], text=True, stdout=subprocess.PIPE
        )
        for point in POINTS
    }
    old, new = (numpy_trainer(seed).model.state_dict() for seed in (1, 2))
    for point, process in started.items():
        with process:
            assert process.stdout.readline() == "paused\n", point
            process.kill()
        folder = tmp_path / point
        written = POINTS.index(point) > POINTS.index("rename:0")
        removed = point == "rmtree:0"
        assert names(folder) == [f"step-00000000{end}" for end in ["", "-2", "-3"][removed : 2 + written]], point
        for path in checkpoints(folder):
            subject = numpy_trainer(9)
            subject.load_checkpoint(path)
            expected = new if path.name.endswith("-3") else old
            assert all(np.array_equal(v, expected[k]) for k, v in subject.model.state_dict().items()), point
        subject.save_checkpoint(folder)
        assert not list(folder.glob(".*")), point


def test_full_disk_leaves_no_partial_files(tmp_path, monkeypatch):
    subject = numpy_trainer()
    first = subject.save_checkpoint(tmp_path)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(train.checkpoint, "_write", full)
    with pytest.raises(OSError, match="No space left"):
        subject.save_checkpoint(tmp_path)
    assert list(tmp_path.iterdir()) == [first]


# -- invalid files


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    subject = Trainer(
        nn.Sequential(nn.Linear(4), nn.Linear(2)),
        "mean_squared_error",
        metrics=["spearman_correlation"],
        backend="torch",
        schedule="plateau",
        seed=0,
    )
    x = np.random.default_rng(0).normal(size=(10, 3)).astype("float32")
    for _ in zip(range(5), subject.events((x, x[:, :2]), epochs=3, batch_size=4), strict=False):
        pass
    return subject.save_checkpoint(tmp_path_factory.mktemp("whole"))


@pytest.fixture
def broken(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / whole.name)


def load_error(path, *kinds):
    """The message of the error that loading raises; model and optimizer are unchanged."""
    model = nn.Sequential(nn.Linear(4), nn.Linear(2)).build((None, 3), backend="torch", seed=5)
    subject = Trainer(model, "mean_squared_error", metrics=["spearman_correlation"], schedule="plateau")
    before = subject.state_dict()
    with pytest.raises(kinds or FileFormatError) as raised:
        subject.load_checkpoint(path)
    after = subject.state_dict()
    for part in ("parameters", "optimizer"):
        assert all(np.array_equal(v, after[part][k]) for k, v in before[part].items())
    return str(raised.value)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("fault", ["missing", "empty", "half", "garbage", "folder", "flipped"])
def test_broken_file_raises(name, fault, broken):
    file = broken / name
    data = file.read_bytes()
    file.unlink()
    if fault == "folder":
        file.mkdir()
    elif fault == "flipped":
        middle = len(data) // 2
        file.write_bytes(data[:middle] + bytes([data[middle] ^ 0x80]) + data[middle + 1 :])
    elif fault != "missing":
        file.write_bytes({"empty": b"", "half": data[: len(data) // 2], "garbage": os.urandom(500)}[fault])
    assert load_error(broken)


def test_pickled_arrays_are_not_executed(broken, tmp_path):
    class Hostile:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "ran"),)

    for name in ("model.npz", "optimizer.npz", "state.npz"):
        kept = (broken / name).read_bytes()
        np.savez(broken / name, **{"0/kernel:0": np.array([Hostile()], object), "step": np.array(1)})
        load_error(broken)
        (broken / name).write_bytes(pickle.dumps(Hostile()))
        load_error(broken)
        (broken / name).write_bytes(kept)
    (broken / "state.json").write_bytes(pickle.dumps(Hostile()))
    load_error(broken)
    assert not (tmp_path / "ran").exists()


def keys_of(value, path=()):
    if isinstance(value, dict) and not next(iter(value), "$").startswith("$"):
        for key, inner in value.items():
            yield (*path, key)
            yield from keys_of(inner, (*path, key))


@pytest.mark.sample(False)
def test_state_with_wrong_entries_raises(whole, broken):
    """Each entry is removed or has a wrong type, except names, values and settings of the user."""
    state = json.loads((whole / "state.json").read_text())
    free = {("settings",), ("labdl",), ("model",), ("loss",), ("backend",)}
    later = {  # missing in the first files
        ("progress", "epochs"),
        ("progress", "validations"),
        ("progress", "logged"),
        ("features", "generators"),
    }
    places = [
        p
        for p in keys_of(state)
        if p[0] not in ("settings",) and p[:2] not in (("progress", "history"), ("progress", "sums"))
    ]
    assert len(places) > 30
    for place in places:
        for wrong in (None, ..., [[1]], {"a": "b"}, {"$array": "x"}, {"$tuple": 3}, -1.5):
            value = json.loads(json.dumps(state))
            home = value
            for key in place[:-1]:
                home = home[key]
            if wrong is None and place in later:
                continue
            elif wrong is None:
                del home[place[-1]]
            elif home[place[-1]] is None or (wrong is ... and place in free):
                continue
            else:
                home[place[-1]] = [None] if wrong is ... else wrong
            if place == ("metrics", "spearman_correlation") and wrong is None:
                continue  # a metric may be added
            if place == ("metrics",) and wrong == {"a": "b"}:
                continue  # or removed
            if place[0] == "memory" or place[-1] == "has_uint32":
                continue  # checked later with the schedule; NumPy converts any value to an integer
            (broken / "state.json").write_text(json.dumps(value))
            print(place, wrong)  # shown if no error is raised
            load_error(broken)


def test_newer_and_malformed_states_raise(whole, broken):
    file = broken / "state.json"
    state = json.loads(file.read_text())
    file.write_text(json.dumps({**state, "version": 99}))
    assert "was written by a newer LabDL (version 99" in load_error(broken)
    for text in (
        "{}",
        "[]",
        "3",
        '"x"',
        "null",
        "NaN",
        "[" * 100_000,
        '{"a":' * 60 + "1" + "}" * 60,
        '{"$number": "1"}',
        "9" * 5000,
        '{"$array": ["x"]}',
        "\ud800".encode("utf-8", "surrogatepass").decode("latin1"),
    ):
        file.write_text(text)
        load_error(broken)


def test_inconsistent_counts_raise(whole, broken):
    file = broken / "state.json"
    state = json.loads(file.read_text())
    x = np.ones((10, 3), "float32")
    for change in ({"step": 10**30}, {"epoch": 7}, {"batch": 4}, {"seen": 3}, {"seed": 10**400}):
        file.write_text(json.dumps({**state, "progress": {**state["progress"], **change}}))
        model = nn.Sequential(nn.Linear(4), nn.Linear(2)).build((None, 3), backend="torch", seed=5)
        subject = Trainer(model, "mean_squared_error", metrics=["spearman_correlation"], schedule="plateau")
        if "seed" in change:  # any integer is valid
            subject.fit((x, x[:, :2]), epochs=3, batch_size=4, resume=broken, progress=False)
            continue
        with pytest.raises(FileFormatError, match="the state counts"):
            subject.fit((x, x[:, :2]), epochs=3, batch_size=4, resume=broken, progress=False)
    for memory in ({}, {"best": 1.0, "bad": 0, "resting": 0}, {**state["memory"], "more": 1}):
        file.write_text(json.dumps({**state, "memory": memory}))
        model = nn.Sequential(nn.Linear(4), nn.Linear(2)).build((None, 3), backend="torch", seed=5)
        subject = Trainer(model, "mean_squared_error", metrics=["spearman_correlation"], schedule="plateau")
        with pytest.raises(StateDictError, match="ReduceOnPlateau has the state best, bad, resting, reductions"):
            subject.fit((x, x[:, :2]), epochs=3, batch_size=4, resume=broken, progress=False)


@pytest.mark.parametrize(
    "change",
    [
        {"step": np.float32(1)},
        {"step": np.array(-1)},
        {"step": np.array([1])},
        {"learning_rate": np.array(np.nan)},
        {"learning_rate": np.array("a")},
        {"0/kernel:0/mean": np.zeros((3, 4), complex)},
        {"0/kernel:0/mean": np.zeros(3)},
        {"more": np.zeros(1)},
    ],
)
def test_invalid_slots_raise(change, broken):
    values = labdl.load_parameters(broken / "optimizer.npz")
    labdl.save_parameters({**values, **change}, broken / "optimizer.npz")
    assert next(iter(change)) in load_error(broken, StateDictError)


@pytest.mark.sample(False)
@settings(max_examples=300, deadline=None)
@given(st.data())
def test_changed_bytes_load_or_raise_labdl_errors(whole, data):
    """Loading a file with changed bytes succeeds or raises an error of LabDL."""
    name = data.draw(st.sampled_from(FILES))
    raw = bytearray((whole / name).read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    folder = whole.parent / "changed"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(whole, folder)
    (folder / name).write_bytes(raw)
    model = nn.Sequential(nn.Linear(4), nn.Linear(2)).build((None, 3), backend="torch", seed=5)
    subject = Trainer(model, "mean_squared_error", metrics=["spearman_correlation"], schedule="plateau")
    try:
        subject.load_checkpoint(folder)
        if subject.progress.samples == 10 and subject.progress.batch_size == 4:
            list(subject.events((np.ones((10, 3), "float32"), np.ones((10, 2), "float32")), epochs=2, batch_size=4))
    except LabDLError:
        pass
    finally:
        shutil.rmtree(folder)


# -- random state of NumPy


def test_random_state_of_numpy_is_restored():
    def draws():
        x = np.ones((3, 4), "float32")
        return [ops.dropout(x, 0.5, training=True), ops.random_normal((3,), backend="numpy"), np.random.random(3)]

    labdl.seed(3)
    draws()
    state = random_state("numpy")
    first = draws()
    labdl.seed(4)
    assert set_random_state(state, "numpy")
    assert all(map(np.array_equal, draws(), first))
    own = state["own"]
    for change in (
        {"position": 625},
        {"position": -1},
        {"words": np.zeros(9, "uint32")},
        {"kind": "PCG64"},
        {"normal": "x"},
    ):
        with pytest.raises(ValueError, match="not a random state of numpy"):
            set_random_state({**state, "own": {**own, **change}}, "numpy")


# -- plain data


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(codec="utf-8"), max_size=5)
    | st.sampled_from([np.float32(0.1), np.int8(3), np.bool_(True), np.zeros((0, 2)), np.arange(3), np.array(2.5)]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text("ab/", max_size=3), inner, max_size=3)
    ),
    max_leaves=12,
)


def same(a, b):
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and np.array_equal(a, b)
    return type(a) is type(b) and (a == b or a != a)


@settings(max_examples=200, deadline=None)
@given(VALUES)
def test_plain_data_round_trip(value):
    text, arrays = pytree.encode(value)
    json.loads(text, parse_constant=pytest.fail)  # standard JSON
    assert same(pytree.decode(text, arrays), value)


def test_encoding_names_unsupported_values():
    for value, place in (
        ({"metrics": {"own": [1, object()]}}, "metrics/own/1 holds a object"),
        ({1: 2}, "holds a dict"),
        ({"a": np.array([None])}, "a holds a ndarray"),
        ({"$tuple": []}, "holds a dict"),
    ):
        with pytest.raises(ModelError, match=place):
            pytree.encode(value)
