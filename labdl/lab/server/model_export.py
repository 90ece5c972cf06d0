"""Export of a document's model in a subprocess: frameworks are loaded there, and a model too large ends only that."""

from __future__ import annotations

import io
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from labdl.errors import LabDLError, ModelError, StateDictError
from labdl.lab.server.onnx_conversion import limit_memory

SECONDS = 300
MEMORY = 24 * 2**30  # bytes of addresses, most of which frameworks reserve and do not use
_REFUSED = 3  # exit status of a process that reports what is wrong with the model
_NEW_WEIGHTS = "new weights: "  # printed where the parameters are not those of the file


def export(structure: bytes, parameters: Path | None, stem: str, kind: str) -> tuple[bytes, str, str]:
    """The bytes of an exported model, their file name, and why the weights are new ("" if those of ``parameters`` are used).

    ``kind`` is ``onnx``, ``weights`` or the name of a framework, whose source and weights come as one archive. Raises
    ModelError.
    """
    if kind == "weights":
        if parameters is None:
            raise ModelError(f"{stem} has no parameters yet: train it first")
        return parameters.read_bytes(), f"{stem}.npz", ""
    with tempfile.TemporaryDirectory() as folder:  # also the working folder, so that no module of the user shadows one
        Path(folder, "model.labdl").write_bytes(structure)
        arguments = [] if parameters is None else [str(parameters)]
        try:
            done = subprocess.run(
                [sys.executable, "-m", __name__, kind, stem, *arguments],
                cwd=folder,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=SECONDS,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            raise ModelError(f"{stem} could not be exported within {SECONDS} seconds") from None
        if done.returncode == _REFUSED:
            raise ModelError(done.stdout.strip().splitlines()[-1])
        if done.returncode:
            last = done.stderr.strip().splitlines()[-1:] or [f"it ended with status {done.returncode}"]
            raise ModelError(f"{stem} could not be exported: {last[0]:.300}")
        notes = [line for line in done.stdout.splitlines() if line.startswith(_NEW_WEIGHTS)]
        note = notes[-1].removeprefix(_NEW_WEIGHTS) if notes else ""
        files = sorted(Path(folder, "out").iterdir())
        if kind == "onnx" and len(files) == 1:
            return files[0].read_bytes(), files[0].name, note
        return _archive(files), f"{stem}-{kind}.zip", note


def _archive(files: list[Path]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            archive.write(file, file.name)
    return data.getvalue()


def _main(kind: str, stem: str, *parameters: str) -> int:
    limit_memory(MEMORY)
    try:
        from labdl import saving
        from labdl.saving.export import export as write

        graph = saving.load_structure("model.labdl")
        model = graph.to_module().build(backend="numpy")
        try:
            if not parameters:
                raise StateDictError(f"there is no {stem}.npz")
            model.load_state_dict(saving.load_parameters(parameters[0]))
        except StateDictError as error:
            print(_NEW_WEIGHTS + str(error).partition("\n")[0])
        Path("out").mkdir()
        suffix, target = (".onnx", None) if kind == "onnx" else (".py", kind)
        write(model, Path("out", stem + suffix), target)
    except ImportError as error:
        print(f"{kind} is not installed where JupyterLab runs: {error}")
        return _REFUSED
    except (LabDLError, MemoryError) as error:
        print(str(error).replace("\n", " ") or "the model takes more memory than the server gives to an export")
        return _REFUSED
    return 0


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:]))
