"""A limit for the memory of processes, by a control group of Linux."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
INTERVAL = 0.1  # seconds between two looks at the memory


@dataclass(frozen=True)
class Version:
    """Where a version of control groups has its files, and what it calls things."""

    folder: Path
    limit: str
    anonymous: tuple[str, ...]  # in memory.stat: what cannot be written back to a disk, as the cache of files can
    kills: tuple[str, str]  # the file and the word before the number


VERSIONS = (
    Version(ROOT, "memory.max", ("anon", "shmem"), ("memory.events", "oom_kill")),
    Version(
        ROOT / "memory",
        "memory.limit_in_bytes",
        ("total_rss", "total_shmem"),
        ("memory.oom_control", "oom_kill"),
    ),
)


class MemoryLimit:
    """A control group; its processes together get `size` bytes, and the kernel ends one that asks for more.

    `peak` is the largest sum so far of what they held without the cache of files, in bytes; `kills` counts processes
    that were ended for their memory.
    """

    def __init__(self, version: Version, folder: Path):
        self._version, self.folder, self.peak = version, folder, 0

    def command(self, command: Sequence[str]) -> list[str]:
        """The command, to be run as root, whose process and children are under the limit."""
        return ["sh", "-c", 'echo $$ > "$0" && exec "$@"', str(self.folder / "cgroup.procs"), *command]

    @property
    def kills(self) -> int:
        file, word = self._version.kills
        return _numbers(self.folder / file).get(word, 0)

    def _watch(self, end: threading.Event) -> None:
        while not end.wait(INTERVAL):
            numbers = _numbers(self.folder / "memory.stat")
            self.peak = max(self.peak, sum(numbers.get(name, 0) for name in self._version.anonymous))


def _numbers(file: Path) -> dict[str, int]:
    lines = (line.split() for line in file.read_text().splitlines())
    return {line[0]: int(line[1]) for line in lines if len(line) == 2}


@contextmanager
def memory_limit(name: str, size: int) -> Iterator[MemoryLimit]:
    """A new control group with this limit in bytes, which is gone afterwards together with its processes."""
    version = next((v for v in VERSIONS if (v.folder / "cgroup.procs").exists() and _has_memory(v)), None)
    if version is None:
        raise SystemExit("This machine has no control groups for memory (looked in /sys/fs/cgroup).")
    folder = version.folder / f"{name}-{os.getpid()}"
    folder.mkdir()
    (folder / version.limit).write_text(str(size))
    limit, end = MemoryLimit(version, folder), threading.Event()
    watch = threading.Thread(target=limit._watch, args=(end,), daemon=True)
    watch.start()
    try:
        yield limit
    finally:
        end.set()
        watch.join()
        _remove(folder)


def _has_memory(version: Version) -> bool:
    controllers = version.folder / "cgroup.controllers"  # of version 2 alone
    return not controllers.exists() or "memory" in controllers.read_text().split()


def _remove(folder: Path) -> None:
    for _ in range(100):
        for number in (folder / "cgroup.procs").read_text().split():
            try:
                os.kill(int(number), 9)
            except ProcessLookupError:
                continue  # it has ended meanwhile
        try:
            folder.rmdir()
            return
        except OSError:
            time.sleep(0.1)  # a process that is ending
    raise SystemExit(f"The control group {folder} still has processes.")
