"""Opens a run and a model in every program that shows notebooks: `python scripts/hosts.py [--pictures FOLDER] [HOST …]`.

Runs in an environment with LabDL, the programs and Playwright; a program that is not installed is an error. Chromium opens the
page, and a host is right if the dashboard has finished its training and the canvas shows the shapes that the kernel found.
`hub` needs configurable-http-proxy (npm) on the PATH. Pictures are in build/hosts.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import nbformat
from playwright.sync_api import Page, expect, sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "browser"))
from conftest import CHROMIUM_ARGUMENTS, NOTEBOOKS_OWN, chromium_path

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 300.0  # for a server, a kernel and a framework to start on a busy machine
TRAIN = """\
import labdl
from labdl import nn

train_set, test_set = labdl.data.digits()
model = nn.Sequential(nn.Flatten(), nn.Linear(10))
trainer = labdl.Trainer(model, loss="cross_entropy", optimizer="adam", metrics=["accuracy"])
run = trainer.start(train_set, validation=test_set, epochs=3)
run"""
EDIT = "run.wait()\nmodel"
NOTEBOOK = "hosts.ipynb"
MARIMO = "hosts.py"


@dataclass(frozen=True)
class Place:
    """Where a host starts: a folder, a free port, and a token."""

    folder: Path
    port: int
    token: str

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@dataclass(frozen=True)
class Host:
    """A program that shows notebooks: its command, the page to open, and what a person does there."""

    packages: tuple[str, ...]
    command: Callable[[Place], list[str]]
    page: Callable[[Place], str]
    start: Callable[[Page], None] = lambda page: None
    settings: Callable[[Place], None] = lambda place: None
    end: Callable[[Page], None] = lambda page: None


def write_files(folder: Path) -> None:
    """The notebook, and the same cells as a file of marimo."""
    cells = [nbformat.v4.new_code_cell(source) for source in (TRAIN, EDIT)]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), folder / NOTEBOOK)
    indent = "\n".join(f"    {line}" for line in TRAIN.splitlines())
    (folder / MARIMO).write_text(
        f"import marimo\n\napp = marimo.App()\n\n\n@app.cell\ndef _():\n{indent}\n    return model, run\n\n\n"
        '@app.cell\ndef _(model, run):\n    run.wait()\n    model\n    return\n\n\nif __name__ == "__main__":\n    app.run()\n'
    )


def module(name: str, *arguments: str) -> list[str]:
    return [sys.executable, "-m", name, *arguments]


def jupyter(name: str) -> Callable[[Place], list[str]]:
    """The command of a program of Jupyter's server."""
    return lambda place: module(
        name,
        "--no-browser",
        "--allow-root",
        "--ip=127.0.0.1",
        f"--port={place.port}",
        f"--IdentityProvider.token={place.token}",
    )


def run_all_cells(page: Page) -> None:
    """Run all cells by the menu, as soon as the notebook has a kernel."""
    page.locator(".jp-Notebook .jp-CodeCell").first.wait_for()
    expect(page.locator(".jp-KernelName:visible")).not_to_have_text("No Kernel")
    expect(page.locator(".jp-Notebook-ExecutionIndicator:visible").first).to_have_attribute("data-status", "idle")
    page.locator(".lm-MenuBar-item", has_text="Run").click()
    page.locator(".lm-Menu-item[data-command='runmenu:run-all']").click()


def disable_extension(place: Place) -> None:
    """The settings of a JupyterLab that does not load LabDL's extension."""
    config = place.folder / "config" / "labconfig"
    config.mkdir(parents=True)
    (config / "page_config.json").write_text(json.dumps({"disabledExtensions": {"labdl": True}}))


def count_cards(page: Page, number: int) -> None:
    """The launcher of JupyterLab has so many cards of LabDL's extension: it is there, or it is not."""
    page.keyboard.press("Control+Shift+l")
    page.locator(".jp-LauncherCard").first.wait_for()
    expect(page.locator(".jp-LauncherCard", has_text="Model Graph")).to_have_count(number)


def write_hub(place: Place) -> None:
    """A hub whose server runs under the account of this process, below the address of its user."""
    home = str(place.folder)
    (place.folder / "hub.py").write_text(
        f"c.JupyterHub.bind_url = {place.address!r}\n"
        "c.JupyterHub.spawner_class = 'simple'\n"
        "c.JupyterHub.authenticator_class = 'dummy'\n"
        "c.Authenticator.allow_all = True\n"
        "c.Spawner.cmd = ['jupyterhub-singleuser']\n"
        f"c.Spawner.args = ['--allow-root', '--ServerApp.root_dir={home}']\n"
        "c.Spawner.start_timeout = c.Spawner.http_timeout = 300\n"
        f"c.Spawner.environment = {{'HOME': {home!r}}}\n"
    )


def sign_in(page: Page) -> None:
    page.locator("#username_input").fill("someone")
    page.locator("#password_input").fill("any")
    page.locator("#login_submit").click()
    run_all_cells(page)


LAB_PAGE = "/lab/tree/" + NOTEBOOK
HOSTS = {
    "lab": Host(
        ("jupyterlab",),
        jupyter("jupyterlab"),
        lambda p: f"{LAB_PAGE}?token={p.token}",
        run_all_cells,
        end=lambda page: count_cards(page, 1),
    ),
    "lab-without-extension": Host(
        ("jupyterlab", "anywidget"),
        jupyter("jupyterlab"),
        lambda p: f"{LAB_PAGE}?token={p.token}",
        run_all_cells,
        disable_extension,
        end=lambda page: count_cards(page, 0),
    ),
    "notebook": Host(
        ("notebook",), jupyter("notebook"), lambda p: f"/notebooks/{NOTEBOOK}?token={p.token}", run_all_cells
    ),
    "hub": Host(
        ("jupyterhub", "jupyterlab"),
        lambda p: module("jupyterhub", "-f", "hub.py"),
        lambda p: f"/hub/login?next=/hub/user-redirect{LAB_PAGE}",
        sign_in,
        write_hub,
    ),
    "voila": Host(
        ("voila",),
        lambda p: module("voila", NOTEBOOK, "--no-browser", "--Voila.ip=127.0.0.1", f"--port={p.port}"),
        lambda p: "/",
    ),
    "marimo": Host(
        ("marimo",),
        lambda p: module("marimo", "run", MARIMO, "--headless", "--no-token", "--host=127.0.0.1", f"--port={p.port}"),
        lambda p: "/",
    ),
}


@contextmanager
def start(host: Host, place: Place) -> Iterator[None]:
    """The program, from the moment that it answers; it has ended afterwards."""
    home = place.folder
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    variables |= {"JUPYTER_CONFIG_DIR": str(home / "config"), "JUPYTER_DATA_DIR": str(home / "data")}
    variables |= {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{variables['PATH']}", "HOME": str(home)}
    with open(home / "log", "wb") as log:
        command = host.command(place)
        process = subprocess.Popen(command, cwd=home, env=variables, stdout=log, stderr=log, start_new_session=True)
        try:
            deadline = time.monotonic() + SECONDS
            while not answers(place.address):
                if process.poll() is not None or time.monotonic() > deadline:
                    raise SystemExit(f"{command} does not answer:\n{(home / 'log').read_text()[-3000:]}")
                time.sleep(0.5)
            yield
        finally:
            os.killpg(process.pid, 15)
            process.wait()


def answers(address: str) -> bool:
    try:
        urllib.request.urlopen(address, timeout=10).close()
    except urllib.error.HTTPError:
        return True  # it wants a token
    except OSError:
        return False
    return True


def look(page: Page, host: Host, place: Place, picture: Path) -> None:
    """What a person sees: the training has ended on its dashboard, and the canvas shows what the kernel said."""
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(error.stack or str(error)))
    page.goto(place.address + host.page(place))
    try:
        host.start(page)
        expect(page.locator(".labdl-dashboard")).to_have_attribute("data-status", "finished")
        expect(page.locator(".labdl-node-shape").last).to_contain_text("10")
    finally:
        page.screenshot(path=picture, full_page=True)
    host.end(page)
    errors = [error for error in errors if NOTEBOOKS_OWN not in error]
    assert not errors, errors


def try_host(name: str, pictures: Path) -> str:
    """Open one host; returns its packages with their versions."""
    host = HOSTS[name]
    versions = ", ".join(f"{package} {importlib.metadata.version(package)}" for package in host.packages)
    with tempfile.TemporaryDirectory(prefix="labdl-host-") as folder, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        place = Place(Path(folder), free.getsockname()[1], secrets.token_hex(8))
        free.close()
        write_files(place.folder)
        host.settings(place)
        with start(host, place), sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_ARGUMENTS)
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.set_default_timeout(SECONDS * 1000)
            look(page, host, place, pictures / f"{name}.png")
            browser.close()
    return versions


def try_papermill(pictures: Path) -> str:
    """A notebook that nobody looks at has pictures of the run and of the model instead of widgets."""
    with tempfile.TemporaryDirectory(prefix="labdl-host-") as folder:
        write_files(Path(folder))
        subprocess.run(module("papermill", NOTEBOOK, "out.ipynb", "--no-progress-bar"), cwd=folder, check=True)
        cells = nbformat.read(Path(folder) / "out.ipynb", as_version=4).cells
        for cell in cells:
            forms = {form for output in cell.outputs for form in output.get("data", {})}
            assert "image/svg+xml" in forms or "text/html" in forms, f"{cell.source!r} has {forms}"
            assert "application/vnd.jupyter.widget-view+json" not in forms
        shutil.copy(Path(folder) / "out.ipynb", pictures / "papermill.ipynb")
    return f"papermill {importlib.metadata.version('papermill')}"


def main(arguments: Sequence[str]) -> int:
    """Try the hosts; returns 1 if one is wrong."""
    names = [*HOSTS, "papermill"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hosts", nargs="*", metavar="HOST", help=f"by default all: {', '.join(names)}")
    parser.add_argument("--pictures", type=Path, default=ROOT / "build" / "hosts", help="folder for the pictures")
    options = parser.parse_args(arguments)
    if unknown := set(options.hosts) - set(names):
        parser.error(f"no host {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    options.pictures.mkdir(parents=True, exist_ok=True)
    expect.set_options(timeout=SECONDS * 1000)
    status = 0
    for name in options.hosts or names:
        begin = time.monotonic()
        try:
            versions = try_papermill(options.pictures) if name == "papermill" else try_host(name, options.pictures)
            print(f"✓ {name}: {versions}, {time.monotonic() - begin:.0f} s", flush=True)
        except (Exception, SystemExit) as error:  # the other hosts are tried nevertheless
            print(f"✗ {name}: {error}", flush=True)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
