"""A real JupyterLab and a real browser for the journeys of a person; both are ours and end with the tests."""

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import expect, sync_playwright

CHROMIUM_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
START_SECONDS = 90
JUPYTERLABS_OWN = (
    "Canceled future for",  # its request to a kernel that is gone
    "Unhandled error",  # its server fails to list the checkpoints of a file that is being renamed
)
NOTEBOOKS_OWN = "/static/notebook/"  # it asks for settings of plugins that it does not have

# two cores may have other tests, a server, a kernel, a training and a browser to run
expect.set_options(timeout=40_000)


@dataclass(frozen=True)
class Lab:
    """A running JupyterLab: its address with the token, and the folder that it serves."""

    url: str
    folder: Path


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    with jupyterlab(tmp_path_factory.mktemp("jupyter")) as running:
        yield running


def switch_collaboration(config: Path, *, on: bool) -> None:
    """Turn jupyter-collaboration on or off for a JupyterLab with this folder of configuration."""
    server = {"jpserver_extensions": {"jupyter_server_ydoc": on, "jupyter_server_fileid": on}}
    page = {"disabledExtensions": {f"@jupyter/{name}-extension": not on for name in ("collaboration", "docprovider")}}
    (config / "labconfig").mkdir(parents=True, exist_ok=True)
    (config / "jupyter_server_config.json").write_text(json.dumps({"ServerApp": server}))
    (config / "labconfig" / "page_config.json").write_text(json.dumps(page))


@contextmanager
def jupyterlab(home: Path, *, collaboration: bool = False, again: Lab | None = None, exposed: bool = False):
    """JupyterLab on a free port, with configuration, data and working folder of its own; people are alone in it, unless
    there is to be `collaboration`. With `again` it is where that one was, which has ended. One that is
    `exposed` lets a page's scripts carry out its commands."""
    folder = home / "work"
    settings = home / "config" / "lab" / "user-settings" / "@jupyterlab" / "apputils-extension"
    for new in (folder, settings):
        new.mkdir(parents=True, exist_ok=True)
    switch_collaboration(home / "config", on=collaboration)
    # no question about news over the page, and no look for updates
    quiet = {"fetchNews": "false", "checkForUpdates": False}
    (settings / "notification.jupyterlab-settings").write_text(json.dumps(quiet))
    if again is None:
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            port, token = found.getsockname()[1], secrets.token_hex(16)
    else:
        url = urllib.parse.urlparse(again.url)
        port, token = url.port, urllib.parse.parse_qs(url.query)["token"][0]
    address = f"http://127.0.0.1:{port}"
    environment = os.environ | {
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "IPYTHONDIR": str(home / "ipython"),
    }
    arguments = [
        "--no-browser",
        "--allow-root",
        "--ip=127.0.0.1",
        f"--port={port}",
        "--ServerApp.port_retries=0",
        f"--IdentityProvider.token={token}",
        f"--ServerApp.root_dir={folder}",
        f"--LabApp.expose_app_in_browser={exposed}",
    ]
    log = home / "lab.log"
    with open(log, "wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *arguments],
            env=environment,
            cwd=folder,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            wait_for(address, token, process, log)
            yield Lab(f"{address}/lab?token={token}", folder)
        finally:
            end(process)


def wait_for(address: str, token: str, process: subprocess.Popen, log: Path) -> None:
    request = urllib.request.Request(f"{address}/api/status", headers={"Authorization": f"token {token}"})
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(request, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    pytest.fail(f"JupyterLab did not start within {START_SECONDS} s:\n{log.read_text()[-4000:]}")


def end(process: subprocess.Popen) -> None:
    """End the server and its kernels, which are its children."""
    if process.poll() is not None:
        return
    family = [*psutil.Process(process.pid).children(recursive=True), psutil.Process(process.pid)]
    process.terminate()
    _, alive = psutil.wait_procs(family, timeout=10)
    for one in alive:
        one.kill()
    process.wait(timeout=10)


def chromium_path() -> str:
    path = os.environ.get("LABDL_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if not path:
        pytest.fail(
            "The browser tests need Chromium: install it (apt-get install chromium), or name it in LABDL_CHROMIUM."
        )
    return path


@pytest.fixture(scope="module")  # Playwright's event loop must have ended before other tests start theirs
def playwright():
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="module")
def chromium(playwright):
    """A browser whose contexts have nothing in common, for several people."""
    browser = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_ARGUMENTS)
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def profile_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("profile")


@pytest.fixture(scope="module")
def profile(playwright, profile_folder):
    """A browser that keeps JupyterLab's scripts, compiled, from test to test, and nothing else."""
    context = playwright.chromium.launch_persistent_context(
        profile_folder,
        executable_path=chromium_path(),
        args=CHROMIUM_ARGUMENTS,
        viewport={"width": 1600, "height": 1000},
    )
    yield context
    context.close()


def forget(page, lab: Lab) -> None:
    """Take out of the browser what pages of JupyterLab have stored there, such as their layout."""
    origin = lab.url.partition("/lab?")[0]
    stored = {"origin": origin, "storageTypes": "cookies,indexeddb,local_storage,service_workers"}
    page.context.new_cdp_session(page).send("Storage.clearDataForOrigin", stored)
    page.context.clear_cookies()
    page.context.clear_permissions()


def close_connection_errors(page) -> None:
    """Close JupyterLab's notice that its server does not answer, whenever it comes."""
    lost = page.locator(".jp-Dialog", has_text="Server Connection Error")
    page.add_locator_handler(lost, lambda dialog: dialog.get_by_role("button").last.click())


@pytest.fixture
def page(profile, lab, tmp_path, request):
    """A page of JupyterLab, or a blank one for a test that opens it itself.

    What it looked like at the end is kept beside the other files of a failed test.
    """
    page = profile.new_page()
    page.set_default_timeout(40_000)
    errors = []

    def hear(error):
        where = error.stack or str(error)
        if not str(error).startswith(JUPYTERLABS_OWN) and NOTEBOOKS_OWN not in where:
            errors.append(where)

    page.on("pageerror", hear)
    page.on(
        "response", lambda r: errors.append(f"{r.status} {r.url}") if r.status >= 500 and "/labdl/" in r.url else None
    )
    # JupyterLab's own, which takes the keys of the page when a kernel has been killed
    page.add_locator_handler(
        page.locator(".jp-Dialog", has_text="Kernel Restarting"),
        lambda dialog: dialog.get_by_role("button", name="Ok").click(),
    )
    # JupyterLab's own, when a file is renamed while its server lists the folder
    page.add_locator_handler(
        page.locator(".jp-Dialog", has_text="Directory not found"),
        lambda dialog: dialog.get_by_role("button", name="Close").click(),
    )
    if not request.node.get_closest_marker("blank_page"):  # JupyterLab takes seconds to load
        page.goto(f"{lab.url}&reset")
        page.wait_for_selector(".jp-LauncherCard", timeout=60_000)
    yield page
    page.screenshot(path=tmp_path / "end.png")
    page.goto("about:blank")
    forget(page, lab)
    page.close()
    leave(lab)
    assert not errors, errors


def leave(lab: Lab) -> None:
    """Take away what a test has left: kernels, files and settings of LabDL would be there for the next."""
    address, _, token = lab.url.partition("/lab?token=")
    headers = {"Authorization": f"token {token}"}
    for kind in ("sessions", "kernels"):
        with urllib.request.urlopen(urllib.request.Request(f"{address}/api/{kind}", headers=headers)) as answer:
            left = json.load(answer)
        for one in left:
            request = urllib.request.Request(f"{address}/api/{kind}/{one['id']}", headers=headers, method="DELETE")
            urllib.request.urlopen(request).close()
    for path in lab.folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()
    shutil.rmtree(lab.folder.parent / "config" / "lab" / "user-settings" / "labdl", ignore_errors=True)
