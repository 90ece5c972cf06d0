"""Worker processes: the batches of threads bit for bit, code of notebooks, failures in a sentence, and nothing left behind."""

import errno
import gc
import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import psutil
import pytest
from worker_processes import is_worker, worker_processes

from labdl import data
from labdl.data import transforms as T
from labdl.data.workers import batch_pickle, segment, worker_process
from labdl.data.workers.batch_pickle import SegmentWriter
from labdl.errors import ConfigError, DataError

SHARED = Path("/dev/shm")


class Mixed(data.Dataset):
    """Samples with pictures, texts, boxes and arrays of different lengths."""

    name, inputs, targets = "mixed", ("image",), ("label",)

    def __init__(self, count=23, broken=(), ragged=False):
        self.count, self.broken, self.ragged = count, set(broken), ragged

    def __len__(self):
        return self.count

    def read(self, index, epoch=0):
        if index in self.broken:
            raise OSError("no such picture")
        rng = np.random.default_rng(index)
        return {
            "image": data.Image(rng.integers(0, 255, (40, 40, 3), "uint8")),
            "boxes": data.BoundingBoxes(np.full((index % 3, 4), index, "float32"), canvas_size=(40, 40)),
            "tokens": data.TokenIds(np.arange(index % 5 if self.ragged else 4)),
            "label": index % 3,
            "text": f"number {index}",
            "share": index / 7,
            "large": rng.normal(size=(3, 5000)),
        }


class Slow(Mixed):
    def read(self, index, epoch=0):
        time.sleep(0.02)
        return super().read(index, epoch)


def processes(settings=None):
    return {"workers": 2, "worker_type": "process", **(settings or {})}


def segments() -> set[str]:
    return set(os.listdir(SHARED)) if SHARED.exists() else set()


def mapped() -> int:
    """Mappings of shared memory in this process, with those whose name is removed."""
    maps = Path("/proc/self/maps")
    return sum("/dev/shm/" in line for line in maps.read_text().splitlines()) if maps.exists() else 0


@pytest.fixture(autouse=True)
def nothing_is_left():
    """Each test has to leave no process, thread, name or mapping of shared memory."""
    before, mapped_before = segments(), mapped()  # locks of other libraries are mapped too
    yield
    gc.collect()
    assert worker_processes() == []
    assert [t.name for t in threading.enumerate() if t.name.startswith("labdl-data")] == []
    assert segments() <= before
    assert mapped() <= mapped_before


def assert_same(first, second):
    assert len(first) == len(second)
    for a, b in zip(first, second, strict=True):
        assert a.keys() == b.keys()
        for name in a:
            one, other = a[name], b[name]
            for x, y in zip(one, other, strict=True) if isinstance(one, list) else [(one, other)]:
                assert type(x) is type(y)
                assert x.dtype == y.dtype
                assert np.array_equal(x, y)


@pytest.mark.sample(False)
def test_batches_are_those_of_threads_bit_for_bit():
    pipeline = [T.RandomCrop(32), T.ToFloat()]
    settings = {"batch_size": 6, "shuffle": True, "seed": 3, "pad": 0}
    loaders = [
        Mixed(ragged=True).map(pipeline, seed=1).loader(**settings, **more)
        for more in ({"workers": 0}, {"workers": 3}, processes())
    ]
    for epoch, start in ((0, 0), (1, 2)):
        wanted, threads, found = ([batch for batch in loader.epoch(epoch, start)] for loader in loaders)
        assert_same(wanted, threads)
        assert_same(wanted, found)
    assert wanted[0]["image"].shape == (6, 3, 32, 32)


@pytest.mark.sample(False)
def test_what_a_cell_defines_works_without_a_module():
    cell: dict = {"data": data, "np": np, "__name__": "__main__"}
    exec(
        textwrap.dedent(
            """
            factor = 3
            class Own(data.Dataset):
                def __len__(self):
                    return 10
                def __getitem__(self, i):
                    return np.full(4, i * factor, "float32"), i
            own = Own().map(lambda pair: (pair[0] + factor, pair[1]))
            """
        ),
        cell,
    )
    (x, y), *_ = cell["own"].loader(4, **processes())
    assert x[:, 0].tolist() == [3, 6, 9, 12]
    assert y.tolist() == [0, 1, 2, 3]


@pytest.mark.sample(False)
def test_streams_are_read_here_and_mapped_in_the_workers():
    here = os.getpid()
    stream = data.IterableDataset({"x": np.arange(i, i + 3000), "read": os.getpid()} for i in range(9))
    stream = stream.map(lambda s: {**s, "x": s["x"] * 2, "mapped": os.getpid()})
    batches = list(stream.loader(2, **processes()))
    assert [b["x"][:, 0].tolist() for b in batches] == [[0, 4 - 2], [4, 6], [8, 10], [12, 14], [16]]
    assert {int(p) for b in batches for p in b["read"]} == {here}
    assert here not in {int(p) for b in batches for p in b["mapped"]}
    endless = data.IterableDataset(lambda: iter(range(5))).map(np.float32)
    loader = endless.loader(2, steps_per_epoch=3, **processes())
    assert [b.tolist() for e in range(2) for b in loader.epoch(e)] == [[0, 1], [2, 3], [4, 0], [1, 2], [3, 4], [0, 1]]


@pytest.mark.sample(False)
def test_segments_are_used_again_and_batches_that_are_kept_stay_as_they_are():
    batches = Mixed(60).loader(4, **processes()).epoch()
    kept = [next(batches) for _ in range(8)]
    for at, batch in enumerate(kept):
        expected = np.stack([Mixed().read(i)["large"] for i in range(4 * at, 4 * at + 4)])
        assert np.array_equal(batch["large"], expected)
    first, later = kept[0]["large"], kept[7]["large"]
    del kept, batch
    batches.close()
    gc.collect()
    assert mapped() > 0  # the first one lies in shared memory, which has no name any more
    assert first.ctypes.data % 64 == later.ctypes.data % 64 == 0
    assert np.array_equal(first[1], Mixed().read(1)["large"])
    batches = Mixed(60).loader(4, **processes({"workers": 1})).epoch()
    places = {next(batches)["large"].ctypes.data // 4096 for _ in range(12)}
    assert len(places) <= 5
    batches.close()


@pytest.mark.sample(False)
def test_persistent_workers_serve_several_epochs():
    loader = Mixed(12).loader(4, shuffle=True, **processes({"persistent_workers": True}))
    wanted = Mixed(12).loader(4, shuffle=True, workers=0)
    pids = set()
    for epoch in range(3):
        assert_same(list(loader.epoch(epoch)), list(wanted.epoch(epoch)))
        pids |= {p.pid for p in worker_processes()}
        next(loader.epoch(epoch))  # what is left in the middle does not come later
    assert len(pids) == 2
    loader.close()
    assert worker_processes() == []
    other = Mixed(12).loader(4, **processes({"persistent_workers": True}))
    list(other)
    del other
    gc.collect()


# -- failures


@pytest.mark.sample(False)
def test_an_exception_names_the_sample_and_shows_the_last_lines():
    loader = Mixed(broken=[9]).map(lambda s: s).loader(4, **processes())
    with pytest.raises(DataError, match=r"^sample 9 of mixed cannot be read: OSError: no such picture\n") as caught:
        list(loader)
    notes = "".join(caught.value.__notes__)
    assert "In the worker process:" in notes
    assert 'raise OSError("no such picture")' in notes
    assert notes.count("\n") < 12


@pytest.mark.sample(False)
def test_samples_are_skipped_and_replaced_as_by_threads():
    for errors in ("skip", "replace"):
        found, wanted = (
            Mixed(broken=[2, 9]).loader(4, errors=errors, **more) for more in (processes(), {"workers": 0})
        )
        with pytest.warns(UserWarning, match="2 samples of mixed could not be read: sample 2 of mixed"):
            batches = list(found)
        with pytest.warns(UserWarning, match="2 samples"):
            assert_same(batches, list(wanted))
        assert found.problems == wanted.problems
    with pytest.raises(DataError, match="none of the 2 samples of a batch of mixed could be read"):
        list(Mixed(2, broken=[0, 1]).loader(2, errors="skip", **processes()))


@pytest.mark.sample(False)
def test_a_killed_worker_is_a_sentence():
    batches = Slow(500).loader(4, **processes()).epoch()
    next(batches)
    victim = worker_processes()[0]
    victim.kill()
    with pytest.raises(
        DataError, match=r"a worker process was ended by SIGKILL.* while it read samples from \d+ to \d+ of mixed"
    ):
        list(batches)


@pytest.mark.sample(False)
def test_a_worker_that_ends_itself_is_a_sentence():
    def leave(sample):
        os._exit(7)

    with pytest.raises(DataError, match="a worker process ended with exit status 7"):
        list(Mixed().map(leave).loader(4, **processes()))


@pytest.mark.sample(False)
def test_full_shared_memory_is_a_sentence(monkeypatch):
    real = os.posix_fallocate

    def fallocate(descriptor, offset, size):
        if size > 400_000:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(descriptor, offset, size)

    monkeypatch.setattr(os, "posix_fallocate", fallocate)
    message = r"no room in shared memory for a batch of .* MiB, /dev/shm has .* MiB left: use fewer workers"
    with pytest.raises(DataError, match=message):
        list(Mixed().loader(16, **processes()))
    assert len(list(Mixed().loader(1, **processes()))) == 23


def test_more_than_the_machine_has_is_a_sentence():
    with pytest.raises(DataError, match="no room in shared memory for a batch of"):
        segment.create_segment(1 << 50)


@pytest.mark.sample(False)
def test_data_that_cannot_travel_are_a_sentence():
    lock = threading.Lock()
    locked = Mixed().map(lambda s: (s, lock))
    with pytest.raises(
        ConfigError, match=r"mixed cannot be sent to worker processes .*lock.*open files and connections"
    ):
        list(locked.loader(4, **processes()))
    stream = data.IterableDataset(threading.Lock() for _ in range(3))
    with pytest.raises(DataError, match="samples of the stream <genexpr> cannot be sent to worker processes"):
        list(stream.map(lambda s: 1).loader(2, **processes()))

    class Unreadable:
        def __reduce__(self):
            return exec, ("raise ImportError('no module here')",)

    unreadable = Unreadable()
    with pytest.raises(DataError, match="mixed cannot be read in a worker process: ImportError: no module here"):
        list(Mixed().map(lambda s: (s, unreadable)).loader(4, **processes()))


def test_ctrl_c_ends_the_workers_at_once():
    threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        list(Slow(10_000).loader(4, **processes()))
    assert worker_processes() == []


@pytest.mark.sample(False)
@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="Windows cannot stop a process")
def test_a_worker_that_does_not_answer_is_killed_at_the_end():
    batches = Slow(500).loader(4, **processes()).epoch()
    next(batches)
    for child in worker_processes():
        child.suspend()
    batches.close()


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("end", ["pass", "raise SystemExit(3)", "os.kill(os.getpid(), 9)"])
def test_a_script_needs_no_guard_and_leaves_nothing_however_it_ends(tmp_path, end):
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(
            f"""
            import os
            import numpy as np
            from labdl import data

            print("run", flush=True)

            class Own(data.Dataset):
                def __len__(self):
                    return 40
                def __getitem__(self, i):
                    print("read")
                    return np.full(20_000, i), i

            batches = Own().loader(4, workers=2, worker_type="process").epoch()
            x, y = next(batches)
            print("first", x[1, 0], flush=True)
            {end}
            """
        )
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert done.stdout.splitlines() == ["run", "first 1"]
    lines = [line for line in done.stderr.splitlines() if "resource_tracker" not in line]  # after a kill it tidies up
    assert "".join(lines).replace("read", "") == ""
    deadline = time.monotonic() + 60
    while any(map(is_worker, psutil.process_iter())):
        assert time.monotonic() < deadline
        time.sleep(0.05)


# -- messages


def test_batches_are_pickled_without_the_arrays_of_the_memory():
    memory = np.zeros(1 << 20, np.uint8)
    writer = SegmentWriter(memory)
    large = writer.allocate((100, 100), np.dtype("float64"))
    large[...] = np.arange(10_000).reshape(100, 100)
    other, small = np.arange(5000), np.arange(3)
    batch = {"large": large, "other": [other, small], "text": np.array(["a" * 2000, "b"]), "object": np.array([None])}
    text = writer.dumps(batch)
    assert len(text) < 12_000
    restored = batch_pickle.loads(text, lambda start, shape, dtype: np.ndarray(shape, dtype, memory, start))
    assert np.array_equal(restored["large"], large)
    assert np.shares_memory(restored["large"], memory)
    assert np.array_equal(restored["other"][0], other)
    assert np.shares_memory(restored["other"][0], memory)
    assert restored["other"][1].tolist() == [0, 1, 2]
    assert restored["text"].tolist() == ["a" * 2000, "b"]
    assert restored["object"].tolist() == [None]
    tight = SegmentWriter(np.zeros(100, np.uint8))
    tight.dumps({"large": large, "other": other})
    assert not tight.fits
    assert large.nbytes + other.nbytes <= tight.needed < large.nbytes + other.nbytes + 128
    stacked = SegmentWriter(np.zeros(100, np.uint8))
    stacked.dumps({"stacked": stacked.allocate((100, 100), np.dtype("float64"))})
    assert stacked.needed == 80_000


def test_a_worker_answers_while_a_sample_is_read():
    """The commands for many batches do not wait for the samples: they are longer than a pipe holds."""
    order = np.arange(200_000) % 20
    loader = data.Loader(Slow(20).select(order).take(200_000), 60_000, prefetch=4, **processes())
    batches = loader.epoch()
    closing = threading.Timer(1.0, lambda: [p.kill() for p in worker_processes()])
    closing.start()
    with pytest.raises(DataError, match="a worker process was ended by SIGKILL"):
        next(batches)
    assert re.search("worker", worker_process.__doc__ or "")
