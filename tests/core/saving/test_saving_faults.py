"""A save that fails or is interrupted at any step leaves the old or the new files, and mixtures are detected."""

import contextlib
import dataclasses
import errno
import os
import subprocess
import sys
import time

import numpy as np
import pytest

import labdl
from labdl import nn
from labdl.bounded import atomic_write
from labdl.bounded.atomic_write import replace_files
from labdl.errors import ModelError, StateDictError
from labdl.graph import Edge, Graph, Node
from labdl.saving import load_parameters, load_structure, save_parameters, save_structure

pytestmark = pytest.mark.slow


def twin(residual, **settings):
    """The same network with other settings that leave names and shapes as they are."""
    nodes = {
        i: dataclasses.replace(n, type="ops.sigmoid" if n.type == "ops.relu" else n.type)
        for i, n in residual.nodes.items()
    }
    return dataclasses.replace(residual, nodes=nodes, **settings)


def built(graph, seed):
    return graph.to_module().build(backend="numpy", seed=seed)


def same(model, other):
    one, two = model.state_dict(), other.state_dict()
    return model.graph == other.graph and one.keys() == two.keys() and all(np.array_equal(one[k], two[k]) for k in one)


class Failing:
    """A function that fails at its nth call."""

    def __init__(self, function, nth):
        self.function, self.left = function, nth

    def __call__(self, *args, **options):
        self.left -= 1
        if self.left == 0:
            raise OSError(errno.ENOSPC, "no space left on device")
        return self.function(*args, **options)


@pytest.mark.parametrize("nth", [1, 2, 3])
@pytest.mark.parametrize("step", ["fsync", "replace", "chmod"])
def test_a_failing_write_leaves_the_old_file(residual, tmp_path, monkeypatch, step, nth):
    path = tmp_path / "net.labdl"
    save_structure(residual, path)
    before = path.read_bytes()
    monkeypatch.setattr(atomic_write.os, step, Failing(getattr(os, step), nth))
    try:
        save_structure(Graph(), path)
    except OSError:
        assert path.read_bytes() == before or (step, nth) == ("fsync", 2), "the folder is flushed after the rename"
    else:
        assert load_structure(path) == Graph()
    assert [p.name for p in tmp_path.iterdir()] == ["net.labdl"], "nothing is left behind"


class FullDisk:
    """A file on which the nth write fails, after half of it."""

    def __init__(self, file, nth):
        self.file, self.nth = file, nth

    def write(self, data):
        self.nth -= 1
        if self.nth == 0:
            self.file.write(bytes(data)[: len(data) // 2])
            raise OSError(errno.ENOSPC, "no space left on device")
        return self.file.write(data)

    def __getattr__(self, name):
        return getattr(self.file, name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()


@pytest.mark.parametrize("nth", [1, 2, 3, 8])
def test_a_full_disk_leaves_both_old_files(residual, tmp_path, monkeypatch, nth):
    old = built(residual, 0)
    labdl.save(old, tmp_path / "net")
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    full = lambda path, mode: FullDisk(open(path, mode), nth)  # noqa: E731, SIM115
    monkeypatch.setattr(atomic_write, "open", full, raising=False)
    with pytest.raises(OSError, match="no space left"):
        labdl.save(built(twin(residual), 1), tmp_path / "net")
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


@pytest.mark.sample(every=6)
@pytest.mark.parametrize("architecture", ["same", "other", "other names"])
@pytest.mark.parametrize("nth", range(1, 6))
@pytest.mark.parametrize("step", ["open", "fsync", "chmod", "replace"])
def test_failed_save_never_mixes_two_models(residual, tmp_path, monkeypatch, step, nth, architecture):
    """The old model, the new model, or an error that says what happened."""
    old = built(residual, 0)
    labdl.save(old, tmp_path / "net")
    graph = {
        "same": residual,
        "other": twin(residual),
        "other names": Graph(
            {"i": Node("Input", "input", {"shape": (None, 4)}), "l": Node("Linear", "linear", {"out_features": 3})},
            {"e": Edge("i", "l")},
        ),
    }[architecture]
    new = built(graph, 1)
    with monkeypatch.context() as patch:
        where, original = (atomic_write, open) if step == "open" else (atomic_write.os, getattr(os, step))
        patch.setattr(where, step, Failing(original, nth), raising=False)
        with contextlib.suppress(OSError):
            labdl.save(new, tmp_path / "net")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["net.labdl", "net.npz"]
    try:
        found = labdl.load(tmp_path / "net", backend="numpy")
    except StateDictError as error:
        assert (step, nth) == ("replace", 2), "only between the two files taking their places"
        assert architecture != "same", "the structure is the same in both saves"
        assert "net.npz was saved with another structure than net.labdl" in str(error)  # noqa: PT017
    else:
        assert same(found, old) or same(found, new)


def crash(model, path, left):
    """In a process of its own, save and be gone at the step after ``left`` others: nothing is flushed or tidied up."""

    def counted(function):
        def call(*args, **options):
            nonlocal left
            if left == 0:
                os._exit(9)
            left -= 1
            return function(*args, **options)

        return call

    child = os.fork()
    if child == 0:
        try:
            for name in ("fsync", "replace", "chmod"):
                setattr(atomic_write.os, name, counted(getattr(os, name)))
            atomic_write.open = counted(open)
            labdl.save(model, path)
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.sample(False)
def test_a_crash_between_any_two_steps(residual, tmp_path):
    old, new = built(residual, 0), built(twin(residual), 1)
    outcomes, statuses = [], []
    for step in range(12):
        path = tmp_path / str(step) / "net"
        path.parent.mkdir()
        labdl.save(old, path)
        statuses.append(crash(new, path, step))
        try:
            found = labdl.load(path, backend="numpy")
            outcomes.append("old" if same(found, old) else "new" if same(found, new) else "mixed")
        except StateDictError:
            outcomes.append("refused")
        labdl.save(new, path)  # what a crash left behind is in nobody's way
        assert same(labdl.load(path, backend="numpy"), new)
    assert (
        statuses == [9] * 9 + [0] * 3
    )  # two files opened, flushed, given their modes and put in place; then the folder
    assert outcomes == ["old"] * 7 + ["refused"] + ["new"] * 4


# -- files that do not belong together


def test_files_of_two_saves_are_not_mixed(residual, tmp_path):
    """Names and shapes agree, and what they compute does not."""
    labdl.save(built(residual, 0), tmp_path / "one")
    labdl.save(built(twin(residual), 0), tmp_path / "other")
    (tmp_path / "one.npz").replace(tmp_path / "other.npz")
    with pytest.raises(StateDictError, match=r"other\.npz was saved with another structure than other\.labdl"):
        labdl.load(tmp_path / "other", backend="numpy")
    model = labdl.load(tmp_path / "other", backend="numpy", parameters=False)
    labdl.swap_parameters(model, tmp_path / "other.npz")  # for those who want just that


def test_parameters_of_another_training_may_be_put_in_place(residual, tmp_path):
    labdl.save(built(residual, 0), tmp_path / "one")
    labdl.save(built(dataclasses.replace(residual, name="best", positions={}), 1), tmp_path / "other")
    (tmp_path / "other.npz").replace(tmp_path / "one.npz")
    assert same(labdl.load(tmp_path / "one", backend="numpy"), built(residual, 1))


def test_parameters_that_were_saved_alone_belong_to_any_structure_they_fit(residual, tmp_path, recwarn):
    labdl.save(built(residual, 0), tmp_path / "net")
    save_parameters(built(residual, 1), tmp_path / "net.npz")  # as a training does that goes on
    assert same(labdl.load(tmp_path / "net", backend="numpy"), built(residual, 1))
    save_structure(twin(residual), tmp_path / "net.labdl")
    assert same(labdl.load(tmp_path / "net", backend="numpy"), built(twin(residual), 1))
    assert not recwarn.list


def test_edited_structure_is_loaded_with_a_warning(residual, tmp_path, recwarn):
    labdl.save(built(residual, 0), tmp_path / "net")
    save_structure(dataclasses.replace(residual, positions={"i": (5.0, 5.0)}, name="moved"), tmp_path / "net.labdl")
    labdl.load(tmp_path / "net", backend="numpy")
    assert not recwarn.list, "where a layer is drawn does not matter"
    save_structure(twin(residual), tmp_path / "net.labdl")
    with pytest.warns(UserWarning, match=r"net\.labdl was changed since net\.npz was saved with it"):
        assert same(labdl.load(tmp_path / "net", backend="numpy"), built(twin(residual), 0))


# -- what a write leaves as it was


def test_a_file_keeps_its_mode(residual, tmp_path):
    path = tmp_path / "net.labdl"
    save_structure(residual, path)
    path.chmod(0o640)
    save_structure(residual, path)
    assert path.stat().st_mode & 0o777 == 0o640


def test_new_file_has_the_mode_of_the_umask(residual, tmp_path):
    (tmp_path / "plain").write_text("")
    save_structure(residual, tmp_path / "net.labdl")
    assert (tmp_path / "net.labdl").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "store").mkdir()
    save_parameters({"a": np.ones(1)}, tmp_path / "store" / "net.npz")
    (tmp_path / "net.npz").symlink_to(tmp_path / "store" / "net.npz")
    save_parameters({"a": np.full(1, 2.0)}, tmp_path / "net.npz")
    assert (tmp_path / "net.npz").is_symlink()
    assert load_parameters(tmp_path / "store" / "net.npz") == {"a": 2.0}


def test_an_error_while_writing_leaves_nothing(tmp_path):
    with pytest.raises(ZeroDivisionError), replace_files(tmp_path / "a", tmp_path / "b") as (one, _):
        one.write(b"something" * (1 // 0))
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(FileNotFoundError), replace_files(tmp_path / "nowhere" / "a"):
        pass


WRITER = """
import sys, time
from labdl.bounded.atomic_write import replace_files
with replace_files(sys.argv[1]) as (file,):
    file.write(b"half")
    file.flush()
    print("open", flush=True)
    time.sleep(60)
"""


def parts_of(folder):
    return [path for path in folder.iterdir() if path.suffix == ".part"]


@pytest.mark.timeout(20)
def test_a_pipe_or_a_folder_under_the_name_of_a_temporary_file(tmp_path):
    others = [tmp_path / f".net.npz.0000000{number}.part" for number in range(3)]
    os.mkfifo(others[0])
    others[1].mkdir()
    others[2].symlink_to(others[2])
    long_ago = time.time() - 3600
    for path in others:
        os.utime(path, (long_ago, long_ago), follow_symlinks=False)
    save_parameters({"a:0": np.zeros(2, "float32")}, tmp_path / "net.npz")
    assert (tmp_path / "net.npz").exists()
    assert sorted(parts_of(tmp_path)) == sorted(others)


def test_temporary_files_of_killed_saves_are_removed_by_the_next_save(tmp_path):
    """Not those of a process that is still writing, nor files of other names."""
    target = tmp_path / "net.npz"
    others = [tmp_path / ".net.npz.part", tmp_path / ".net.npz.0000000g.part", tmp_path / ".other.npz.01234567.part"]
    for path in others:
        path.touch()
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(target)], stdout=subprocess.PIPE) for _ in range(2)]
    for writer in writers:
        assert writer.stdout.readline() == b"open\n"
    killed, alive = writers
    killed.kill()
    killed.wait()
    assert len(parts_of(tmp_path)) == 2 + len(others)
    long_ago = time.time() - 3600
    for path in parts_of(tmp_path):
        os.utime(path, (long_ago, long_ago))
    save_parameters({"a:0": np.zeros(2, "float32")}, target)
    assert len(parts_of(tmp_path)) == 1 + len(others)
    assert all(path.exists() for path in others)
    alive.kill()
    alive.wait()
    for writer in writers:
        writer.stdout.close()
    for path in parts_of(tmp_path):
        os.utime(path, (long_ago, long_ago))
    save_parameters({"a:0": np.zeros(2, "float32")}, target)
    assert sorted(parts_of(tmp_path)) == sorted(others)


def test_tuple_of_one_tensor_is_refused(tmp_path):
    """A graph would give back the tensor."""

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.dense = nn.Linear(3)

        def forward(self, x):
            return (self.dense(x),)

    model = Model().build((None, 4), backend="numpy", seed=0)
    with pytest.raises(ModelError, match="returns a tuple of one tensor"):
        labdl.save(model, tmp_path / "net")
    assert list(tmp_path.iterdir()) == []
