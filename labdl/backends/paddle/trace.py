"""The trace of PaddlePaddle's profiler, as a file for chrome://tracing and Perfetto."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from paddle import profiler


@contextmanager
def trace(folder: Path) -> Iterator[None]:
    """A context whose operations are written to trace.json in a folder."""
    targets = [t for t in profiler.profiler._get_supported_targets() if t is not None]
    recorder = profiler.Profiler(targets=targets, on_trace_ready=lambda p: p.export(str(folder / "trace.json"), "json"))
    recorder.start()
    try:
        yield
    finally:
        recorder.stop()
