"""No file crashes LabDL, executes code, or uses much more memory than its size."""

import io
import pickle
import struct
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest

from labdl.errors import FileFormatError
from labdl.saving import decode, encode, load_parameters, load_structure, save_parameters

pytestmark = pytest.mark.slow

FILES = Path(__file__).parents[1] / "files"
VALUES = {"head/kernel:0": np.arange(6, dtype="float32").reshape(2, 3), "empty": np.zeros((0, 3), "int64")}


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
    "newer": (
        lambda f: f.attrs.__setitem__("version", 99),
        r"net\.labdl was written by a newer LabDL \(format 99, .* upgrade labdl",
    ),
    "foreign": (lambda f: f.attrs.__setitem__("format", "keras"), "HDF5 file of another program"),
    "no format": (lambda f: f.attrs.__delitem__("format"), "HDF5 file of another program"),
    "odd version": (lambda f: f.attrs.__setitem__("version", "new"), "is broken"),
    "external link": (link_out, "nodes/id is missing or leads out of the file"),
    "soft link": (link_soft, "nodes/id is missing or leads out of the file"),
    "virtual": (virtual, "nodes/id is not a plain column"),
    "external storage": (
        replace_column("nodes/id", shape=(8,), dtype="S8", external=[("other.bin", 0, 64)]),
        "not a plain column",
    ),
    "no group": (drop_group, "edges is missing"),
    "group for column": (lambda f: (f.__delitem__("nodes/id"), f.create_group("nodes/id")), "not a plain column"),
    "vlen": (replace_column("nodes/id", data=["a"] * 8, dtype=h5py.string_dtype()), "does not hold texts"),
    "numbers": (replace_column("nodes/name", data=np.arange(8)), "does not hold texts"),
    "scalar": (replace_column("nodes/name", data=b"x"), r"nodes/name has shape \(\)"),
    "matrix": (replace_column("nodes/name", data=np.full((8, 2), b"x")), "does not hold texts"),
    "chunked": (
        replace_column("nodes/name", data=np.full(8, b"x"), chunks=(4,), compression="gzip"),
        "not a plain column",
    ),
    "shorter": (replace_column("nodes/name", data=np.array([b"x"])), "is broken"),
    "claims too much": (replace_column("nodes/name", shape=(1_000_000,), dtype="S5000"), "is broken"),
    "too many rows": (replace_column("nodes/name", shape=(2_000_000,), dtype="S1"), r"has shape \(2000000,\)"),
    "not json": (replace_column("nodes/params", data=np.frombuffer(b"{,}", "u1")), "is broken"),
    "not utf-8": (replace_column("nodes/name", data=np.full(8, b"\xff\xfe")), "is broken"),
    "deep json": (replace_column("nodes/params", data=np.frombuffer(b"[" * 50_000 + b"]" * 50_000, "u1")), "is broken"),
    "settings in a list": (
        replace_column("nodes/params", data=np.frombuffer(b"[[1]" + b",[]" * 7 + b"]", "u1")),
        "is broken",
    ),
    "json of fewer": (replace_column("nodes/params", data=np.frombuffer(b"[{}]", "u1")), "is broken"),
    "json of texts": (replace_column("nodes/params", data=np.frombuffer(b'["a"]', "u1")), "is broken"),
    "numbers for json": (replace_column("nodes/params", data=np.arange(8.0)), "does not hold bytes"),
    "no list": (replace_column("nodes/params", data=np.frombuffer(b"{}", "u1")), "holds no list"),
    "references": (replace_column("nodes/name", shape=(8,), dtype=h5py.ref_dtype), "does not hold texts or numbers"),
    "records": (replace_column("nodes/name", data=np.zeros(8, "i4,f4")), "does not hold texts or numbers"),
    "id twice": (replace_column("nodes/id", data=np.full(8, b"i")), "nodes/id holds 'i' twice"),
    "other name": (
        lambda f: f["nodes/name"].__setitem__(0, b"other"),
        "is damaged: its checksum does not fit its content",
    ),
    "bad position": (replace_column("canvas/position", data=np.zeros((2, 1))), "is broken"),
    "edge to nowhere": (replace_column("edges/target", data=np.full(8, b"zz")), "leads to node 'zz'"),
}


def test_a_file_without_a_checksum_may_be_edited(residual):
    def edit(file):
        file["nodes/name"][1] = b"root"
        del file.attrs["checksum"]

    assert decode(edited(residual, edit)).nodes["a"].name == "root"


def test_too_large_structure_is_rejected(residual, tmp_path):
    path = tmp_path / "net.labdl"
    with path.open("wb") as file:
        file.write(encode(residual))
        file.truncate(1 << 40)  # takes no place on the disk
    with pytest.raises(FileFormatError, match=r"net\.labdl has 1,099,511,627,776 bytes, more than any structure needs"):
        load_structure(path)


@pytest.mark.parametrize("case", BROKEN)
def test_broken_structure_raises(residual, case, tmp_path):
    edit, sentence = BROKEN[case]
    path = tmp_path / "net.labdl"
    path.write_bytes(edited(residual, edit))
    with pytest.raises(FileFormatError, match=sentence) as caught:
        load_structure(path)
    assert str(caught.value).startswith("net.labdl ")


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "net.labdl is not a LabDL structure file: it is empty"),
        (b"PK\x03\x04 a zip", "net.labdl is not a LabDL structure file: it is not HDF5"),
        (b"\x89HDF\r\n\x1a\n", "net.labdl is"),
    ],
)
def test_what_is_not_hdf5(data, sentence):
    with pytest.raises(FileFormatError, match=sentence):
        decode(data, "net.labdl")


def test_truncated_structure_is_rejected(residual):
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


def header(shape, dtype="<f4", order=False):
    text = str({"descr": dtype, "fortran_order": order, "shape": shape}).encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text) + 1) + text + b"\n"


def renamed(name):
    """A good file with another name in it, which zipfile would not write."""
    data = npz({"a" * len(name) + ".npy": npy(np.ones(2))})
    return data.replace(b"a" * len(name) + b".npy", name + b".npy")


def overlapping():
    """Members of a table of contents that all lie at one place."""
    data = npz({f"{i:04}.npy": npy(np.ones(1000)) for i in range(2)})
    at = data.index(b"PK\1\2", data.index(b"PK\1\2") + 1)
    return data[: at + 42] + struct.pack("<I", 0) + data[at + 46 :]


def encrypted():
    data = bytearray(npz({"a.npy": npy(np.ones(2))}))
    data[data.index(b"PK\1\2") + 8] |= 1
    return bytes(data)


def doubled():
    return npz({"a.npy": npy(np.ones(2)), "b.npy": npy(np.ones(2))}).replace(b"b.npy", b"a.npy")


GOOD = npz({"a.npy": npy(np.ones(20))})
NOT_PARAMETERS = {
    "empty": (b"", "is not a readable parameter file"),
    "text": (b"hello", "is not a readable parameter file"),
    "pickle": (pickle.dumps({"a": 1}), "is not a readable parameter file"),
    "npy": (npy(np.zeros(3)), "is not a readable parameter file"),
    "pickled member": (
        npz({"a.npy": npy(np.array([Trap()], object), allow_pickle=True)}),
        "a is not an array of numbers",
    ),
    "pickle named npy": (npz({"a.npy": pickle.dumps(Trap())}), "a is not an array of numbers"),
    "raw member": (npz({"a.txt": b"hello"}), "'a.txt' in it is not an array"),
    "raw member named npy": (npz({"a.npy": b"hello"}), "a is not an array of numbers"),
    "folder": (npz({"a/": b""}), "'a/' in it is not an array"),
    "cut member": (
        npz({"a.npy": npy(np.zeros(100))[:200]}),
        r"declared with shape \(100,\) and float64, but has 72 bytes",
    ),
    "long member": (npz({"a.npy": npy(np.zeros(100)) + b"more"}), "declared with shape"),
    "claims too much": (npz({"a.npy": header((10**12,))}), "declared with shape"),
    "claims far too much": (npz({"a.npy": header((10**17, 10**17, 10**17))}), "declared with shape"),
    "wraps around": (npz({"a.npy": header((2**33, 2**31))}), "declared with shape"),  # 0 bytes in 64 bits
    "empty and huge": (npz({"a.npy": header((0, 10**17, 10**17))}), "larger than any array"),
    "negative": (npz({"a.npy": header((-1, -5)) + bytes(20)}), "a is not an array of numbers"),
    "many axes": (npz({"a.npy": header((1,) * 60) + bytes(4)}), "declared with shape|is not a readable"),
    "code for shape": (npz({"a.npy": header("X").replace(b"'X'", b"(exit(),)")}), "a is not an array of numbers"),
    "deep header": (npz({"a.npy": header("X").replace(b"'X'", b"(" * 3000)}), "a is not an array of numbers"),
    "long header": (
        npz({"a.npy": b"\x93NUMPY\x02\x00" + struct.pack("<I", 1 << 31) + header((1,))[10:]}),
        "a is not an array of numbers",
    ),
    "times": (npz({"a.npy": npy(np.zeros(2, "datetime64[s]"))}), "a is not an array of numbers"),
    "records": (npz({"a.npy": npy(np.zeros(2, "i4,f4"))}), "a is not an array of numbers"),
    "bomb": (npz({"a.npy": npy(np.zeros(10_000_000))}, zipfile.ZIP_DEFLATED), "unpacks to far more than its own size"),
    "bomb of many": (
        npz({f"{i}.npy": npy(np.zeros(100_000)) for i in range(50)}, zipfile.ZIP_DEFLATED),
        "unpacks to far more",
    ),
    "overlapping": (overlapping(), "is broken|its parts"),
    "lzma": (npz({"a.npy": npy(np.ones(3))}, zipfile.ZIP_LZMA), "uses a compression that NumPy does not use"),
    "encrypted": (encrypted(), "uses a compression that NumPy does not use"),
    "twice": (doubled(), "it holds a twice"),
    "parent": (npz({"../a.npy": npy(np.ones(2))}), "the name '../a' in it is not a path of names"),
    "parent inside": (npz({"a/../../b.npy": npy(np.ones(2))}), "is not a path of names"),
    "absolute": (npz({"/etc/a.npy": npy(np.ones(2))}), "is not a path of names"),
    "backslash": (renamed(b"..\\a"), "has characters that are not allowed in names"),
    "NUL": (renamed(b"a\0b"), "has characters that are not allowed in names"),
    "line feed": (npz({"a\nb.npy": npy(np.ones(2))}), "has characters that are not allowed in names"),
    "no name": (npz({".npy": npy(np.ones(2))}), "is not a path of names"),
    "endless name": (npz({"a" * 60_000 + ".npy": npy(np.ones(2))}), "is too long"),
    "another name inside": (GOOD.replace(b"a.npy", b"b.npy", 1), "its table of contents does not match a"),
    "damaged": (
        GOOD.replace(struct.pack("<d", 1), struct.pack("<d", 2), 1),
        "the checksum of a does not match its values",
    ),
}


@pytest.mark.sample(every=4)
@pytest.mark.parametrize("case", NOT_PARAMETERS)
def test_other_files_are_rejected_as_parameters(case, tmp_path):
    path = tmp_path / "net.npz"
    data, sentence = NOT_PARAMETERS[case]
    path.write_bytes(data)
    with pytest.raises(FileFormatError, match=rf"^net\.npz .*({sentence})"):
        load_parameters(path)


def test_truncated_parameter_file_is_rejected(tmp_path):
    path = tmp_path / "net.npz"
    save_parameters(VALUES, path)
    data = path.read_bytes()
    for end in range(0, len(data), 97):
        path.write_bytes(data[:end])
        with pytest.raises(FileFormatError):
            load_parameters(path)


def test_damaged_compressed_file_is_rejected(tmp_path):
    path = tmp_path / "net.npz"
    np.savez_compressed(path, a=np.random.default_rng(0).normal(size=99))
    data = path.read_bytes()
    outcomes = set()
    for at in range(0, len(data), 11):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :])
        try:
            outcomes.add(load_parameters(path)["a"].sum())
        except (FileFormatError, KeyError):  # of another name
            outcomes.add(None)
    assert len(outcomes) == 2  # refused, or of the very values where the byte says nothing


# -- memory

HOSTILE_IN_LITTLE_MEMORY = """
import re, resource, sys
from pathlib import Path
import h5py, numpy as np
import labdl
from labdl.errors import FileFormatError
from labdl.saving import load_parameters, load_structure

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) // 1024

load_structure(sys.argv[1])  # everything is imported
before = peak()
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
for name in sys.argv[2:]:
    try:
        (load_parameters if name.endswith(".npz") else load_structure)(name)
    except FileFormatError as error:
        assert not isinstance(error.__cause__, MemoryError), error
    else:
        raise SystemExit(f"{name} was opened")
print(peak() - before)
"""


@pytest.mark.sample(False)
def test_hostile_files_take_little_memory(residual, tmp_path, fresh_python):
    (tmp_path / "good.labdl").write_bytes(encode(residual))
    for i, (data, _) in enumerate(NOT_PARAMETERS.values()):
        (tmp_path / f"{i}.npz").write_bytes(data)
    for i, (edit, _) in enumerate(BROKEN.values()):
        (tmp_path / f"{i}.labdl").write_bytes(edited(residual, edit))
    names = sorted(str(p) for p in tmp_path.iterdir() if p.name != "good.labdl")
    megabytes = int(fresh_python(HOSTILE_IN_LITTLE_MEMORY, str(tmp_path / "good.labdl"), *names).result())
    assert megabytes < 100


# -- 2,000 files changed at random

MUTATIONS = """
import collections, re, resource, signal, sys, warnings
from pathlib import Path
import numpy as np
import labdl
from labdl.errors import FileFormatError, StateDictError, ModelError
from labdl.saving import decode, load_parameters

resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
warnings.simplefilter("ignore")
files, scratch = Path(sys.argv[1]), Path(sys.argv[2])
rng = np.random.default_rng(5)

def pair(suffix):
    names = [f"version{v}{suffix}" for v in (1, 2, 3, 3, 4, 4)]  # those with a checksum twice as often
    one, other = rng.choice(names, 2)
    return one, (files / one).read_bytes(), (files / other).read_bytes()

def places(data, count):
    # most of a file is content: half of the changes go to what is not zero
    hot = np.flatnonzero(np.frombuffer(data, "u1")) if rng.random() < 0.5 else np.arange(len(data))
    return rng.choice(hot, count)

def flipped(data, other):
    data = bytearray(data)
    for at in places(data, rng.integers(1, 5)):
        data[at] = rng.integers(256) if rng.random() < 0.5 else data[at] ^ (1 << rng.integers(8))
    return bytes(data)

def truncated(data, other):
    return data[: rng.integers(len(data))]

def inserted(data, other):
    at = int(places(data, 1)[0])
    return data[:at] + rng.bytes(rng.integers(1, 65)) + data[at:]

def cut_out(data, other):
    at = int(places(data, 1)[0])
    return data[:at] + data[at + rng.integers(1, 65) :]

def blanked(data, other):
    at, size = int(places(data, 1)[0]), rng.integers(1, 257)
    return data[:at] + bytes(len(data[at : at + size])) + data[at + size :]

def spliced(data, other):
    a, b = rng.integers(len(data)), rng.integers(len(other))
    return data[:a] + other[b:]

def grafted(data, other):
    # a block of the one at the same place in the other
    at, size = rng.integers(min(len(data), len(other))), rng.integers(1, 2049)
    return data[:at] + other[at : at + size] + data[at + size :]

ways = [flipped, flipped, flipped, truncated, inserted, cut_out, blanked, spliced, grafted]
counts = collections.Counter()
originals = {path.name: decode(path.read_bytes()) if path.suffix == ".labdl" else load_parameters(path)
             for path in files.glob("version*.*")}
for kind in ("structure", "parameters"):
    suffix = ".labdl" if kind == "structure" else ".npz"
    for turn in range(250):
        name, data, other = pair(suffix)
        way = ways[turn % len(ways)]
        changed = way(data, other)
        if kind == "parameters":
            (scratch / "net.npz").write_bytes(changed)
        signal.alarm(20)  # its default is to end the process: a file must not keep anybody busy for ever
        try:
            if kind == "structure":
                graph = decode(changed)
                graph.check()
                same = graph == originals[name] and graph.notes == originals[name].notes
            else:
                values = load_parameters(scratch / "net.npz")
                assert all(isinstance(v, np.ndarray) for v in values.values())
                whole = originals[name]
                same = values.keys() == whole.keys() and all(np.array_equal(values[k], whole[k]) for k in values)
            outcome = "equal" if same else "different"
        except FileFormatError:
            outcome = "refused"
        counts[kind, outcome] += 1
        if outcome != "refused" or turn % 4 == 0:
            twin = ".npz" if kind == "structure" else ".labdl"
            (scratch / f"net{suffix}").write_bytes(changed)
            (scratch / f"net{twin}").write_bytes((files / name).with_suffix(twin).read_bytes())
            try:
                labdl.load(scratch / "net", backend="numpy")
                assert outcome != "refused"
                counts[kind, f"{outcome}, and loaded"] += 1
            except FileFormatError:
                counts[kind, f"{outcome}, and refused in loading"] += 1
            except (StateDictError, ModelError):
                assert outcome != "refused"
                counts[kind, f"{outcome}, but does not fit"] += 1
        if outcome == "different":
            newest = name.startswith(("version3", "version4", "version5")) and way not in (spliced, grafted)
            counts[kind, "different, of a version with checksums, not from other files"] += newest
signal.alarm(0)
for (kind, outcome), count in sorted(counts.items()):
    print(f"{kind}: {outcome}: {count}")
print("peak MiB:", int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) // 1024)
"""


@pytest.mark.sample(False)
def test_changed_files_are_rejected_or_read(tmp_path, fresh_python):
    """In a process of its own, which must live to the end and not eat memory."""
    out = fresh_python(MUTATIONS, str(FILES), str(tmp_path)).result()
    print(f"\n{out}")
    counts = {line.rpartition(": ")[0]: int(line.rpartition(": ")[2]) for line in out.splitlines()}
    for kind in ("structure", "parameters"):
        assert sum(counts.get(f"{kind}: {o}", 0) for o in ("refused", "equal", "different")) == 250
        assert counts[f"{kind}: refused"] > 125
        assert counts.get(f"{kind}: different, of a version with checksums, not from other files", 0) == 0, (
            "its checksums tell"
        )
    assert counts["peak MiB"] < 500
