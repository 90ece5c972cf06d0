"""Files: they come back equal, never half written, and no file whatever crashes or runs anything (D10)."""

import io
import pickle
import time
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest

import labdl
from labdl import nn
from labdl.errors import FileFormatError, ModelError, StateDictError
from labdl.graph import Edge, Graph, Node
from labdl.saving import atomic, decode, encode, load_parameters, load_structure, save_parameters, save_structure

VALUES = {
    "head/kernel:0": np.arange(6, dtype="float32").reshape(2, 3),
    "file": np.ones(2),
    "empty": np.zeros((0, 3), "int64"),
}


@pytest.fixture
def saved(residual, tmp_path):
    model = residual.to_module().build(backend="numpy", seed=0)
    structure, weights = labdl.save(model, tmp_path / "net")
    return model, structure, weights


# -- round trip


def test_a_structure_comes_back_equal(residual, tmp_path):
    save_structure(residual, tmp_path / "net.labdl")
    again = load_structure(tmp_path / "net.labdl")
    assert again == residual
    assert again.positions == residual.positions


@pytest.mark.parametrize("graph", [
    Graph(),
    Graph({"": Node("ReLU", "a")}),
    Graph({"ä/ñ 日": Node("Linear", "a", {"out_features": 3})}, name="Zürich 日本"),
    Graph({"i": Node("Input", "x", {"shape": (None, 2)}), "n": Node("ops.getitem", "n", {"index": ":, ::2"})},
          {"e": Edge("i", "n")}, positions={"n": (-1e9, 0.1)}),
    Graph({"n": Node("Conv2d", "n", {"out_channels": 8, "padding": ((1, 0), (0, 1)), "use_bias": False})}),
], ids=["empty", "empty id", "not ascii", "operator", "nested"])  # fmt: skip
def test_odd_structures_come_back_equal(graph):
    again = decode(encode(graph))
    assert again == graph
    assert again.positions == graph.positions


def test_bytes_are_deterministic(residual, tmp_path):
    first = encode(residual)
    save_parameters(VALUES, tmp_path / "a.npz")
    time.sleep(1.1)  # both formats can hold times, in seconds
    assert encode(residual) == encode(decode(first)) == first
    save_parameters(dict(VALUES), tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_parameters_come_back_equal(tmp_path):
    save_parameters(VALUES, tmp_path / "a.npz")
    again = load_parameters(tmp_path / "a.npz")
    assert list(again) == list(VALUES)
    for name, value in VALUES.items():
        assert again[name].dtype == value.dtype
        np.testing.assert_array_equal(again[name], value)
    with np.load(tmp_path / "a.npz") as plain:  # and NumPy alone can read them
        np.testing.assert_array_equal(plain["head/kernel:0"], VALUES["head/kernel:0"])


@pytest.mark.parametrize("given", ["net", "net.labdl", "net.npz"])
def test_a_model_comes_back(saved, given):
    model, structure, _ = saved
    again = labdl.load(structure.with_name(given), backend="numpy")
    assert again.graph == model.graph
    x = np.random.default_rng(0).normal(size=(2, 3, 8, 8)).astype("float32")
    np.testing.assert_array_equal(again.eval()(x), model.eval()(x))


def test_structure_alone(saved):
    model, structure, weights = saved
    weights.unlink()
    with pytest.raises(FileNotFoundError, match="load it with parameters=False"):
        labdl.load(structure, backend="numpy")
    fresh = labdl.load(structure, backend="numpy", parameters=False, seed=0)
    assert all(np.array_equal(v, model.state_dict()[k]) for k, v in fresh.state_dict().items())


def test_the_hdf5_suffix_is_kept(residual, tmp_path):
    model = residual.to_module().build(backend="numpy")
    assert [p.name for p in labdl.save(model, tmp_path / "net.h5")] == ["net.h5", "net.npz"]
    assert labdl.load(tmp_path / "net.h5", backend="numpy").graph == residual


def test_an_unbuilt_model_is_not_saved(tmp_path):
    with pytest.raises(ModelError, match="not built yet"):
        labdl.save(nn.Sequential(nn.Linear(3)), tmp_path / "net")
    assert list(tmp_path.iterdir()) == []


def test_missing_files(tmp_path):
    for load in (load_structure, load_parameters):
        with pytest.raises(FileNotFoundError):
            load(tmp_path / "none")
    with pytest.raises(FileNotFoundError):
        labdl.load(tmp_path / "none", backend="numpy")


# -- never half


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failing_write_leaves_the_old_file(residual, tmp_path, monkeypatch, step):
    path = tmp_path / "net.labdl"
    save_structure(residual, path)
    before = path.read_bytes()

    def fail(*_):
        raise OSError("no space left on device")

    monkeypatch.setattr(atomic.os, step, fail)
    with pytest.raises(OSError, match="no space left"):
        save_structure(Graph(), path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["net.labdl"], "nothing is left behind"


def test_a_file_keeps_its_mode(residual, tmp_path):
    path = tmp_path / "net.labdl"
    save_structure(residual, path)
    path.chmod(0o640)
    save_structure(residual, path)
    assert path.stat().st_mode & 0o777 == 0o640


# -- broken and hostile structure files


def edited(graph, edit):
    """The bytes of the graph's file after an edit with h5py."""
    buffer = io.BytesIO(encode(graph))
    with h5py.File(buffer, "r+") as file:
        edit(file)
    return buffer.getvalue()


def replace_column(name, **options):
    def edit(file):
        del file[name]
        file.create_dataset(name, **options)

    return edit


def link_out(file):
    del file["nodes/id"]
    file["nodes/id"] = h5py.ExternalLink("/etc/hostname", "/")


def link_soft(file):
    file["elsewhere"] = file["nodes/id"][()]
    del file["nodes/id"]
    file["nodes/id"] = h5py.SoftLink("/elsewhere")


def virtual(file):
    layout = h5py.VirtualLayout(shape=(8,), dtype="S8")
    layout[:] = h5py.VirtualSource("other.h5", "data", shape=(8,))
    del file["nodes/id"]
    file.create_virtual_dataset("nodes/id", layout)


def drop_group(file):
    del file["edges"]


BROKEN = {
    "newer": (lambda f: f.attrs.__setitem__("version", 99),
              r"net\.labdl was written by a newer LabDL \(format 99, .* upgrade labdl"),
    "foreign": (lambda f: f.attrs.__setitem__("format", "keras"), "HDF5 file of another program"),
    "no format": (lambda f: f.attrs.__delitem__("format"), "HDF5 file of another program"),
    "odd version": (lambda f: f.attrs.__setitem__("version", "new"), "is broken"),
    "external link": (link_out, "nodes/id is missing or leads out of the file"),
    "soft link": (link_soft, "nodes/id is missing or leads out of the file"),
    "virtual": (virtual, "nodes/id is not a plain column"),
    "external storage": (replace_column("nodes/id", shape=(8,), dtype="S8", external=[("other.bin", 0, 64)]),
                         "not a plain column"),
    "no group": (drop_group, "edges is missing"),
    "group for column": (lambda f: (f.__delitem__("nodes/id"), f.create_group("nodes/id")), "not a plain column"),
    "vlen": (replace_column("nodes/id", data=["a"] * 8, dtype=h5py.string_dtype()), "does not hold texts"),
    "numbers": (replace_column("nodes/name", data=np.arange(8)), "does not hold texts"),
    "scalar": (replace_column("nodes/name", data=b"x"), r"nodes/name has shape \(\)"),
    "matrix": (replace_column("nodes/name", data=np.full((8, 2), b"x")), "does not hold texts"),
    "chunked": (replace_column("nodes/name", data=np.full(8, b"x"), chunks=(4,), compression="gzip"), "not a plain column"),
    "shorter": (replace_column("nodes/name", data=np.array([b"x"])), "is broken"),
    "claims too much": (replace_column("nodes/name", shape=(1_000_000,), dtype="S5000"), "is broken"),
    "too many rows": (replace_column("nodes/name", shape=(2_000_000,), dtype="S1"), r"has shape \(2000000,\)"),
    "not json": (replace_column("nodes/params", data=np.full(8, b"{,}")), "is broken"),
    "not utf-8": (replace_column("nodes/name", data=np.full(8, b"\xff\xfe")), "is broken"),
    "deep json": (replace_column("nodes/params", data=np.full(8, b"[" * 5000 + b"]" * 5000)), "is broken"),
    "json is a list": (replace_column("nodes/params", data=np.full(8, b"[1]")), "is broken"),
    "bad position": (replace_column("canvas/position", data=np.zeros((2, 1))), "is broken"),
    "edge to nowhere": (replace_column("edges/target", data=np.full(8, b"zz")), "leads to node 'zz'"),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_structure_is_refused_in_a_sentence(residual, case, tmp_path):
    edit, sentence = BROKEN[case]
    path = tmp_path / "net.labdl"
    path.write_bytes(edited(residual, edit))
    with pytest.raises(FileFormatError, match=sentence) as caught:
        load_structure(path)
    assert str(caught.value).startswith("net.labdl ")


@pytest.mark.parametrize(("data", "sentence"), [
    (b"", "net.labdl is not a LabDL structure file: it is empty"),
    (b"PK\x03\x04 a zip", "net.labdl is not a LabDL structure file: it is not HDF5"),
    (b"\x89HDF\r\n\x1a\n", "net.labdl is"),
])  # fmt: skip
def test_what_is_not_hdf5(data, sentence):
    with pytest.raises(FileFormatError, match=sentence):
        decode(data, "net.labdl")


def test_a_truncated_structure_is_refused_wherever_it_ends(residual):
    data = encode(residual)
    for end in range(8, len(data), 97):
        with pytest.raises(FileFormatError, match=r"net\.labdl is (truncated|broken|not a LabDL|an HDF5)"):
            decode(data[:end], "net.labdl")


# -- broken and hostile parameter files


def npz(members, compression=zipfile.ZIP_STORED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def npy(array, **options):
    buffer = io.BytesIO()
    np.save(buffer, array, **options)
    return buffer.getvalue()


class Trap:
    """Unpickled, it would say so."""

    def __reduce__(self):
        return (exec, ("raise SystemExit('unpickled')",))


HEADER = (
    b"\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,), }".ljust(127) + b"\n"
)
NOT_PARAMETERS = {
    "empty": b"",
    "text": b"hello",
    "pickle": pickle.dumps({"a": 1}),
    "npy": npy(np.zeros(3)),
    "pickled member": npz({"a.npy": npy(np.array([Trap()], object), allow_pickle=True)}),
    "raw member": npz({"a.txt": b"hello"}),
    "raw member named npy": npz({"a.npy": b"hello"}),
    "cut member": npz({"a.npy": npy(np.zeros(100))[:200]}),
    "claims too much": npz({"a.npy": HEADER}),
    "bomb": npz({"a.npy": npy(np.zeros(10_000_000))}, zipfile.ZIP_DEFLATED),
}


@pytest.mark.parametrize("case", NOT_PARAMETERS)
def test_what_is_no_parameter_file_is_refused_in_a_sentence(case, tmp_path):
    path = tmp_path / "net.npz"
    path.write_bytes(NOT_PARAMETERS[case])
    with pytest.raises(FileFormatError, match=r"^net\.npz "):
        load_parameters(path)


def test_a_truncated_parameter_file_is_refused_wherever_it_ends(tmp_path):
    path = tmp_path / "net.npz"
    save_parameters(VALUES, path)
    data = path.read_bytes()
    for end in range(0, len(data), 97):
        path.write_bytes(data[:end])
        with pytest.raises(FileFormatError):
            load_parameters(path)


@pytest.mark.parametrize(("change", "sentence"), [
    (lambda v: v.pop("head/bias:0"), "missing head/bias:0"),
    (lambda v: v.update({"head/bias:0": np.zeros(11)}), r"head/bias:0 has shape \(11,\), the model wants \(10,\)"),
    (lambda v: v.update(other=np.zeros(1)), "unexpected other"),
    (lambda v: v.update({"head/bias:0": np.full(10, "x")}), "head/bias:0 holds <U1, the model wants float32"),
])  # fmt: skip
def test_parameters_of_another_structure_are_named(saved, change, sentence):
    model, structure, weights = saved
    change(values := model.state_dict())
    save_parameters(values, weights)
    with pytest.raises(StateDictError, match=sentence):
        labdl.load(structure, backend="numpy")


# -- bytes changed at random

MUTATIONS = """
import signal, sys, warnings
from pathlib import Path
import numpy as np
import labdl
from labdl.errors import FileFormatError, StateDictError
from labdl.saving import decode, load_parameters

warnings.simplefilter("ignore")
kind, source, scratch = sys.argv[1:4]
original, scratch = Path(source).read_bytes(), Path(scratch)
model = labdl.load(source, backend="numpy")
rng, refused, loaded = np.random.default_rng(1), 0, 0
for _ in range(300):
    data = bytearray(original)
    # most of a file is content: half of the changes go to the parts that say how to read it
    hot = [i for i in range(len(data)) if data[i]] if rng.random() < 0.5 else range(len(data))
    for at in rng.choice(hot, rng.integers(1, 5)):
        data[at] = rng.integers(256) if rng.random() < 0.5 else data[at] ^ (1 << rng.integers(8))
    signal.alarm(20)  # its default is to end the process: a file must not keep anybody busy for ever
    try:
        if kind == "structure":
            graph = decode(bytes(data))
            assert graph.check()[1] is not None
        else:
            scratch.write_bytes(data)
            values = load_parameters(scratch)
            assert all(isinstance(v, np.ndarray) for v in values.values())
            model.load_state_dict(values)
        loaded += 1
    except (FileFormatError, StateDictError):
        refused += 1
    except BaseException as error:
        print(f"{type(error).__name__}: {error}")
        raise
print(refused, loaded)
"""


@pytest.mark.parametrize("kind", ["structure", "parameters"])
def test_no_changed_byte_does_more_than_be_refused(saved, kind, tmp_path, fresh_python):
    """In a process of its own, which must live to the end and not eat memory."""
    _, structure, weights = saved
    limit = "import resource\nresource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))\n"
    source = structure if kind == "structure" else weights
    out = fresh_python(limit + MUTATIONS, kind, str(source), str(tmp_path / "changed.npz")).result()
    refused, loaded = map(int, out.split())
    assert refused + loaded == 300
    assert refused > 30


def test_a_file_of_the_first_version_opens():
    """Written before shared layers, groups and ties."""
    model = labdl.load(Path(__file__).parent / "files" / "version1", backend="numpy")
    x = np.linspace(-1, 1, 128, dtype="float32").reshape(2, 1, 8, 8)
    assert model(x).shape == (2, 3)
    assert model.count_parameters() == 4 * 9 + 4 + 4 * 3 + 3
    assert [n.type for n in model.graph.nodes.values()] == ["Input", "Conv2d", "ops.relu", "ops.mean", "Linear"]
