"""The trace of PyTorch's profiler, as a file for chrome://tracing and Perfetto."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch


@contextmanager
def trace(folder: Path) -> Iterator[None]:
    """A context whose operations are written to trace.json in a folder."""
    kinds = [torch.profiler.ProfilerActivity.CPU]
    if torch.cuda.is_available():
        kinds.append(torch.profiler.ProfilerActivity.CUDA)
    with torch.profiler.profile(activities=kinds) as profiler:
        yield
    profiler.export_chrome_trace(str(folder / "trace.json"))
