"""Which backend is loaded, when, and in which order (D1, D9)."""

import subprocess
import sys
import types
from importlib import metadata

import numpy as np
import pytest

import labdl
from labdl import dispatch
from labdl.errors import BackendError
from labdl.spec import Spec

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

REFUSED = """
import sys
import tensorflow
import labdl
for name in ("paddle", "mindspore"):
    try:
        labdl.use(name)
    except labdl.errors.BackendError as error:
        print(error)
labdl.use("tensorflow")
print(labdl.backends.default())
"""

TOGETHER = """
import sys
import numpy as np
import labdl
labdl.use(sys.argv[1])
for name in sys.argv[2:]:
    labdl.use(name)
    t = labdl.ops.add(labdl.tensor([1.0, 2.0]), labdl.tensor([3.0, 4.0]))
    print(name, labdl.to_numpy(labdl.ops.sum(t)).item())
"""


@pytest.fixture(scope="module")
def started(fresh_python):
    """The slow interpreters, all started at once."""
    return {
        "refused": fresh_python(REFUSED),
        "right order": fresh_python(TOGETHER, "torch", *FRAMEWORKS, LABDL_BACKENDS="tensorflow, mindspore,paddle"),
        "one after the other": fresh_python(TOGETHER, "mindspore", "mindspore", "paddle"),
    }


def test_importing_labdl_imports_no_framework(started, fresh_python):
    """Not even building, tracing and checking a model does."""
    assert fresh_python(BARE).result().strip() == "[]"


def test_what_would_crash_is_refused_in_a_sentence(started):
    paddle, mindspore, last = started["refused"].result().splitlines()
    assert "paddle cannot be loaded after tensorflow in one process" in paddle
    assert "labdl.use('paddle') first" in paddle
    assert "LABDL_BACKENDS=paddle,tensorflow" in paddle
    assert "LABDL_BACKENDS=mindspore,tensorflow" in mindspore
    assert last == "tensorflow"


@pytest.mark.parametrize(
    ("case", "names"), [("right order", FRAMEWORKS), ("one after the other", ("mindspore", "paddle"))]
)
def test_backends_live_together_in_an_order_that_works(started, case, names):
    assert started[case].result().splitlines() == [f"{name} 10.0" for name in names]


@pytest.mark.parametrize("late", dispatch.LOAD_ORDER[:-1])
def test_the_guard_names_everything_that_came_too_early(late, monkeypatch):
    early = dispatch.LOAD_ORDER[dispatch.LOAD_ORDER.index(late) + 1 :]
    monkeypatch.setattr(dispatch, "_loaded", {})
    monkeypatch.delitem(sys.modules, late, raising=False)
    for name in early:
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    with pytest.raises(BackendError, match=f"after {' and '.join(early)} .*LABDL_BACKENDS={','.join((late, *early))}"):
        labdl.use(late)


def test_an_unknown_backend_is_named_with_the_choice(monkeypatch):
    with pytest.raises(BackendError, match=r"unknown backend 'theano': choose one of .*torch"):
        labdl.use("theano")
    monkeypatch.setattr(dispatch, "_loaded", {})
    monkeypatch.setenv("LABDL_BACKENDS", "theano")
    with pytest.raises(BackendError, match="unknown backend 'theano'"):
        dispatch.load("numpy")
    monkeypatch.delenv("LABDL_BACKENDS")
    monkeypatch.setattr(dispatch, "_default", None)
    monkeypatch.setenv("LABDL_BACKEND", "theano")
    with pytest.raises(BackendError, match="unknown backend 'theano'"):
        labdl.tensor([1.0])


def test_a_missing_framework_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(dispatch, "_loaded", {})
    monkeypatch.setattr(dispatch, "installed", lambda name: name != "paddle")
    with pytest.raises(BackendError, match=r"'paddle' is not installed: pip install labdl\[paddle\]"):
        labdl.use("paddle")

    def absent(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", absent)
    assert dispatch.available()["paddle"] == "not installed: pip install labdl[paddle]"


def test_mindspore_with_numpy_2_is_refused_in_a_sentence(monkeypatch):
    monkeypatch.setattr(dispatch, "_loaded", {})
    monkeypatch.setattr(metadata, "version", lambda name: "2.1.3")
    with pytest.raises(
        BackendError, match=r"built for NumPy 1 and fails with NumPy 2\.1\.3: pip install numpy==1\.26\.4"
    ):
        labdl.use("mindspore")


def test_a_framework_that_does_not_import_says_why(monkeypatch):
    monkeypatch.setattr(dispatch, "_loaded", {})

    def broken(name):
        raise ImportError("libfoo.so: undefined symbol")

    monkeypatch.setattr(dispatch.importlib, "import_module", broken)
    with pytest.raises(BackendError, match=r"installed but does not import: libfoo\.so"):
        labdl.use("torch")


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
