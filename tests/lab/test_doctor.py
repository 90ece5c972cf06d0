"""`labdl doctor` names what is broken in an installation, with the command that mends it."""

import json
import shutil
from collections import namedtuple

import numpy as np
import pytest
from jupyter_server.extension.serverextension import toggle_server_extension_python

import labdl
from labdl import cli, framework_info
from labdl.doctor import Finding, command, jupyter, software, storage

pytestmark = pytest.mark.sample(backends=1)


@pytest.fixture(autouse=True)
def configuration(tmp_path, monkeypatch):
    """The folder of the user's configuration of Jupyter, which nothing else shares."""
    folder = tmp_path / "config"
    (folder / "labconfig").mkdir(parents=True)
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(folder))
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "0")  # else the environment comes first
    return folder


@pytest.fixture
def extensions(tmp_path):
    """A folder of extensions with a complete one of this version."""
    place = tmp_path / "labextensions" / "labdl"
    (place / "static").mkdir(parents=True)
    (place / "static" / "remoteEntry.js").touch()
    write_extension(place, labdl.__version__)
    return place.parent


def write_extension(place, version):
    data = {"name": "labdl", "version": version, "jupyterlab": {"_build": {"load": "static/remoteEntry.js"}}}
    (place / "package.json").write_text(json.dumps(data))


def only(findings):
    [finding] = findings
    return finding


def test_complete_extension_is_fine(extensions):
    assert only(jupyter.check_extension([extensions])).status == "ok"


def test_missing_extension_is_named_with_the_folders_it_was_searched_in(tmp_path):
    finding = only(jupyter.check_extension([tmp_path]))
    assert (finding.status, finding.command) == ("broken", "pip install --force-reinstall --no-deps labdl")
    assert str(tmp_path) in finding.message


def test_link_to_a_front_end_that_is_not_built(tmp_path):
    (tmp_path / "labdl").symlink_to(tmp_path / "not-built")
    finding = only(jupyter.check_extension([tmp_path]))
    assert (finding.status, finding.command) == ("broken", "make front")


def test_extension_of_another_version(extensions):
    write_extension(extensions / "labdl", "0.0.7")
    finding = only(jupyter.check_extension([extensions]))
    assert finding.status == "broken"
    assert f"of version 0.0.7, LabDL of {labdl.__version__}" in finding.message


def test_extension_without_its_script(extensions):
    (extensions / "labdl" / "static" / "remoteEntry.js").unlink()
    assert "static/remoteEntry.js is missing" in only(jupyter.check_extension([extensions])).message


@pytest.mark.parametrize("name", ["labdl", "labdl:runs"])
def test_disabled_extension_or_plugin(extensions, configuration, name):
    page = {"disabledExtensions": {name: True, "labdl:data": False, "other": True}}
    (configuration / "labconfig" / "page_config.json").write_text(json.dumps(page))
    finding = only(jupyter.check_extension([extensions]))
    assert finding == Finding(finding.topic, f"{name} is disabled", "broken", f"jupyter labextension enable {name}")


def test_server_extension():
    assert only(jupyter.check_server_extension()).status == "ok"
    toggle_server_extension_python(jupyter.SERVER_EXTENSION, enabled=False, user=True)
    finding = only(jupyter.check_server_extension())
    assert finding.command == "jupyter server extension enable --user labdl.lab.server.extension"
    toggle_server_extension_python(jupyter.SERVER_EXTENSION, enabled=True, user=True)  # what the command does
    assert only(jupyter.check_server_extension()).status == "ok"


def test_server_extension_that_nothing_names(tmp_path, monkeypatch):
    monkeypatch.setattr("jupyter_core.paths.jupyter_config_path", lambda: [str(tmp_path)])
    finding = only(jupyter.check_server_extension())
    assert finding.command == "jupyter server extension enable --sys-prefix labdl.lab.server.extension"


def test_framework_that_cannot_be_imported(tmp_path, monkeypatch):
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text(
        "raise ImportError('libcudart.so.12: cannot open shared object file')"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(framework_info, "TRAINING", ("torch",))
    finding = only(software.check_frameworks())
    assert (finding.status, finding.command) == ("broken", "pip install --force-reinstall --no-deps torch")
    assert "cannot be imported" in finding.message
    assert "libcudart.so.12" in finding.message


def test_environment_without_a_framework(monkeypatch):
    monkeypatch.setattr(framework_info, "is_installed", lambda name: False)
    first, *others = software.check_frameworks()
    assert (first.status, first.command) == ("broken", 'pip install "labdl[torch]"')
    assert {finding.status for finding in others} == {"note"}


def test_framework_for_an_older_numpy(monkeypatch):
    monkeypatch.setattr(framework_info, "TRAINING", ("mindspore",))
    monkeypatch.setattr(framework_info, "is_installed", lambda name: True)
    monkeypatch.setattr(np, "__version__", "2.1.3")
    finding = only(software.check_frameworks())
    assert (finding.status, finding.command) == ("broken", "pip install numpy==1.26.4")


def test_package_of_another_version(monkeypatch):
    monkeypatch.setattr(software, "_version", {"numpy": "1.20.0"}.get)
    findings = {finding.message: finding for finding in software.check_packages()}
    assert findings["numpy 1.20.0 is not numpy>=1.26"].command == 'pip install "numpy>=1.26"'
    assert findings["h5py is not installed"].status == "broken"
    assert not any("jupyterlab" in message for message in findings)  # of an extra


def test_folder_of_runs(tmp_path, monkeypatch):
    (tmp_path / "events.jsonl").write_bytes(b"0" * 2000)
    assert "2 kB used" in only(storage.check_runs(tmp_path)).message
    assert only(storage.check_runs(tmp_path / "new" / "runs")).status in ("ok", "note")
    assert only(storage.check_runs(tmp_path / "events.jsonl")).status == "broken"
    usage = namedtuple("usage", "total used free")
    for free, status in ((10**7, "broken"), (5 * 10**8, "note"), (10**11, "ok")):
        monkeypatch.setattr(shutil, "disk_usage", lambda path, free=free: usage(10**12, 0, free))
        assert only(storage.check_runs(tmp_path)).status == status
    monkeypatch.setattr(storage.os, "access", lambda path, mode: False)
    assert "cannot be written" in only(storage.check_runs(tmp_path)).message


FINE = Finding("NumPy", "1.26.4")
BROKEN = Finding("runs", "no space", "broken", "df")


@pytest.mark.parametrize(("findings", "status", "end"), [([FINE], 0, "No problems"), ([FINE, BROKEN], 1, "1 problem")])
def test_exit_status_says_whether_something_is_broken(monkeypatch, capsys, findings, status, end):
    monkeypatch.setattr(command, "diagnose", lambda runs, load: iter(findings))
    assert cli.main(["doctor"]) == status
    assert capsys.readouterr().out.splitlines()[-1] == end
    assert cli.main(["doctor", "--json"]) == status
    assert [Finding(**finding) for finding in json.loads(capsys.readouterr().out)] == findings


def test_report_of_this_environment(tmp_path):
    findings = list(command.diagnose(tmp_path / "runs", load=False))
    assert findings[0] == Finding("LabDL", labdl.__version__)
    assert {"Python", "NumPy", "PyTorch", "JupyterLab", "extension of JupyterLab", "runs"} <= {
        f.topic for f in findings
    }
    assert all(finding.command for finding in findings if finding.status == "broken")
