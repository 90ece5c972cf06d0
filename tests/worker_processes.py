"""The processes that read samples, for tests that say that none is left."""

import psutil


def is_worker(process: psutil.Process) -> bool:
    try:
        return "labdl.data.workers.worker" in " ".join(process.cmdline())
    except (psutil.NoSuchProcess, psutil.AccessDenied):  # ended since it was listed, or of another person
        return False


def worker_processes() -> list[psutil.Process]:
    """Those below this process; Python keeps one of its own for shared memory until it ends."""
    return [process for process in psutil.Process().children(recursive=True) if is_worker(process)]
