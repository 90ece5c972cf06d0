"""JupyterLab, its extension of LabDL, and the extension of Jupyter's server: installed, enabled, of this version."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import json
import logging
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import labdl
from labdl.doctor.finding import Finding, fault

SERVER_EXTENSION = "labdl.lab.server.extension"
_INSTALL = 'pip install "labdl[lab]"'
_REINSTALL = "pip install --force-reinstall --no-deps labdl"


def check_jupyter() -> Iterator[Finding]:
    """Everything that the canvas in JupyterLab needs; without JupyterLab a note alone."""
    if importlib.util.find_spec("jupyterlab") is None:
        yield Finding("JupyterLab", "not installed: LabDL works in Python and without the canvas", "note", _INSTALL)
        return
    yield from _check_lab_version()
    yield from _check_command()
    if importlib.util.find_spec("ipykernel") is None:
        yield fault("kernel", "ipykernel is not installed, so that notebooks have no Python", _INSTALL)
    yield from check_extension(_extension_folders())
    yield from check_server_extension()


def _check_lab_version() -> Iterator[Finding]:
    from packaging.requirements import Requirement  # of JupyterLab

    version = importlib.metadata.version("jupyterlab")
    try:
        lines = importlib.metadata.requires("labdl") or []
    except importlib.metadata.PackageNotFoundError:  # a checkout on the path
        lines = []
    for requirement in map(Requirement, lines):
        if requirement.name == "jupyterlab" and not requirement.specifier.contains(version, prereleases=True):
            needed = f'"jupyterlab{requirement.specifier}"'
            yield fault("JupyterLab", f"{version}: LabDL needs {needed}", f"pip install {needed}")
            return
    yield Finding("JupyterLab", version)


def _check_command() -> Iterator[Finding]:
    """The command that a person types may belong to another environment, whose JupyterLab has no LabDL."""
    command = shutil.which("jupyter-lab")
    if command and Path(command).parent.resolve() != Path(sys.executable).parent.resolve():
        message = f"`jupyter lab` is {command}, of another environment than {sys.executable}"
        yield Finding("JupyterLab", message, "note", f"{sys.executable} -m jupyterlab")


def _extension_folders() -> list[Path]:
    from jupyter_core.paths import jupyter_path

    return [Path(folder) for folder in jupyter_path("labextensions")]


def check_extension(folders: list[Path]) -> Iterator[Finding]:
    """The prebuilt extension: the first of the folders that has it is the one JupyterLab loads."""
    topic = "extension of JupyterLab"
    places = [folder / "labdl" for folder in folders]
    place = next((path for path in places if (path / "package.json").exists()), None)
    link = next((path for path in places if path.is_symlink() and not path.exists()), None)
    if link is not None and place is None:
        yield fault(topic, f"{link} leads to {link.readlink()}, which has not been built", "make front")
        return
    if place is None:
        yield fault(topic, f"not installed in {', '.join(map(str, folders))}", _REINSTALL)
        return
    rebuild = "make front" if place.is_symlink() else _REINSTALL
    data = json.loads((place / "package.json").read_text(encoding="utf-8"))
    script = data.get("jupyterlab", {}).get("_build", {}).get("load", "")
    if not script or not (place / script).exists():
        yield fault(topic, f"{place} is incomplete: {script or 'its script'} is missing", rebuild)
    elif data.get("version") != labdl.__version__:
        message = f"{place} is of version {data.get('version')}, LabDL of {labdl.__version__}"
        yield fault(topic, message, rebuild)
    elif names := _disabled_plugins(folders):
        for name in names:
            yield fault(topic, f"{name} is disabled", f"jupyter labextension enable {name}")
    else:
        yield Finding(topic, f"{data['version']}, enabled, {place}")


def _disabled_plugins(folders: list[Path]) -> list[str]:
    """The extension, or plugins of it, that JupyterLab's page configuration disables."""
    from jupyterlab.commands import get_app_dir
    from jupyterlab_server.config import get_page_config

    settings = str(Path(get_app_dir()) / "settings")
    config: dict[str, Any] = get_page_config([str(folder) for folder in folders], settings, logging.getLogger("labdl"))
    disabled = config.get("disabledExtensions", {})
    names = disabled if isinstance(disabled, list) else [name for name, value in disabled.items() if value]
    return sorted(name for name in names if name == "labdl" or name.startswith("labdl:"))


def check_server_extension() -> Iterator[Finding]:
    """The routes below /labdl: enabled in the configuration of Jupyter's server, and importable."""
    from jupyter_core.paths import jupyter_config_path

    topic = "extension of Jupyter's server"
    if not _is_enabled(jupyter_config_path()):
        yield fault(topic, "not enabled", f"jupyter server extension enable {_place_option()} {SERVER_EXTENSION}")
        return
    try:
        importlib.import_module(SERVER_EXTENSION)
    except Exception as error:  # whatever a broken package raises is what the person needs to read
        yield fault(topic, f"cannot be imported: {type(error).__name__}: {error}", _INSTALL)
        return
    yield Finding(topic, "enabled")


def _is_enabled(folders: list[str]) -> bool | None:
    """Whether the configuration in these folders, of which the first has the last word, enables it; None if none names it."""
    from jupyter_server.extension.config import ExtensionConfigManager

    return ExtensionConfigManager(read_config_path=folders).get_jpserver_extensions().get(SERVER_EXTENSION)


def _place_option() -> str:
    """Where to enable it: the user's own configuration, if that disables it, else the environment."""
    from jupyter_core.paths import jupyter_config_dir

    return "--sys-prefix" if _is_enabled([jupyter_config_dir()]) is None else "--user"
