"""`import labdl` is cheap: names are imported when they are first used, and editors know all of them."""

import ast
import inspect
import json
import re
from pathlib import Path

import pytest
from jupyter_client.manager import start_new_kernel

import labdl
from labdl import nn
from labdl.nn.schema import LAYERS, fields, layer_schema
from labdl.nn.setting_descriptions import DESCRIPTIONS
from labdl.train.metrics import METRICS
from labdl.train.optimizers import OPTIMIZERS
from labdl.train.schedules import SCHEDULES

HEAVY = ("numpy", "pydantic", "sklearn", "scipy", "tqdm", "h5py", "psutil", "orjson", "jupyter", "IPython", "ipykernel")
WIDGETS = ("ipywidgets", "anywidget", "traitlets", "tornado")
FRAMEWORKS = ("torch", "tensorflow", "paddle", "mindspore", "keras")


def modules_after(fresh_python, code: str) -> list[str]:
    return json.loads(fresh_python(f"{code}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))").result())


def imported_names() -> dict[str, str]:
    """Name to the module that the TYPE_CHECKING block of labdl/__init__.py imports it from."""
    [block] = [node for node in ast.parse(Path(labdl.__file__).read_text()).body if isinstance(node, ast.If)]
    return {alias.name: statement.module for statement in block.body for alias in statement.names}


def test_import_labdl_loads_no_other_module_of_it_and_no_dependency(fresh_python):
    modules = modules_after(fresh_python, "import labdl")
    assert [m for m in modules if m.startswith("labdl.")] == []
    assert [m for m in modules if m.split(".")[0].startswith((*HEAVY, *WIDGETS, *FRAMEWORKS))] == []


def test_models_and_operators_load_neither_training_nor_jupyter(fresh_python):
    code = "import labdl\nlabdl.nn.Sequential(labdl.nn.Linear(2)), labdl.ops.relu, labdl.Graph, labdl.load, labdl.data.iris"
    modules = modules_after(fresh_python, code)
    assert [m for m in modules if m.startswith(("labdl.train", "labdl.lab", "jupyter", "IPython", "sklearn"))] == []
    assert [m for m in modules if m.split(".")[0] in (*WIDGETS, *FRAMEWORKS)] == []


def test_training_loads_neither_widgets_nor_jupyter(fresh_python):
    modules = modules_after(fresh_python, "import labdl\nlabdl.Trainer, labdl.train.Run, labdl.predict")
    assert [m for m in modules if m.startswith(("labdl.lab", "jupyter", "sklearn"))] == []
    assert [m for m in modules if m.split(".")[0] in (*WIDGETS, *FRAMEWORKS)] == []


@pytest.mark.sample(False)
def test_widgets_load_no_server(fresh_python):
    modules = modules_after(fresh_python, "import labdl\nlabdl.lab.Editor, labdl.lab.Dashboard")
    assert [m for m in modules if m.split(".")[0] in ("tornado", "jupyterlab", *FRAMEWORKS)] == []
    assert [m for m in modules if m.startswith(("jupyter_", "labdl.lab.server"))] == []


@pytest.mark.sample(False)
def test_server_extension_without_jupyter_server_names_the_extra(fresh_python):
    code = """
import importlib.util
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "jupyter_server" else find(name, *rest)
try:
    import labdl.lab.server.extension
except ImportError as error:
    print(error)
"""
    assert 'pip install "labdl[lab]"' in fresh_python(code).result()


def test_every_public_name_is_known_to_editors_and_importable():
    names = imported_names()
    assert sorted(names) == sorted(labdl.__all__)
    assert set(labdl.__all__) <= set(dir(labdl))
    for name, module in names.items():
        assert getattr(labdl, name) is getattr(__import__(module, fromlist=[name]), name), name


@pytest.mark.parametrize("name", ["", *(n for n in labdl.__all__ if hasattr(getattr(labdl, n), "__path__"))])
def test_completion_shows_the_public_names_of_a_package_and_no_others(name):
    package = getattr(labdl, name) if name else labdl
    public = [word for word in dir(package) if not word.startswith("__")]
    assert sorted(public) == sorted(package.__all__)
    assert all(hasattr(package, word) for word in public)


@pytest.mark.sample(False)
def test_completion_in_a_kernel():
    manager, client = start_new_kernel()
    try:
        assert client.execute("import labdl", reply=True, timeout=60)["content"]["status"] == "ok"
        for code, wanted in (
            ("labdl.ex", "export"),
            ("labdl.nn.Lin", "Linear"),
            ("labdl.nn.Linear(out", "out_features="),
        ):
            matches = client.complete(code, len(code), reply=True, timeout=60)["content"]["matches"]
            assert any(match.rpartition(".")[2] == wanted for match in matches), (code, matches)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_types_are_published():
    assert (Path(labdl.__file__).parent / "py.typed").is_file()


@pytest.mark.parametrize("registry", [LAYERS, METRICS, SCHEDULES, {n: o.cls for n, o in OPTIMIZERS.items()}])
def test_signatures_show_plain_types(registry):
    known = {"int", "float", "bool", "str", "None", "tuple", "dict", "list", "Any", "Literal"}
    for name, cls in registry.items():
        for parameter in inspect.signature(cls).parameters.values():
            text = re.sub(r"'[^']*'", "", str(parameter.annotation))
            words = set(re.findall(r"[A-Za-z_]\w*", text))
            if cls.__module__.startswith("labdl."):
                assert words <= known | {"Callable", "Sequence", "Mapping", "Schedule", "Module", "Optimizer"}, (
                    name,
                    text,
                )


def test_every_setting_of_a_layer_is_described():
    for name, cls in LAYERS.items():
        for setting in fields(cls):
            if cls.__module__.startswith("labdl."):
                assert re.search(rf"\b{setting}\b", cls.__doc__), f"{name}: describe {setting} in its docstring"


def test_descriptions_are_in_the_form():
    properties = layer_schema(nn.Conv2d)["schema"]["properties"]
    assert properties["stride"]["description"] in inspect.getdoc(nn.Conv2d)


def test_every_shared_description_is_used():
    used = {(cls.__name__, s) for cls in LAYERS.values() for s in cls.setting_descriptions}
    words = {setting for _, setting in used} | {f"{layer}.{setting}" for layer, setting in used}
    assert set(DESCRIPTIONS) <= words


def test_lazy_names_come_from_where_editors_look():
    assert {name: module for name, module in imported_names().items() if module != "labdl"} == labdl._HOME_OF


def test_errors_list_what_they_define():
    assert {"LabDLError", "ConfigError", "message_of"} <= set(dir(labdl.errors))
    assert not {"annotations", "difflib", "Iterable"} & set(dir(labdl.errors))
