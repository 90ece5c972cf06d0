"""`import labdl` is cheap: names are imported when they are first used, and editors know all of them."""

import ast
import json
from pathlib import Path

import labdl

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


def test_widgets_load_no_server(fresh_python):
    modules = modules_after(fresh_python, "import labdl\nlabdl.lab.Editor, labdl.lab.Dashboard")
    assert [m for m in modules if m.split(".")[0] in ("tornado", "jupyterlab", *FRAMEWORKS)] == []
    assert [m for m in modules if m.startswith(("jupyter_", "labdl.lab.server"))] == []


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
    assert "pip install 'labdl[lab]'" in fresh_python(code).result()


def test_every_public_name_is_known_to_editors_and_importable():
    names = imported_names()
    assert sorted(names) == sorted(labdl.__all__)
    assert set(labdl.__all__) <= set(dir(labdl))
    for name, module in names.items():
        assert getattr(labdl, name) is getattr(__import__(module, fromlist=[name]), name), name


def test_lazy_names_come_from_where_editors_look():
    assert {name: module for name, module in imported_names().items() if module != "labdl"} == labdl._HOME_OF
