"""What a visitor of the Binder is given: the start of the server, the workspace, and the model on the canvas."""

import json
import os
import subprocess
import sys
from pathlib import Path

import labdl
from labdl.graph import diff

ROOT = Path(__file__).resolve().parents[2]
BINDER = ROOT / "binder"


def start(home: Path, **variables: str) -> str:
    """What a server would be given by `binder/start`: its number of threads."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "OMP"))}
    environment |= {"HOME": str(home), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", **variables}
    command = [str(BINDER / "start"), "sh", "-c", "echo ${OMP_NUM_THREADS:-all}"]
    return subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, check=True).stdout.strip()


def test_start_prepares_an_empty_home_once(tmp_path):
    assert start(tmp_path, CPU_LIMIT="2.5") == "2"
    assert (tmp_path / "notebooks" / "quickstart.ipynb").is_file()
    [workspace] = (tmp_path / ".jupyter" / "lab" / "workspaces").iterdir()
    assert json.loads(workspace.read_text())["metadata"]["id"] == "labdl"

    workspace.write_text("arranged by the visitor")
    assert start(tmp_path) == "all"
    assert start(tmp_path, CPU_LIMIT="0.5") == "1"
    assert workspace.read_text() == "arranged by the visitor"


def test_the_workspace_opens_files_of_the_repository():
    data = json.loads((BINDER / "workspace.json").read_text())["data"]
    names = [name for area in data["layout-restorer:data"]["main"]["dock"]["children"] for name in area["widgets"]]
    assert {name.partition(":")[2] for name in names} == {"notebooks/quickstart.ipynb", "notebooks/digits.labdl"}
    for name in names:
        assert (ROOT / data[name]["data"]["path"]).is_file()


def test_the_model_on_the_canvas_is_that_of_the_quickstart():
    cells = json.loads((ROOT / "notebooks" / "quickstart.ipynb").read_text())["cells"]
    source = next("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    definition = source.partition("model =")[0].replace("labdl.seed(0)", "")
    names: dict = {}
    exec(definition, names)
    written = labdl.trace(names["Digits"](), (None, 1, 8, 8), name="digits")
    drawn = labdl.load_structure(ROOT / "notebooks" / "digits.labdl")
    assert not diff(written, drawn)
