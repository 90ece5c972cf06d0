"""The processes that read samples, for tests that say that none is left."""

import psutil


def is_worker(process: psutil.Process) -> bool:
    """True for a process that reads samples and has not ended."""
    try:
        return "labdl.data.workers.worker" in " ".join(process.cmdline())
    except (psutil.NoSuchProcess, psutil.AccessDenied):  # ended since it was listed, or of another user
        return False


def worker_processes() -> list[psutil.Process]:
    """Worker processes below this process; Python keeps one of its own for shared memory until it ends."""
    return [process for process in psutil.Process().children(recursive=True) if is_worker(process)]
