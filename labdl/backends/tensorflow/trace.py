"""The trace of TensorFlow's profiler, as files for TensorBoard."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import tensorflow as tf


@contextmanager
def trace(folder: Path) -> Iterator[None]:
    """A context whose operations are written to plugins/profile in a folder."""
    tf.profiler.experimental.start(str(folder))
    try:
        yield
    finally:
        tf.profiler.experimental.stop()
