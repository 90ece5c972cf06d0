#!/usr/bin/env python3
"""Check which files a wheel or an sdist of LabDL contains: `python scripts/archive_contents.py dist/*`.

Prints the number of files and the size of each archive, and every file that is missing or must not be there.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WIDGETS = ("dashboard", "data", "editor", "runs", "snapshot")
BUILT = (
    *(rf"labdl/lab/static/{name}\.js" for name in WIDGETS),
    *(rf"labdl/lab/static/{name}\.css" for name in WIDGETS),
    r"labdl/lab/static/third-party-licenses\.json",
)
EXTENSION = (
    r"package\.json",
    r"install\.json",
    r"schemas/labdl/plugin\.json",
    r"static/remoteEntry\.\w+\.js",
    r"static/third-party-licenses\.json",
)
SHARED = r"labdl-[\w.]+\.data/data/"
INFO = r"labdl-[\w.]+\.dist-info/"
REQUIRED = {
    "wheel": (
        *BUILT,
        *(rf"{SHARED}share/jupyter/labextensions/labdl/{name}" for name in EXTENSION),
        rf"{SHARED}etc/jupyter/jupyter_server_config\.d/labdl\.json",
        *(INFO + name for name in ("METADATA", r"entry_points\.txt", "licenses/LICENSE")),
    ),
    "sdist": (
        *BUILT,
        *(rf"labdl/lab/labextension/{name}" for name in EXTENSION),
        *(rf"labextension/{name}" for name in (r"package-lock\.json", r"install\.json", r"src/jupyter/index\.ts")),
        *(r"PKG-INFO", "LICENSE", r"README\.md", r"pyproject\.toml", r"hatch_build\.py", r"CITATION\.cff"),
        r"jupyter-config/server-config/labdl\.json",
    ),
}
EVERYWHERE = (
    r"(.*/)?(node_modules|__pycache__|__tests__|\.ipynb_checkpoints)/.*",
    r".*\.(pyc|map|tsbuildinfo)",
    "tests/.*",
)
FORBIDDEN = {
    # the extension of JupyterLab is shared data: a copy in the package would be read by nothing
    "wheel": (*EVERYWHERE, "(?!labdl/|labdl-).*", r".*\.tsx?", "labdl/lab/labextension/.*"),
    "sdist": (*EVERYWHERE, "(docs|notebooks|runs|build|dist)/.*", "labextension/(lib|dev)/.*"),
}


def kind_of(path: Path) -> str:
    """'wheel' or 'sdist', by the suffix."""
    return "wheel" if path.suffix == ".whl" else "sdist"


def read_names(path: Path) -> list[str]:
    """The files of an archive, those of an sdist below its one folder."""
    if kind_of(path) == "wheel":
        with zipfile.ZipFile(path) as archive:
            return archive.namelist()
    with tarfile.open(path) as archive:
        return [member.name.partition("/")[2] for member in archive if member.isfile()]


def faults(kind: str, names: Iterable[str], package: Iterable[str]) -> list[str]:
    """What is wrong with an archive that has the files `names`; `package` are files that each archive must contain."""
    names = list(names)
    listed = set(names)
    missing = [pattern for pattern in REQUIRED[kind] if not any(re.fullmatch(pattern, name) for name in names)]
    missing += sorted(set(package) - listed)
    forbidden = [name for name in names if any(re.fullmatch(pattern, name) for pattern in FORBIDDEN[kind])]
    twice = sorted(name for name in listed if names.count(name) > 1)
    return [
        *(f"misses {name}" for name in missing),
        *(f"must not contain {name}" for name in forbidden),
        *(f"contains {name} twice" for name in twice),
    ]


def tracked_files() -> list[str]:
    """The files of the package that are under version control."""
    output = subprocess.run(["git", "ls-files", "labdl"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return output.split()


def extension_faults(path: Path) -> list[str]:
    """What is wrong with the built extension in a wheel: its version, or a script that it names and does not have."""
    with zipfile.ZipFile(path) as archive:
        [name] = [n for n in archive.namelist() if n.endswith("labextensions/labdl/package.json")]
        extension = json.loads(archive.read(name))
        script = f"{name.removesuffix('package.json')}{extension['jupyterlab']['_build']['load']}"
        has_script = script in archive.namelist()
    version = path.name.split("-")[1]
    wrong = [] if extension["version"] == version else [f"has an extension of version {extension['version']}"]
    return wrong if has_script else [*wrong, f"misses {script}"]


def main(arguments: Sequence[str]) -> int:
    """Check the archives; returns 1 where one is wrong."""
    status = 0
    for path in map(Path, arguments):
        names = read_names(path)
        wrong = faults(kind_of(path), names, tracked_files())
        if kind_of(path) == "wheel" and not wrong:
            wrong = extension_faults(path)
        print(f"{path.name}: {len(names):,} files, {path.stat().st_size / 1e6:.1f} MB")
        for fault in wrong:
            print(f"  {path.name} {fault}", file=sys.stderr)
        status |= bool(wrong)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
