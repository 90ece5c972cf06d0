"""Which backend is loaded, when, and in which order."""

import subprocess
import sys
import types
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

import labdl
from labdl import dispatch, framework_info
from labdl.errors import BackendError
from labdl.spec import Spec

pytestmark = pytest.mark.slow

FRAMEWORKS = ("torch", "tensorflow", "paddle", "mindspore")

BARE = """
import sys, labdl
from labdl import nn
model = nn.Sequential(nn.Conv2d(4), nn.BatchNorm(), nn.Flatten(), nn.Linear(3))
graph = labdl.trace(model, (None, 1, 8, 8))
assert graph.check()[1] == []
assert labdl.backends.available()
found = {m.partition(".")[0] for m in sys.modules}
print(sorted(found & {"torch", "tensorflow", "paddle", "mindspore", "keras", "sklearn", "ipywidgets", "pydantic_settings"}))
"""

SWITCHED = """
import sys
import labdl
for name in sys.argv[1:]:
    labdl.use(name)
    t = labdl.ops.add(labdl.tensor([1.0, 2.0]), labdl.tensor([3.0, 4.0]))
    print(name, labdl.backends.default(), type(t).__module__.partition(".")[0], labdl.to_numpy(labdl.ops.sum(t)).item())
"""


@pytest.fixture(scope="module")
def switched(fresh_python):
    """A slow interpreter, started while others run."""
    return fresh_python(SWITCHED, "torch", "numpy", "torch", "paddle", "torch", LABDL_BACKENDS="paddle")


def test_importing_labdl_imports_no_framework(switched, fresh_python):
    """Not even building, tracing and checking a model does."""
    assert fresh_python(BARE).result().strip() == "[]"


@pytest.mark.sample(False)
def test_the_backend_can_be_switched_while_running(switched):
    names = ("torch", "numpy", "torch", "paddle", "torch")
    assert switched.result().splitlines() == [f"{name} {name} {name} 10.0" for name in names]


@pytest.fixture
def nothing_loaded(monkeypatch):
    """As in a fresh process, for dispatch and the guard."""
    monkeypatch.setattr(dispatch, "_loaded", {})
    monkeypatch.setattr(dispatch, "_default", None)
    for name in FRAMEWORKS:
        monkeypatch.delitem(sys.modules, name, raising=False)
    for variable in ("LABDL_BACKEND", "LABDL_BACKENDS", "LABDL_DEVICE"):
        monkeypatch.delenv(variable, raising=False)


@pytest.mark.parametrize(
    ("late", "early", "order"),
    [
        ("paddle", ["tensorflow"], "paddle,tensorflow"),
        ("mindspore", ["paddle"], "mindspore,paddle"),
        ("mindspore", ["paddle", "tensorflow"], "mindspore,paddle,tensorflow"),
        ("paddle", ["mindspore", "tensorflow"], "mindspore,paddle,tensorflow"),
    ],
)
def test_the_guard_names_what_came_too_early_and_the_way_out(late, early, order, nothing_loaded, monkeypatch):
    for name in early:
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    culprit = framework_info.NOT_AFTER[late][0]
    with pytest.raises(
        BackendError, match=f"{late} cannot be loaded after {culprit} .*LABDL_BACKENDS={order}$"
    ) as error:
        labdl.use(late)
    assert f"labdl.use('{late}') first, before anything imports {culprit}" in str(error.value)
    assert late not in sys.modules


def test_the_load_order_agrees_with_the_guard():
    for late, early in framework_info.NOT_AFTER.items():
        assert all(framework_info.LOAD_ORDER.index(late) < framework_info.LOAD_ORDER.index(name) for name in early)
    assert framework_info.in_load_order(["torch", "tensorflow", "mindspore"]) == ["mindspore", "tensorflow", "torch"]


def test_an_unknown_backend_is_named_with_the_choice(nothing_loaded, monkeypatch):
    with pytest.raises(BackendError, match=r"unknown backend 'theano': choose one of .*torch"):
        labdl.use("theano")
    with pytest.raises(BackendError, match="unknown backend 'theano'"):
        labdl.tensor([1.0], backend="theano")
    monkeypatch.setenv("LABDL_BACKENDS", "theano")
    with pytest.raises(BackendError, match=r"unknown backend 'theano'.* \(asked for by LABDL_BACKENDS\)"):
        dispatch.load("torch")
    dispatch.load("numpy")  # starts no framework
    monkeypatch.delenv("LABDL_BACKENDS")
    monkeypatch.setenv("LABDL_BACKEND", "theano")
    with pytest.raises(BackendError, match=r"unknown backend 'theano'.* \(asked for by LABDL_BACKEND\)"):
        labdl.tensor([1.0])


def test_a_choice_that_fails_leaves_the_default_alone():
    before = labdl.backends.default()
    with pytest.raises(BackendError):
        labdl.use("theano")
    assert labdl.backends.default() == before


def test_a_missing_framework_says_how_to_get_it(nothing_loaded, monkeypatch):
    monkeypatch.setattr(framework_info, "is_installed", lambda name: name != "paddle")
    with pytest.raises(BackendError, match=r"'paddle' is not installed: pip install .labdl\[paddle\]."):
        labdl.use("paddle")

    def absent(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", absent)
    assert labdl.backends.available()["paddle"] == 'not installed: pip install "labdl[paddle]"'


def test_a_folder_that_happens_to_have_a_frameworks_name_is_no_framework(nothing_loaded, monkeypatch, tmp_path):
    (tmp_path / "paddle").mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert not framework_info.is_installed("paddle")


def test_without_any_framework_the_default_is_numpy(nothing_loaded, monkeypatch):
    monkeypatch.setattr(framework_info, "is_installed", lambda name: name == "numpy")
    assert labdl.backends.default() == "numpy"


def test_mindspore_with_numpy_2_is_refused_before_it_is_imported(nothing_loaded, monkeypatch):
    monkeypatch.setattr(np, "__version__", "2.1.3")
    wanted = r"built for NumPy 1 and fails with NumPy 2\.1\.3: pip install numpy==1\.26\.4"
    with pytest.raises(BackendError, match=wanted):
        labdl.use("mindspore")
    assert "mindspore" not in sys.modules
    monkeypatch.setenv("LABDL_BACKENDS", "torch,mindspore")
    with pytest.raises(BackendError, match=wanted + r" \(asked for by LABDL_BACKENDS\)"):
        labdl.use("torch")
    assert "mindspore" not in framework_info.installed_backends()


@pytest.mark.parametrize(
    ("error", "wanted"),
    [
        (ImportError("libfoo.so: undefined symbol"), r"libfoo\.so: undefined symbol \(ImportError in "),
        (OSError("libfoo.so: cannot open"), r"libfoo\.so: cannot open \(OSError in "),
        (ValueError("numpy.dtype size changed\n  more"), r"numpy\.dtype size changed \(ValueError in "),
        (
            ImportError('Traceback (most recent call last):\n  File "a.py"\nImportError: libtf.so\n\nSee the site'),
            r"ImportError: libtf\.so \(ImportError in ",
        ),
    ],
)
def test_a_framework_that_does_not_import_says_why(error, wanted, nothing_loaded, monkeypatch):
    def broken(name):
        raise error

    monkeypatch.setattr(dispatch.importlib, "import_module", broken)
    with pytest.raises(BackendError, match="'torch' is installed but does not import: " + wanted) as raised:
        labdl.use("torch")
    assert raised.value.__suppress_context__  # the framework's traceback is not shown
    assert "\n" not in str(raised.value)


BROKEN = """
import labdl
labdl.use("torch")
"""


def test_a_broken_installation_ends_in_a_sentence(fresh_python, tmp_path):
    """A framework of that name is found, but fails in its middle."""
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("import ctypes\nctypes.CDLL('libnowhere.so')\n")
    process = fresh_python(BROKEN, PYTHONPATH=f"{tmp_path}:{Path(labdl.__file__).parents[1]}").process
    _, shown = process.communicate(timeout=60)
    assert process.returncode == 1
    last = shown.splitlines()[-1]
    assert last.startswith("labdl.errors.BackendError: backend 'torch' is installed but does not import: libnowhere.so")
    assert "OSError" in last
    assert shown.count("Traceback") == 1


class _Backend(types.SimpleNamespace):
    """A backend with two graphics processors, which keeps a choice to itself."""

    name, chosen = "gadget", "cpu"

    def devices(self):
        return ("cpu", "cuda:0", "cuda:1")

    def current_device(self):
        return self.chosen

    def set_device(self, name):
        self.chosen = name

    def tensor_types(self):
        return ()


@pytest.fixture
def gadget(nothing_loaded, monkeypatch):
    """The gadget in the place of torch, imported but not loaded."""
    backend = _Backend()
    monkeypatch.setattr(dispatch, "_load_listeners", [])
    monkeypatch.setattr(dispatch, "_seed", None)
    monkeypatch.setattr(dispatch.importlib, "import_module", lambda name: backend)
    return backend


def test_a_device_is_chosen_by_name(gadget):
    labdl.use("torch")
    assert labdl.backends.devices() == ("cpu", "cuda:0", "cuda:1")
    assert labdl.device() == "cpu"
    assert labdl.device("cuda:1") == labdl.device() == "cuda:1"
    assert labdl.device("cuda", backend="torch") == "cuda:0"  # the first of its kind
    labdl.use("torch", device="cpu")
    assert labdl.device() == "cpu"


@pytest.mark.parametrize("name", ["cuda:2", "gpu:0", "tpu", ""])
def test_a_device_that_is_not_there_is_named_with_what_there_is(name, gadget):
    with pytest.raises(BackendError, match=f"gadget has no device '{name}' here: it has cpu, cuda:0, cuda:1$"):
        labdl.use("torch", device=name)
    with pytest.raises(BackendError, match="it has cpu"):
        labdl.device(name, backend="torch")
    assert gadget.chosen == "cpu"


def test_the_environment_names_the_device(gadget, monkeypatch):
    monkeypatch.setenv("LABDL_DEVICE", "cuda:1")
    assert labdl.device(backend="torch") == "cuda:1"
    assert labdl.device("cpu", backend="torch") == "cpu"


def test_what_the_code_says_comes_before_the_environment(gadget, monkeypatch):
    monkeypatch.setenv("LABDL_DEVICE", "cuda:7")
    with pytest.raises(BackendError, match=r"no device 'cuda:7' here \(asked for by LABDL_DEVICE\): it has cpu"):
        labdl.use("torch")
    with pytest.raises(BackendError, match="LABDL_DEVICE"):  # the failure has left no half-loaded backend behind
        labdl.use("torch")
    labdl.use("torch", device="cuda:0")
    assert gadget.chosen == "cuda:0"


def test_a_device_that_cannot_be_changed_any_more(gadget, monkeypatch):
    def fixed(self, name):
        raise RuntimeError("The runtime has been initialized")

    monkeypatch.setattr(_Backend, "set_device", fixed)
    with pytest.raises(BackendError, match=r"computes on cpu already.*labdl.use\('gadget', device='cuda:0'\) first"):
        labdl.device("cuda:0", backend="torch")


def test_numpy_stays_on_the_cpu(nothing_loaded, monkeypatch):
    monkeypatch.setenv("LABDL_DEVICE", "cuda:1")
    assert labdl.device(backend="numpy") == "cpu"
    with pytest.raises(BackendError, match="numpy has no device 'cuda' here: it has cpu"):
        labdl.device("cuda", backend="numpy")


class _Tensor:
    shape, dtype = (2,), "float32"


class _OtherTensor(_Tensor):
    pass


@pytest.fixture
def strangers(monkeypatch):
    """Two backends with a tensor type each."""
    monkeypatch.setattr(dispatch, "_owners", dict(dispatch._owners))
    first, second = types.SimpleNamespace(name="first"), types.SimpleNamespace(name="second")
    dispatch.claim(_Tensor, first)
    dispatch.claim(_OtherTensor, second)
    return first, second


def test_tensors_of_two_backends_in_one_operator(strangers):
    with pytest.raises(TypeError, match=r"tensors of two backends in one operator: first and second; convert one"):
        dispatch.owner(_Tensor(), _OtherTensor())
    with pytest.raises(TypeError, match="two backends"):
        dispatch.owner([_Tensor(), (_OtherTensor(),)])


def test_numpy_and_numbers_go_with_any_backend(strangers):
    first, _ = strangers
    assert dispatch.owner(np.zeros(2), 3.0, [_Tensor()]) is first
    assert dispatch.owner(np.zeros(2), None, "text").name == "numpy"


def test_shape_inference_wins_over_tensors(strangers):
    assert dispatch.owner(_Tensor(), Spec((2,))).name == "spec"
    assert dispatch.owner(Spec((2,)), _Tensor()).name == "spec"


def test_a_subclass_belongs_to_its_bases_backend(strangers):
    class Parameter(_Tensor):
        pass

    assert dispatch.owner_of_type(Parameter) is strangers[0]


@pytest.mark.sample(False)
def test_a_seed_counts_for_a_backend_that_is_loaded_later():
    """The editor's training code seeds first and loads its framework afterwards."""
    program = (
        "import labdl, numpy as np; labdl.seed(3); labdl.use('torch'); "
        "x = labdl.tensor(np.ones((64, 64), 'float32')); "
        "print(labdl.to_numpy(labdl.ops.dropout(x, 0.5, training=True)).ravel().nonzero()[0].tolist())"
    )
    first, second = (
        subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout for _ in "ab"
    )
    assert first == second != ""
