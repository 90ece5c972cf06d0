"""Settings from the environment and from labdl.toml, and which of them counts."""

import os
from pathlib import Path

import pytest

import labdl
from labdl import config, dispatch
from labdl.errors import BackendError, ConfigError

UNREAD = """
import sys, labdl
print(sorted({"tomllib", "platformdirs"} & set(sys.modules)))
try:
    labdl.tensor([1.0])
except labdl.errors.ConfigError as error:
    print(error)
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A working directory two folders below the project's, a user's folder elsewhere, and no settings."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    for key in config.KEYS:
        monkeypatch.delenv(f"LABDL_{key.upper()}", raising=False)
    monkeypatch.setattr(dispatch, "_default", None)
    folder = tmp_path / "project"
    (folder / "notebooks" / "deep").mkdir(parents=True)
    monkeypatch.chdir(folder / "notebooks" / "deep")
    config._files.cache_clear()
    return folder


@pytest.fixture
def user(project, monkeypatch):
    """The user's file, wherever this system keeps it."""
    file = project.parent / "home" / "labdl" / "labdl.toml"
    file.parent.mkdir(parents=True)
    monkeypatch.setattr(config, "user_file", lambda: file)
    return file


def test_without_files_and_variables_nothing_is_set(project):
    assert [config.setting(key) for key in config.KEYS] == [None] * len(config.KEYS)


def test_a_file_in_a_folder_above_counts(project):
    file = project / "labdl.toml"
    file.write_text('backend = "numpy"\ndevice = "cpu"\nbackends = ["numpy"]\n')
    assert config.setting("backend") == config.Setting("numpy", f"backend in {file}")
    assert config.setting("device") == config.Setting("cpu", f"device in {file}")
    assert config.setting("backends") == config.Setting(("numpy",), f"backends in {file}")
    assert labdl.backends.default() == "numpy"


def test_the_nearest_file_counts(project):
    (project / "labdl.toml").write_text('backend = "torch"')
    (project / "notebooks" / "labdl.toml").write_text('backend = "numpy"')
    assert labdl.backends.default() == "numpy"


def test_code_then_environment_then_project_then_user_then_the_first_installed(project, user, monkeypatch):
    assert labdl.backends.default() == "torch"
    user.write_text('backend = "mindspore"\ndevice = "cpu"')
    config._files.cache_clear()
    assert labdl.backends.default() == "mindspore"
    (project / "labdl.toml").write_text('backend = "paddle"')
    config._files.cache_clear()
    assert labdl.backends.default() == "paddle"
    assert config.setting("device").value == "cpu"  # key by key
    monkeypatch.setenv("LABDL_BACKEND", "tensorflow")
    assert labdl.backends.default() == "tensorflow"
    labdl.use("numpy")
    assert labdl.backends.default() == "numpy"


def test_the_users_file_lies_where_the_system_keeps_such_files(project):
    assert config.user_file().name == "labdl.toml"
    assert config.user_file().parent.name == "labdl"
    if os.name == "posix" and not Path("/System").exists():
        assert config.user_file() == project.parent / "home" / "labdl" / "labdl.toml"


def test_an_empty_variable_is_not_set(project, monkeypatch):
    monkeypatch.setenv("LABDL_BACKEND", " ")
    monkeypatch.setenv("LABDL_BACKENDS", "")
    assert config.setting("backend") is config.setting("backends") is None


def test_a_variable_may_name_several(project, monkeypatch):
    monkeypatch.setenv("LABDL_BACKENDS", "paddle, tensorflow,")
    assert config.setting("backends") == config.Setting(("paddle", "tensorflow"), "LABDL_BACKENDS")


def test_backends_of_a_file_are_loaded_together(project, monkeypatch):
    (project / "labdl.toml").write_text('backends = ["tensorflow", "mindspore", "paddle"]')
    loaded = []
    monkeypatch.setattr(dispatch, "_loaded", {})
    monkeypatch.setattr(dispatch, "_check", lambda name, asked=None: None)
    monkeypatch.setattr(
        dispatch, "_import", lambda name, device: loaded.append(name) or dispatch._loaded.update({name: 0})
    )
    dispatch.load("paddle")
    assert loaded == ["mindspore", "paddle", "tensorflow"]


def test_a_value_that_no_backend_has_names_the_file(project):
    (project / "labdl.toml").write_text('backend = "theano"')
    with pytest.raises(
        BackendError, match=r"unknown backend 'theano'.*\(asked for by backend in .*project/labdl\.toml\)"
    ):
        labdl.tensor([1.0])


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (b"backend = torch", r"cannot be read as TOML: Invalid value \(at line 1, column 11\); write for example"),
        (b'backend = "\xff"', r"cannot be read as TOML: .*utf-8"),
        (b'backnd = "torch"', r"unknown key 'backnd': remove it, or use one of backend, device, backends$"),
        (
            b"[backend]\nname = 1",
            r"backend wants a text, received \{'name': 1\}: write for example backend = \"torch\"",
        ),
        (b"backend = 3", r"backend wants a text, received 3: write for example backend = \"torch\""),
        (b'device = ["cpu"]', r"device wants a text, received \['cpu'\]"),
        (b'device = ""', r"device wants a text, received ''"),
        (
            b'backends = "paddle"',
            r"backends wants a list of texts, received 'paddle': write .* \[\"paddle\", .*\]$",
        ),
        (b"backends = [1]", r"backends wants a list of texts, received \[1\]"),
    ],
)
def test_a_wrong_file_is_named_with_what_to_do(text, wanted, project):
    file = project / "labdl.toml"
    file.write_bytes(text)
    with pytest.raises(ConfigError, match=wanted) as error:
        config.setting("backend")
    assert str(error.value).startswith(str(file))
    assert "\n" not in str(error.value)
    assert error.value.__suppress_context__ or error.value.__context__ is None


def test_files_are_read_when_needed_and_not_before(project, fresh_python):
    (project / "labdl.toml").write_text("backend = torch")
    imported, told = fresh_python(UNREAD, PYTHONPATH=str(Path(labdl.__file__).parents[1])).result().splitlines()
    assert imported == "[]"
    assert told.startswith(f"{project / 'labdl.toml'} cannot be read as TOML")


def test_a_working_directory_that_is_gone_has_no_project(project, monkeypatch):
    gone = project / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert config.setting("backend") is None
