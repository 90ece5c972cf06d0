"""Conversion of ONNX files to model files in a subprocess: a broken file must not crash or block the server."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from labdl.errors import FileFormatError, LabDLError

LARGEST = 512 * 2**20  # bytes; the server holds several copies
SECONDS = 180
MEMORY = 8 * 2**30  # bytes of addresses of the process, most of which libraries reserve and do not use
_FOR_EACH_BYTE = 12  # more for each byte of the file: its parts, the weights and their copies
_REFUSED = 3  # exit status of a process that reports what is wrong with the file


def convert(data: bytes, name: str) -> tuple[bytes, bytes]:
    """Convert an ONNX file to the bytes of the structure file and of the parameter file. Raises FileFormatError."""
    if len(data) > LARGEST:
        raise FileFormatError(
            f"{name} has {len(data):,} bytes: files above {LARGEST // 2**20} MiB are converted in a notebook, with "
            "labdl.saving.onnx.import_onnx and labdl.save"
        )
    # also the working folder of the process, so that no module of the user shadows one of LabDL
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "source").write_bytes(data)
        try:
            done = subprocess.run(
                [sys.executable, "-m", __name__, name, str(MEMORY + _FOR_EACH_BYTE * len(data))],
                cwd=folder,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=SECONDS,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            raise FileFormatError(f"{name} could not be converted within {SECONDS} seconds") from None
        if done.returncode == _REFUSED:
            raise FileFormatError(done.stdout.strip())
        if done.returncode:
            last = done.stderr.strip().splitlines()[-1:] or [f"it ended with status {done.returncode}"]
            raise FileFormatError(f"{name} could not be converted: {last[0]:.300}")
        return (Path(folder) / "model.labdl").read_bytes(), (Path(folder) / "model.npz").read_bytes()


def _main(name: str, memory: int) -> int:
    limit_memory(memory)
    try:
        from labdl.saving import save
        from labdl.saving.onnx.importer.module import decode

        save(decode(Path("source").read_bytes(), name, "numpy"), "model")
    except (LabDLError, MemoryError) as error:
        is_short = isinstance(error, MemoryError) or isinstance(error.__cause__, MemoryError)
        advice = f"{name} takes more memory than the {memory / 1e9:,.0f} GB that the server gives to a conversion"
        print(advice if is_short else error)
        return _REFUSED
    return 0


def limit_memory(most: int) -> None:
    """Limit the memory of this process, so that a file cannot take that of the machine; Windows has no such limit."""
    try:
        import resource
    except ImportError:
        return
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    with suppress(ValueError, OSError):  # systems that know the limit and do not enforce it
        resource.setrlimit(resource.RLIMIT_AS, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1], int(sys.argv[2])))
