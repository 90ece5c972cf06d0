"""Read a training run's folder for a page that watches it; commands to the run are `labdl.train.control`'s."""

import json
import os
from pathlib import Path

import psutil

EVENTS = "events.jsonl"
ANSWER_LIMIT = 4 * 1024 * 1024
TAIL = 64 * 1024  # an "end" line is a few hundred bytes; the window only has to hold the last line


def read(folder: Path, offset: int = 0) -> dict:
    """The events written after `offset` bytes: whole lines only, and no more than the limit of one answer."""
    with open(folder / EVENTS, "rb") as file:
        alive = is_alive(file)
        file.seek(offset)
        block = file.read(ANSWER_LIMIT)
        whole = block.rfind(b"\n") + 1
        if not whole and len(block) == ANSWER_LIMIT:
            # one line longer than the limit: read it to its end, or the reader would stand still here for ever
            block += file.readline()
            whole = len(block) if block.endswith(b"\n") else 0
    events = [event for line in block[:whole].splitlines() if (event := parse(line)) is not None]
    return {"offset": offset + whole, "events": events, "alive": alive}


def parse(line: bytes) -> dict | None:
    """One event, or None for a line cut short when the process that wrote it was killed."""
    try:
        event = json.loads(line, parse_constant=lambda _: None)  # NaN is not JSON, a browser would refuse it
    except ValueError:
        return None
    return event if isinstance(event, dict) else None


def is_alive(file) -> bool:
    """Whether the process that writes this run still lives and has not said that it came to the end."""
    file.seek(0)
    start = parse(file.readline())
    if start is None or not isinstance(start.get("pid"), int):
        # an empty file belongs to a run that is just starting
        return start is None and os.fstat(file.fileno()).st_size == 0
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - TAIL))
    lines = file.read().splitlines()
    last = parse(lines[-1]) if lines else None
    if last is not None and last.get("kind") == "end":
        return False
    return process_exists(start["pid"], start.get("time"))


def process_exists(pid: int, started: float | None) -> bool:
    """Whether `pid` is the process that began the run, and not a later one with the same number."""
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        # one second of grace: the system's clock ticks and ours are not the same
        return started is None or process.create_time() <= started + 1
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return True  # it exists, and belongs to somebody else
