"""Threads: MindSpore shares kernels between threads, with their sizes and buffers, so that one thread computes at a time."""

import functools
import threading

computing = threading.RLock()
# compiled functions have kernels of their own, and call custom operators from another thread, which may compute
compiled_calls = threading.RLock()


def exclusive(function):
    """The function, called by one thread at a time: two in one kernel would end the process or mix their results."""

    @functools.wraps(function)
    def run(*args, **kwargs):
        with computing:
            return function(*args, **kwargs)

    return run
