#!/usr/bin/env python3
"""Build wheel and sdist, check them, and try the wheel in an empty environment: the quickstart, and a journey in a browser.

    python scripts/dist.py [--no-build] [--python python3.13] [--numpy 1.26 2] [--extras lab,torch] [--no-browser]

The archives are in dist/, environments and logs in build/dist/. The wheel is tried on each version of NumPy in turn, in one
environment. `--no-build` takes the archives that lie in dist/ already.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ARCHIVES = ROOT / "dist"
BUILD = ROOT / "build" / "dist"
# a looser pin of torch brings gigabytes of CUDA packages
[TORCH] = re.findall(r"^torch==.*$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
TOOLS = ("build>=1.2", "twine>=6")
TEST_TOOLS = ("hypothesis>=6", "playwright>=1.48", "psutil", "pytest>=8", "pytest-timeout>=2.3")
JOURNEY = ROOT / "tests" / "browser" / "test_journey.py"
QUICKSTART = ROOT / "notebooks" / "quickstart.ipynb"


def run(*command: str | Path, folder: Path = ROOT) -> None:
    """Run a command, without what an environment that is active here would add to it."""
    words = [str(word) for word in command]
    start = time.monotonic()
    print(f"$ {' '.join(words)}", flush=True)
    variables = {
        k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME", "PYTHONDONTWRITEBYTECODE")
    }
    status = subprocess.run(words, cwd=folder, env=variables, check=False).returncode
    if status:
        sys.exit(f"make dist: `{' '.join(words)}` ended with status {status}")
    print(f"  {time.monotonic() - start:.0f} s", flush=True)


def create_environment(folder: Path, python: str) -> Path:
    """An empty virtual environment; returns its folder of commands."""
    shutil.rmtree(folder, ignore_errors=True)
    run(python, "-m", "venv", folder)
    return folder / ("Scripts" if os.name == "nt" else "bin")


def build(python: str) -> None:
    """Build the sdist from the checkout and the wheel from the sdist, and check both."""
    commands = create_environment(BUILD / "tools", python)
    run(commands / "pip", "install", "--quiet", *TOOLS)
    shutil.rmtree(ARCHIVES, ignore_errors=True)
    run(commands / "python", "-m", "build", "--outdir", ARCHIVES)
    archives = sorted(ARCHIVES.iterdir())
    run(commands / "python", "-m", "twine", "check", "--strict", *archives)
    run(commands / "python", ROOT / "scripts" / "archive_contents.py", *archives)


def try_wheel(python: str, numpy: Sequence[str], extras: str, *, browser: bool) -> None:
    """Install the wheel into an empty environment and use it on each version of NumPy."""
    [wheel] = ARCHIVES.glob("*.whl")
    name = Path(python).name if os.sep not in python else "python"
    commands = create_environment(BUILD / f"environment-{name}", python)
    torch = [TORCH] if "torch" in extras.split(",") else []
    run(commands / "pip", "install", "--quiet", f"{wheel}[{extras}]", f"numpy=={numpy[0]}.*", *torch)
    for version in numpy:
        run(commands / "pip", "install", "--quiet", f"numpy=={version}.*")
        run(commands / "pip", "check")
        with tempfile.TemporaryDirectory() as folder:  # outside of the checkout, whose labdl would be imported
            run_quickstart(commands, Path(folder))
            if browser:
                run_journey(commands, Path(folder))


def run_quickstart(commands: Path, folder: Path) -> None:
    """Run the notebook from its first cell to its last; a cell that fails fails the command."""
    print_versions = (
        "import sys, numpy, labdl; print(sys.version.split()[0], 'NumPy', numpy.__version__, labdl.__file__)"
    )
    run(commands / "python", "-c", print_versions, folder=folder)
    copy = shutil.copy(QUICKSTART, folder)
    run(commands / "jupyter", "execute", Path(copy).name, folder=folder)


def run_journey(commands: Path, folder: Path) -> None:
    """Build, train and save a model in JupyterLab by mouse and keyboard, as tests/browser does in the checkout."""
    run(commands / "pip", "install", "--quiet", *TEST_TOOLS)
    options = ["-q", "-W", "default", "-p", "no:cacheprovider", "--breadth", "sample"]
    run(commands / "pytest", *options, JOURNEY, folder=folder)


def main(arguments: Sequence[str]) -> None:
    """Build and check the archives, then try the wheel."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--no-build", dest="build", action="store_false", help="take the archives in dist/")
    parser.add_argument("--no-try", dest="install", action="store_false", help="only build and check")
    parser.add_argument("--python", default=sys.executable, help="the interpreter of the environments")
    parser.add_argument("--numpy", nargs="+", default=["1.26", "2"], help="versions of NumPy")
    parser.add_argument("--extras", default="lab,torch", help="extras of labdl to install")
    parser.add_argument("--no-browser", dest="browser", action="store_false", help="leave out the journey in a browser")
    options = parser.parse_args(arguments)
    BUILD.mkdir(parents=True, exist_ok=True)
    if options.build:
        build(options.python)
    if options.install:
        try_wheel(options.python, options.numpy, options.extras, browser=options.browser)


if __name__ == "__main__":
    main(sys.argv[1:])
