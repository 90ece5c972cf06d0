"""docs/file-format.md is sufficient to read a model without LabDL, and agrees with the code."""

import hashlib
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest

import labdl
from labdl.graph import Node
from labdl.graph.params_json import from_json
from labdl.saving import load_structure
from labdl.saving.structure import identity

ROOT = Path(__file__).parents[3]
DOCUMENT = (ROOT / "docs" / "file-format.md").read_text()
RICH = Path(__file__).parents[1] / "files" / "version4"


@pytest.fixture(scope="module")
def read():
    """The reader that the document prints, with nothing of LabDL in it."""
    return reader()["read"]


def reader():
    source = "\n".join(re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL))
    assert "labdl" not in re.sub(r'"labdl (structure|training)"|\{name\}\.labdl', "", source)
    space: dict = {}
    exec(source, space)
    return space


def test_the_reader_of_the_document_reads(read):
    nodes, edges, ties, values = read(RICH)
    graph, model = load_structure(RICH.with_suffix(".labdl")), labdl.load(RICH, backend="numpy")
    found = {i: Node(n["type"], n["name"], from_json(n["type"], n["params"]), n["shares"]) for i, n in nodes.items()}
    assert found == graph.nodes
    assert list(found) == list(graph.nodes)
    assert edges == [vars(e) for e in graph.edges.values()]
    assert ties == graph.ties
    state = model.state_dict()
    assert list(values) == list(state)
    assert all(np.array_equal(values[k], v) for k, v in state.items())


def test_a_network_computes_by_the_document_alone(read, tmp_path):
    """Names and shapes mean what is written: two convolutions and a linear layer, in plain NumPy."""
    model = labdl.nn.Sequential(
        labdl.nn.Conv2d(4, (3, 2), padding="valid"), labdl.nn.ReLU(), labdl.nn.Flatten(), labdl.nn.Linear(3)
    )
    labdl.save(model.build((None, 2, 5, 4), backend="numpy", seed=0), tmp_path / "net")
    nodes, edges, _, values = read(tmp_path / "net")
    order, at = [], next(i for i, n in nodes.items() if n["type"] == "Input")
    while at is not None:
        order.append(at)
        at = next((e["target"] for e in edges if e["source"] == at), None)
    x = np.random.default_rng(0).normal(size=(2, 2, 5, 4)).astype("float32")
    y = x
    for node in (nodes[i] for i in order):
        if node["type"] == "Conv2d":
            kernel, bias = values[f"{node['name']}/kernel:0"], values[f"{node['name']}/bias:0"]
            high, wide = (y.shape[2] - kernel.shape[0] + 1, y.shape[3] - kernel.shape[1] + 1)
            y = (
                sum(
                    np.einsum("nihw,io->nohw", y[:, :, i : i + high, j : j + wide], kernel[i, j])
                    for i in range(kernel.shape[0])
                    for j in range(kernel.shape[1])
                )
                + bias[:, None, None]
            )
        elif node["type"] == "ReLU":
            y = np.maximum(y, 0)
        elif node["type"] == "Flatten":
            y = y.reshape(len(y), -1)
        elif node["type"] == "Linear":
            y = y @ values[f"{node['name']}/kernel:0"] + values[f"{node['name']}/bias:0"]
    np.testing.assert_allclose(y, model(x), rtol=1e-5, atol=1e-6)


def datasets(file):
    found = []
    file.visititems(lambda path, item: found.append(path) if isinstance(item, h5py.Dataset) else None)
    return found


def test_the_document_lists_every_dataset_and_attribute():
    tables = DOCUMENT.partition("## Structure")[2].partition("**Types.**")[0]
    listed = re.findall(r"^\| `([^`]+)` \|", tables, re.MULTILINE)
    with h5py.File(RICH.with_suffix(".labdl")) as file:
        assert sorted(datasets(file)) == sorted(n for n in listed if "/" in n)
        assert sorted(file.attrs) == sorted(n for n in listed if "/" not in n)
        for path in datasets(file):
            item = file[path]
            kind = re.search(rf"^\| `{path}` \| ([^|]+) \|", tables, re.MULTILINE).group(1)
            if kind == "texts":
                assert (item.dtype.kind, item.ndim, item.attrs["encoding"]) == ("S", 1, b"utf-8")
            else:
                assert str(item.dtype) in kind
            assert item.chunks is None


def test_the_checksum_is_the_one_of_the_document():
    tables = DOCUMENT.partition("## Structure")[2].partition("**Types.**")[0]
    with h5py.File(RICH.with_suffix(".labdl")) as file:
        digest = hashlib.sha256(file.attrs["name"])
        for path in (n for n in re.findall(r"^\| `([^`]+)` \|", tables, re.MULTILINE) if "/" in n):
            data = file[path][()].tobytes()
            digest.update(f"\n{path} {len(data)}\n".encode() + data)
        assert file.attrs["checksum"].decode() == digest.hexdigest()


def test_the_comment_of_the_parameters_names_the_structure():
    with h5py.File(RICH.with_suffix(".labdl")) as file, zipfile.ZipFile(RICH.with_suffix(".npz")) as archive:
        assert archive.comment == b"labdl structure " + file.attrs["parameters"]
        assert file.attrs["parameters"].decode() == identity(load_structure(RICH.with_suffix(".labdl")))
        assert {m.date_time for m in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_the_table_of_parameters_is_up_to_date(tmp_path):
    """Made again it is the same; `python scripts/parameter_table.py` brings it up to date."""
    made = tmp_path / "file-format.md"
    made.write_text(DOCUMENT)
    subprocess.run([sys.executable, ROOT / "scripts" / "parameter_table.py", made], check=True, timeout=120, cwd=ROOT)
    assert made.read_text() == DOCUMENT


MEMORY = """
import re, sys
from pathlib import Path
import numpy as np
import labdl
from labdl import nn

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024

what, path = sys.argv[1:]
labdl.save(nn.Sequential(nn.Linear(3)).build((None, 3), backend="numpy"), path + "/small")
labdl.load(path + "/small", backend="numpy")
model = nn.Sequential(*(nn.Linear(1024) for _ in range(25)))  # 100 MiB
if what == "save":
    model.build((None, 1024), backend="numpy", seed=0)
    before = peak()
    labdl.save(model, path + "/net")
elif what == "load":
    before = peak()
    labdl.load(path + "/net", backend="numpy")
elif what == "swap":
    model.build((None, 1024), backend="numpy", seed=0)
    before = peak()
    labdl.swap_parameters(model, path + "/net.npz")
print(peak() - before)
"""


@pytest.mark.sample(False)
@pytest.mark.slow
def test_saving_and_loading_do_not_copy_the_parameters(tmp_path, fresh_python):
    """Of a model of 100 MiB in 25 arrays: saving takes nothing worth mentioning, loading the model and an array."""
    grown = {what: float(fresh_python(MEMORY, what, str(tmp_path)).result()) for what in ("save", "load", "swap")}
    print(grown)
    assert grown["save"] < 12
    assert grown["load"] < 115
    assert grown["swap"] < 12
