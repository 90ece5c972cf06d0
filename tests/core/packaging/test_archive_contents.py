"""The lists of files that a wheel and an sdist must and must not contain, and the copies of the version."""

import json
import re
import runpy
import tomllib
from pathlib import Path

import pytest

import labdl

ROOT = Path(__file__).resolve().parents[3]
contents = runpy.run_path(str(ROOT / "scripts" / "archive_contents.py"))

WIDGETS = [
    f"labdl/lab/static/{n}.{s}" for n in ("dashboard", "data", "editor", "runs", "snapshot") for s in ("js", "css")
]
WIDGETS.append("labdl/lab/static/third-party-licenses.json")
EXTENSION = [
    "package.json",
    "install.json",
    "schemas/labdl/plugin.json",
    "static/remoteEntry.5145f31.js",
    "static/third-party-licenses.json",
]
SHARED = "labdl-0.2.0.data/data/share/jupyter/labextensions/labdl/"
COMPLETE = {
    "wheel": [
        *WIDGETS,
        "labdl/__init__.py",
        *(SHARED + name for name in EXTENSION),
        "labdl-0.2.0.data/data/etc/jupyter/jupyter_server_config.d/labdl.json",
        *(f"labdl-0.2.0.dist-info/{name}" for name in ("METADATA", "entry_points.txt", "licenses/LICENSE")),
    ],
    "sdist": [
        *WIDGETS,
        "labdl/__init__.py",
        *(f"labdl/lab/labextension/{name}" for name in EXTENSION),
        *(f"labextension/{name}" for name in ("package-lock.json", "install.json", "src/jupyter/index.ts")),
        *("PKG-INFO", "LICENSE", "README.md", "pyproject.toml", "hatch_build.py", "CITATION.cff"),
        "jupyter-config/server-config/labdl.json",
    ],
}


@pytest.mark.parametrize("kind", COMPLETE)
def test_complete_archive_has_no_faults(kind):
    assert contents["faults"](kind, COMPLETE[kind], ["labdl/__init__.py"]) == []


@pytest.mark.parametrize("kind", COMPLETE)
def test_each_file_of_the_list_is_required(kind):
    for name in COMPLETE[kind]:
        rest = [other for other in COMPLETE[kind] if other != name]
        assert len(contents["faults"](kind, rest, ["labdl/__init__.py"])) == 1, name


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("wheel", "tests/conftest.py"),
        ("wheel", "labextension/src/jupyter/index.ts"),
        ("wheel", "labdl/lab/labextension/package.json"),
        ("wheel", "labdl/lab/static/editor.js.map"),
        ("wheel", "labdl/ops/__pycache__/neural.cpython-311.pyc"),
        ("sdist", "tests/conftest.py"),
        ("sdist", "labextension/node_modules/react/index.js"),
        ("sdist", "labextension/src/forms/__tests__/form.test.tsx"),
        ("sdist", "labextension/lib/jupyter/index.js"),
        ("sdist", "notebooks/quickstart.ipynb"),
    ],
)
def test_forbidden_files_are_named(kind, name):
    assert contents["faults"](kind, [*COMPLETE[kind], name], []) == [f"must not contain {name}"]


def test_file_that_is_there_twice_is_named():
    names = [*COMPLETE["wheel"], "labdl/__init__.py"]
    assert contents["faults"]("wheel", names, []) == ["contains labdl/__init__.py twice"]


def test_version_stands_in_one_file_and_its_copies_agree():
    assert "version" not in json.loads((ROOT / "labextension" / "package.json").read_text())
    citation = (ROOT / "CITATION.cff").read_text()
    assert re.findall(r"^version: (.*)$", citation, re.MULTILINE) == [labdl.__version__]
    [date] = re.findall(r"^date-released: (.*)$", citation, re.MULTILINE)
    assert f"## [{labdl.__version__}] - {date}\n" in (ROOT / "CHANGELOG.md").read_text()


def test_oldest_jupyterlab_of_the_tests_is_the_oldest_that_is_allowed():
    [oldest] = re.findall(r'"jupyterlab>=([\d.]+),', (ROOT / "pyproject.toml").read_text())
    assert f'"jupyterlab=={oldest}.*"' in (ROOT / "Makefile").read_text()


def test_shared_data_name_each_file_once():
    """An editable install writes through the link to the built extension: a second source of a file would be found there."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    targets = list(settings["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-data"].values())
    assert [(a, b) for a in targets for b in targets if a != b and a.startswith(f"{b}/")] == []
    assert len(targets) == len(set(targets))
