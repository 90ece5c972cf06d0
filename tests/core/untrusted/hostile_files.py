"""Files that are small or quick to write and expensive to read: each builder writes one into a folder and returns its path."""

import io
import json
import os
import pickle
import struct
import zipfile
import zlib
from pathlib import Path

import h5py
import numpy as np
from file_parts import message, varint, written
from graph_files import deep_layers, layer, loop, many_optional, many_parts, named, onnx_chain, shared_settings
from tensorflow_checkpoints import TENSORFLOW

from labdl.graph import Edge, Graph, Node
from labdl.saving import encode

LEVELS = 300_000
SUFFIXES = (".pt", ".pdparams", ".ckpt", ".safetensors", ".weights.h5", ".npz", ".labdl", ".onnx", ".csv", ".json")

# -- pickles, in each file that holds one

DEEP = b")" + b"\x85" * LEVELS  # ((((…),),),)
DOUBLED = b")q\0" + b"h\0\x86q\0" * 40  # x = (x, x), forty times


def call(module, name, arguments):
    return b"c" + f"{module}\n{name}\n".encode() + arguments + b"R"


def tensor(shape, strides, storage=b"(X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\x000X\3\0\0\0cpuK\1tQ"):
    """A tensor as torch.save writes it; numbers are instructions."""
    return b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + b"K\0" + shape + strides + b"\x89}tR"


def long4(value):
    data = pickle.encode_long(value)
    return b"\x8b" + struct.pack("<i", len(data)) + data


def text(value):
    return b"X" + struct.pack("<i", len(value)) + value.encode()


def nested(count, length, levels, value):
    """Dictionaries in one another, each under ``count`` names of so many characters."""
    for level in range(levels):
        names = [text(f"{n:0{length}}") for n in range(count)]
        value = (
            b"}("
            + names[0]
            + value
            + b"q"
            + bytes([level])
            + b"".join(name + b"h" + bytes([level]) for name in names[1:])
        )
        value += b"u"
    return value


ENDLESS = long4(10**4400)
BIG = b"\x8a\x08" + struct.pack("<q", 2**62)
PICKLES = {
    "deep key": b"\x80\x02}" + DEEP + b"K\1s.",
    "doubled key": b"\x80\x02}" + DOUBLED + b"K\1s.",
    "deep key of a pair": b"\x80\x02ccollections\nOrderedDict\n](" + DEEP + b"K\1\x86e\x85R.",
    "doubled key of a pair": b"\x80\x02ccollections\nOrderedDict\n](" + DOUBLED + b"K\1\x86e\x85R.",
    "deep name": b"\x80\x04" + DEEP + DEEP + b"\x93.",
    "doubled name": b"\x80\x04" + DOUBLED + b"\x8c\1a\x93.",
    "doubled reference": b"\x80\x02}X\1\0\0\0a" + DOUBLED + b"Qs.",
    "endless integer as a key": b"\x80\x02}" + ENDLESS + b"K\1s.",
    "integer of 600 digits as a key": b"\x80\x02}\x8a\xfa" + b"\x7f" * 250 + b"K\1s.",
    "deep value": b"\x80\x02}X\1\0\0\0a" + DEEP + b"s.",
    "a list that is copied a million times": b"\x80\x02](" + b"K\1" * 100_000 + b"eq\0("
    + b"cbuiltins\ntuple\nh\0\x85R" * 100_000 + b"l.",
    "a text that is copied a million times": b"\x80\x02X" + struct.pack("<i", 1 << 20) + b"a" * (1 << 20) + b"q\0("
    + b"c_codecs\nencode\nh\0X\6\0\0\0latin1\x86R" * 10_000 + b"t.",
    "sizes that are no numbers": b"\x80\x02}X\1\0\0\0a" + tensor(DEEP, DEEP) + b"s.",
    "sizes that are endless": b"\x80\x02}X\1\0\0\0a" + tensor(ENDLESS + b"\x85", ENDLESS + b"\x85") + b"s.",
    "a stride of 2^62": b"\x80\x02}X\1\0\0\0a" + tensor(b"K\2" + b"\x85", BIG + b"\x85") + b"s.",
    "a stride of 2^62 of an axis of one": b"\x80\x02}X\1\0\0\0a" + tensor(b"K\1" + b"\x85", BIG + b"\x85") + b"s.",
    "an empty shape of 2^124": b"\x80\x02}X\1\0\0\0a" + tensor(b"K\0" + BIG + BIG + b"\x87", b"K\1K\1K\1\x87") + b"s.",
    "dictionaries of one another": b"\x80\x02}q\0(" + b"".join(
        b"X\4\0\0\0" + f"{n:04}".encode() + b"h\0" for n in range(3000)) + b"u.",
    "dictionaries in a dictionary": b"\x80\x02}" + b"X\1\0\0\0a}" * 200_000 + b"s" * 200_000 + b".",
    "a doubled module": b"\x80\x02ctorch\nModule\nq\0)\x81}q\1(" + b"".join(
        text(name) + b"h\1" for name in ("_parameters", "_buffers", "_modules", "a", "b")) + b"ub.",
    "a million objects": b"\x80\x02}X\1\0\0\0a(" + b"ca\nb\n)\x81" * 1_000_000 + b"ls.",
    "an object with itself as state": b"\x80\x02}X\1\0\0\0aca\nb\n)\x81q\0h\0bs.",
    "dictionaries under long names": b"\x80\x02" + nested(100, 660, 3, tensor(b"K\1\x85", b"K\1\x85")) + b".",
    "dictionaries under short names": b"\x80\x02" + nested(9, 1, 6, tensor(b"K\1\x85", b"K\1\x85")) + b".",
    "seventy axes": b"\x80\x02}X\1\0\0\0a" + tensor(b"(" + b"K\1" * 70 + b"t", b"(" + b"K\1" * 70 + b"t") + b"s.",
}  # fmt: skip


def pt(folder, data, compression=zipfile.ZIP_STORED, change=lambda data: data):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        archive.writestr("archive/data.pkl", data)
        archive.writestr("archive/data/0", bytes(4), zipfile.ZIP_STORED)
    return written(folder / "net.pt", change(buffer.getvalue()))


def old_pt(folder, data):
    head = pickle.dumps(0x1950A86A20F9469CFC6C, 2) + pickle.dumps(1001, 2) + pickle.dumps({"little_endian": True}, 2)
    return written(folder / "old.pt", head + data + pickle.dumps(["0"], 2) + struct.pack("<qf", 1, 1))


def damaged_lzma(data):
    at = data.index(b"data.pkl") + 30
    return data[:at] + bytes(b ^ 0x5A for b in data[at : at + 20]) + data[at + 20 :]


def smaller(data):
    """The sizes that the archive declares are made small; what a member unpacks to is not."""
    return data.replace(struct.pack("<L", 1 << 28), struct.pack("<L", 100))


def shared_array(folder):
    """Twenty thousand names of one array of a megabyte."""
    array = np.zeros(1 << 18, "float32")
    return written(folder / "net.pdparams", pickle.dumps(dict.fromkeys(map(str, range(20_000)), array), 4))


def paddle_shape(folder, shape):
    array = pickle.dumps({"a": np.zeros(1, "float32")}, 2)
    return written(folder / "net.pdparams", array.replace(b"K\x01\x85", shape, 1))


def table_of_contents(folder, suffix, members=300_000):
    """An archive of which only the table of contents is there, twice as large as is accepted."""
    entry = b"PK\1\2" + struct.pack("<6H3L5H2L", 20, 20, 0, 0, 0, 0, 0, 0, 0, 14, 0, 0, 0, 0, 0, 0) + b"archive/data/0"
    end = b"PK\5\6" + struct.pack("<4H2LH", 0, 0, 0xFFFF, 0xFFFF, len(entry) * members, 4, 0)
    return written(folder / f"net{suffix}", b"PK\3\4" + entry * members + end)


def zip_field(folder, name, at, value):
    """An archive with this number in the table of contents, and in the header of its member."""
    data = io.BytesIO()
    member = {".keras": "model.weights.h5", ".npz": "a.npy"}.get(Path(name).suffix, "archive/data.pkl")
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr(member, b"\x80\x02}.")
    changed = bytearray(data.getvalue())
    for place in (changed.index(b"PK\3\4") + at, changed.index(b"PK\1\2") + at + 2):
        changed[place : place + 2] = struct.pack("<H", value)
    return written(folder / name, bytes(changed))


ZIP_FIELDS = {
    "version 20.0": (4, 200, "zip file version"),
    "encrypted": (6, 1, "encrypted|compression"),
    "method 77": (8, 77, ""),
}


# -- HDF5


def weights(folder, edit):
    with h5py.File(folder / "net.weights.h5", "w") as file:
        edit(file)
    return folder / "net.weights.h5"


def inflating_chunk(file):
    """A chunk of 48 bytes that unpacks to sixty megabytes."""
    item = file.create_dataset("0/vars/0", (3, 4), "float32", chunks=(3, 4), compression="gzip")
    packer = zlib.compressobj(9)
    data = b"".join(packer.compress(bytes(1 << 20)) for _ in range(60)) + packer.flush()
    item.id.write_direct_chunk((0, 0), data)


def chunks_beyond(file, shape=(3000, 4), at="0/vars/0"):
    """Chunks of a megabyte, of each of which the array has sixteen bytes."""
    options = {"maxshape": (None, None), "chunks": (1, 1 << 18), "compression": "gzip"}
    item = file.create_dataset(at, shape, "float32", **options)
    packed = zlib.compress(bytes(1 << 20), 9)
    for row in range(shape[0]):
        item.id.write_direct_chunk((row, 0), packed)


def keras_archive(folder, edit, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(folder / "net.keras", "w", compression) as archive:
        archive.write(weights(folder, edit), "model.weights.h5")
    return folder / "net.keras"


def wide_chunk(file):
    file.create_dataset("0/vars/0", (3, 4), "float32", maxshape=(None, None), chunks=(1 << 13, 1 << 13))


def other_compression(file):
    file.create_dataset("0/vars/0", data=np.ones((3, 4), "float32"), chunks=(3, 4), compression="lzf")


def many_links(file):
    """Groups that each hold all others."""
    groups = [file.create_group(f"{at:03}") for at in range(256)]
    for group in groups:
        for at, other in enumerate(groups):
            group[f"{at:03}"] = other


def layers_in_order(file, layers=(b"a",), names=(b"kernel:0", b"bias:0")):
    """A whole model of Keras's older format."""
    group = file.create_group("model_weights/a")
    for name, shape in (("kernel:0", (3, 4)), ("bias:0", (4,))):
        group.create_dataset(name, data=np.ones(shape, "float32"))
    group.attrs["weight_names"] = list(names)
    for number in range(0, len(layers), 3000):
        group.parent.attrs[f"layer_names{number // 3000}"] = list(layers[number : number + 3000])


LEGACY = {
    "other layers": ({}, r"they have \(kernel, bias\), the model"),
    "a layer many times": ({"layers": [b"a"] * 9000}, "more layers or weights"),
    "a group as a weight": ({"names": [b"."]}, "is a group"),
    "no such layer": ({"layers": [b"b"]}, "is broken"),
    "no such weight": ({"names": [b"\xff"]}, "is broken"),
    "weights that are numbers": ({"names": [1, 2]}, "is broken"),
}


def deep_groups(file):
    group = file
    for _ in range(3000):
        group = group.create_group("layers")


# -- other formats


def safetensors(folder, header):
    head = header.encode()
    return written(folder / "net.safetensors", struct.pack("<Q", len(head)) + head)


def index(folder, text):
    return written(folder / "model.safetensors.index.json", text.encode())


def ckpt(folder, dims, content=b""):
    tensor = b"".join(b"\x08" + varint(n) for n in dims) + message(2, b"Float32") + message(3, content)
    return written(folder / "net.ckpt", message(1, message(1, b"0.weight") + message(2, tensor)))


def structure(folder, params):
    """A structure file with these settings, as text."""
    graph = Graph({"i": Node("Input", "input", {"shape": (None, 3)}), "a": Node("Linear", "a", {"out_features": 3})},
                  {"e": Edge("i", "a")})  # fmt: skip
    buffer = io.BytesIO(encode(graph))
    with h5py.File(buffer, "r+") as file:
        del file["nodes/params"], file.attrs["checksum"]
        file.create_dataset("nodes/params", data=np.frombuffer(params.encode(), "u1"))
    return written(folder / "net.labdl", buffer.getvalue())


def settings(value):
    return '[{"shape":[null,3]},{"out_features":' + value + "}]"


def onnx_file(folder, graph):
    return written(folder / "net.onnx", b"\x08\x08" + message(7, graph) + message(8, b"\x10\x14"))


def special(path, kind):
    """Something else under the name of a file."""
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "loop":
        path.with_name("other").symlink_to(path)
        path.symlink_to(path.with_name("other"))
    else:
        path.symlink_to("/dev/zero")
    return path


def sparse_line(folder, size=3 << 30):
    """Events of which one line has three gigabytes of zeros that take no place on the disk."""
    path = folder / "run" / "events.jsonl"
    path.parent.mkdir()
    with path.open("wb") as file:
        file.write(b'{"kind":"start","time":1.0}\n')
        file.truncate(size)
    return path.parent


def state(folder, text):
    """A checkpoint folder with this text as its state."""
    path = folder / "step-00000001"
    path.mkdir()
    (path / "state.json").write_text(text)
    for name in ("model", "optimizer", "state"):
        np.savez(path / f"{name}.npz", a=np.zeros(1))
    return path


def run_file(folder, lines):
    """The folder of a run with a start event and these lines."""
    path = folder / "run" / "events.jsonl"
    path.parent.mkdir()
    start = {"kind": "start", "time": 1.0, "version": 2}
    path.write_text("".join(json.dumps({"time": 2.0, **line}) + "\n" for line in (start, *lines)))
    return path.parent


def epochs(count, names=0):
    return [
        {"kind": "epoch", "epoch": n, "step": n, "loss": 1.0, **{f"m{n}_{k}": 1.0 for k in range(names)}}
        for n in range(count)
    ]


def raw_array(kind, shape, data=b""):
    """The bytes of an .npy file whose header claims this dtype and shape."""
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + data


def raw_arrays(folder, **arrays):
    with zipfile.ZipFile(folder / "data.npz", "w") as archive:
        for name, array in arrays.items():
            archive.writestr(f"{name}.npy", array)
    return folder / "data.npz"


def numbers(*shape):
    return raw_array("<f4", shape, bytes(4 * int(np.prod(shape))))


EMPTY = raw_array("|u1", (0, 10**17, 90))
DATA_CASES = {
    "data .npz: characters": (
        "npz",
        lambda f: raw_arrays(f, x=numbers(10, 3), y=raw_array("<U1", (10,), b"\xff\xff\xff\x7f" * 10)),
        "characters that do not exist",
    ),
    "data .npz: bytes": (
        "npz", lambda f: raw_arrays(f, x=numbers(10, 3), y=raw_array("|S2", (10,), b"\xff\xfe" * 10)), None
    ),
    "data .npz: no elements": (
        "npz",
        lambda f: raw_arrays(f, x_train=EMPTY, x_test=EMPTY, y_train=numbers(0), y_test=numbers(0)),
        "larger than any array",
    ),
    "data .npz: samples of no elements": (
        "npz",
        lambda f: raw_arrays(f, x=raw_array("|u1", (10, 0, 10**17, 90)), y=numbers(10)),
        "larger than any array",
    ),
    ".csv: a long class": (
        "csv", lambda f: written(f / "data.csv", b"a,b\n1," + b"b" * 100_000 + b"\n1,b" * 50_000 + b"\n"), None
    ),
    ".csv: texts": ("csv", lambda f: written(f / "data.csv", b"a,b\n" + b"ab,cd\n" * 1_500_000), "a number is wanted"),
}  # fmt: skip

RUN_LINES = {
    "names of steps": lambda: [{"kind": "steps", "step": [n], f"m{n}": [1.0]} for n in range(30_000)],
    "names of epochs": lambda: epochs(5000, 100),
    "starts": lambda: [*epochs(20_000), *[{"kind": "start", "step": 20_000}] * 20_000],
    "starts that go back": lambda: [*epochs(20_000), *({"kind": "start", "step": n} for n in range(20_000, 0, -1))],
    "starts after steps": lambda: [
        *({"kind": "steps", "step": [*range(n, n + 1000)], "loss": [1.0] * 1000} for n in range(0, 1_000_000, 1000)),
        *({"kind": "start", "step": 1_000_000 - n} for n in range(5000)),
    ],
}

HUGE = {
    "Linear": ((None, 3), {"out_features": 2**40}),
    "PositionEmbedding": ((None, 4, 3), {"size": 2**40}),
    "BatchNorm": ((None, 2**45), {}),
    "LayerNorm": ((None, 2**45), {}),
    "GroupNorm": ((None, 2**40, 3), {"groups": 2**40}),
    "Conv2d": ((None, 1, 2**21, 2**21), {"out_channels": 2**20, "kernel_size": 2**20}),
    "MultiHeadAttention": ((None, 4, 10**8), {"heads": 10**8}),
}
WIDE = {
    "SinusoidalPositions": (None, 2**27, 2),
    "RotaryEmbedding": (None, 2**28, 4),
    "RelativePositionBias": (None, 2**30, 2),
}

GRAPH_CASES = {
    ".labdl: a name of 60,000 words": ("structure file", lambda f: named(f, "/".join("a" * 60_000)), "60,000 words"),
    ".labdl: a name of 60,000 letters": ("structure file", lambda f: named(f, "a" * 60_000), "60,000 characters"),
    ".labdl: a long name, as a model": ("new model", lambda f: named(f, "/".join("a" * 60_000)), "60,000 words"),
    **{
        f".labdl: huge {name}": (
            "new model",
            lambda f, n=name, s=shape, p=params: layer(f, n.split()[0], s, **p),
            "no memory for the parameter .* GB",
        )
        for name, (shape, params) in HUGE.items()
    },
    ".labdl: more features than files can hold": (
        "new model",
        lambda f: layer(f, "Linear", (None, 3), out_features=2**62),
        "hold whole numbers up to 9,007,199,254,740,991 exactly",
    ),
    ".labdl: more than the memory left": (
        "new model", lambda f: layer(f, "Linear", (None, 4), out_features=1 << 28), "no memory for the parameter .* GB"
    ),
    **{
        f".labdl: wide {kind}": (
            "new model",
            lambda f, k=kind, s=shape: layer(f, k, s, **({"heads": 2} if "Bias" in k else {})),
            None,
        )
        for kind, shape in WIDE.items()
    },
    ".labdl: wide split": ("new model", lambda f: layer(f, "ops.split", (None, 10**8), sections=10**8, axis=1), "at most"),
    ".labdl: wide unstack": ("new model", lambda f: layer(f, "ops.unstack", (None, 10**8), axis=1), "at most"),
    ".labdl: endless diff": ("new model", lambda f: layer(f, "ops.diff", (None, 3), n=10**15), "at most 64, received n"),
    ".labdl: a loop": ("new model", loop, "on a loop"),
    ".labdl: optional inputs": ("new model", many_optional, "cannot be optional"),
    ".labdl: deep layers": ("new model", deep_layers, "more than 100,000 layers"),
    ".labdl: many parts": ("new model", many_parts, "more than 100,000 layers, parameters and outputs"),
    **{
        f"{reader}: {name}": (reader, lambda f, lines=lines: run_file(f, lines()), None)
        for name, lines in RUN_LINES.items()
        for reader in ("run", "runs")
    },
    ".onnx: one name": ("onnx", lambda f: onnx_chain(f, 10_000), None),
    ".onnx: one weight": ("onnx", lambda f: onnx_chain(f, 2000, "Add", np.zeros((1 << 20, 3))), None),
    ".onnx: copies of a constant": ("onnx", lambda f: onnx_chain(f, 10_000, "MatMul", np.zeros((500, 500))), "far larger"),
    ".onnx: texts": ("onnx", lambda f: onnx_chain(f, 1, "Add", ["a"], text=True), "does not support"),
    ".onnx: a chain": ("onnx", lambda f: onnx_chain(f, 100_001), "100,001 nodes"),
    ".labdl: shared settings": ("new model", shared_settings, "does not fit together"),
}  # fmt: skip

YAML = "a0: &a0 [1, 1]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 60))
MERGED = "a0: &a0 {x: 1}\n" + "".join(f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}\n" for n in range(1, 60))
DEEP_JSON = "[" * 100_000 + "]" * 100_000
LISTS = f"[{','.join(['[]'] * 16_000_000)}]"

EMPTY_TENSOR = '{"dtype":"F32","shape":[0],"data_offsets":[0,0]}'
ESCAPED_TENSOR = EMPTY_TENSOR.replace("dtype", r"\u0064type")

# name: reader, builder, what the message says
CASES = {
    **{f".pt: {name}": ("checkpoint", lambda f, d=data: pt(f, d), "") for name, data in PICKLES.items()},
    **{f"old .pt: {name}": ("checkpoint", lambda f, d=data: old_pt(f, d), "") for name, data in PICKLES.items()},
    **{
        f".pdparams: {name}": ("checkpoint", lambda f, d=data: written(f / "net.pdparams", d), "")
        for name, data in PICKLES.items()
    },
    ".pdparams: millions of lists": (
        "checkpoint",
        lambda f: written(f / "net.pdparams", b"\x80\x02(" + b"]" * 20_000_000 + b"t."),
        "more instructions",
    ),
    ".pt: bz2": ("checkpoint", lambda f: pt(f, bytes(1 << 28), zipfile.ZIP_BZIP2, smaller), "compressed"),
    ".pt: lzma": ("checkpoint", lambda f: pt(f, bytes(1 << 20), zipfile.ZIP_LZMA), "compressed"),
    ".pt: damaged lzma": (
        "checkpoint",
        lambda f: pt(f, np.random.default_rng(0).bytes(5000), zipfile.ZIP_LZMA, damaged_lzma),
        "compressed",
    ),
    ".pt: table of contents": ("checkpoint", lambda f: table_of_contents(f, ".pt"), "table of contents"),
    ".npz: table of contents": ("parameters", lambda f: table_of_contents(f, ".npz"), "table of contents"),
    **{
        f"{suffix}: {name}": (
            "parameters" if suffix == ".npz" else "checkpoint",
            lambda f, s=suffix, a=at, v=value: zip_field(f, f"net{s}", a, v),
            sentence,
        )
        for suffix in (".pt", ".keras", ".npz")
        for name, (at, value, sentence) in ZIP_FIELDS.items()
    },
    ".pdparams: shared array": ("checkpoint", shared_array, "unexpected"),
    ".pdparams: endless shape": ("checkpoint", lambda f: paddle_shape(f, ENDLESS + b"\x85"), ""),
    ".pdparams: 2^62": ("checkpoint", lambda f: paddle_shape(f, b"K\0" + BIG + BIG + b"\x87"), "bytes, and shape"),
    ".h5: inflating chunk": ("checkpoint", lambda f: weights(f, inflating_chunk), "not of the declared size"),
    ".h5: wide chunk": ("checkpoint", lambda f: weights(f, wide_chunk), "more than the array itself"),
    ".h5: other compression": ("checkpoint", lambda f: weights(f, other_compression), "compression"),
    ".h5: chunks beyond the array": (
        "checkpoint",
        lambda f: weights(f, chunks_beyond),
        r"shape \(3000, 4\), the model wants",
    ),
    ".keras: chunks beyond the array": (
        "checkpoint",
        lambda f: keras_archive(f, chunks_beyond),
        r"shape \(3000, 4\), the model wants",
    ),
    **{
        f".h5: {name}": ("checkpoint", lambda f, o=options: weights(f, lambda file: layers_in_order(file, **o)), sentence)
        for name, (options, sentence) in LEGACY.items()
    },
    ".h5: many links": ("checkpoint", lambda f: weights(f, many_links), "more arrays and groups"),
    ".h5: deep groups": ("checkpoint", lambda f: weights(f, deep_groups), "nested too deeply"),
    ".keras: inflating chunk": ("checkpoint", lambda f: keras_archive(f, inflating_chunk), "not of the declared size"),
    ".keras: wide chunk": ("checkpoint", lambda f: keras_archive(f, wide_chunk), "more than the array itself"),
    ".keras: packed": (
        "checkpoint",
        lambda f: keras_archive(f, lambda file: file.create_dataset("a", (1 << 24,), "u1", fillvalue=1)
                                .__setitem__(slice(None), 0), zipfile.ZIP_DEFLATED),
        "compressed",
    ),
    ".keras: table of contents": ("checkpoint", lambda f: table_of_contents(f, ".keras"), "table of contents"),
    "index: deep": ("checkpoint", lambda f: index(f, f'{{"weight_map":{DEEP_JSON}}}'), "nested more than"),
    "index: lists": ("checkpoint", lambda f: index(f, f'{{"weight_map":{LISTS[:12_000_000]}[]]}}'), "lists and objects"),
    "index: large": ("checkpoint", lambda f: index(f, " " * 20_000_000), "more than any index"),
    "index: names": (
        "checkpoint",
        lambda f: index(f, '{"weight_map":{' + ",".join(f'"{n:07}":"a"' for n in range(1_000_000)) + "}}"),
        "more than 500,000 names",
    ),
    "index: a device": (
        "checkpoint",
        lambda f: special(f / "a.bin", "endless") and index(f, '{"weight_map":{"a":"a.bin"}}'),
        "is a device",
    ),
    "index: another folder": ("checkpoint", lambda f: index(f, '{"weight_map":{"a":"../../dev/zero"}}'), "beside it"),
    "index: itself": (
        "checkpoint", lambda f: index(f, '{"weight_map":{"a":"model.safetensors.index.json"}}'), "beside it"
    ),
    **{
        f".safetensors: {shape}"[:60]: (
            "checkpoint",
            lambda f, s=shape: safetensors(f, f'{{"a":{{"dtype":"F32","shape":{s},"data_offsets":[0,0]}}}}'),
            "",
        )
        for shape in (f"[0,{2**62},{2**62}]", [0] * 70, f"[0,{'9' * 4400}]", f"[0,{2**63}]")
    },
    ".safetensors: one shape": (
        "checkpoint",
        lambda f: safetensors(f, '{"a":{"dtype":"F32","shape":[' + "0," * 15_000_000 + '0],"data_offsets":[0,0]}}'),
        "more tensors or axes",
    ),
    ".safetensors: large": ("checkpoint", lambda f: safetensors(f, " " * 40_000_000), "more than any model"),
    ".safetensors: a long name": (
        "checkpoint",
        lambda f: safetensors(f, '{"' + "." * 30_000_000 + '":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}'),
        "too long a name",
    ),
    ".safetensors: tensors": (
        "checkpoint",
        lambda f: safetensors(f, "{" + ",".join(f'"{n:x}":{EMPTY_TENSOR}' for n in range(500_000)) + "}"),
        "more tensors or axes",
    ),
    ".safetensors: as many tensors as may be": (
        "checkpoint",
        lambda f: safetensors(f, "{" + ",".join(f'"{n:x}":{EMPTY_TENSOR}' for n in range(150_000)) + "}"),
        "missing",
    ),
    ".safetensors: tensors in other letters": (
        "checkpoint",
        lambda f: safetensors(f, "{" + ",".join(f'"{n:x}":{ESCAPED_TENSOR}' for n in range(350_000)) + "}"),
        "lists and objects|more tensors",
    ),
    ".safetensors: other texts": (
        "checkpoint",
        lambda f: safetensors(f, '{"__metadata__":{' + ",".join(f'"{n}":""' for n in range(1_000_000)) + "}}"),
        "no arrays",
    ),
    ".safetensors: deep": ("checkpoint", lambda f: safetensors(f, f'{{"a":{DEEP_JSON}}}'), "broken"),
    ".ckpt: 2^62": ("checkpoint", lambda f: ckpt(f, [0, 2**62, 2**62]), "impossible shape"),
    ".ckpt: 2^69": ("checkpoint", lambda f: ckpt(f, [0, 2**69]), "impossible shape"),
    ".ckpt: axes": ("checkpoint", lambda f: ckpt(f, [1] * 60, bytes(4)), "60 axes"),
    ".ckpt: fields": ("checkpoint", lambda f: written(f / "net.ckpt", message(1, b"\x10\0" * 5_000_000)), "more fields"),
    ".ckpt: parts": (
        "checkpoint",
        lambda f: written(f / "net.ckpt", message(1, b"\x0a\0\x12\x09\x12\7Float32") * 1_000_000),
        "more fields",
    ),
    ".ckpt: packed": (
        "checkpoint",
        lambda f: written(f / "net.ckpt", message(1, b"\x0a\0" + message(2, message(1, bytes(20_000_000))))),
        "more numbers",
    ),
    **{f"TensorFlow: {name}": ("checkpoint", *case) for name, case in TENSORFLOW.items()},
    ".labdl: deep settings": (
        "structure",
        lambda f: structure(f, settings("[" * 900 + "]" * 900)),
        "nested more than",
    ),
    ".labdl: deep objects": ("structure", lambda f: structure(f, settings('{"a":' * 100 + "1" + "}" * 100)), "nested"),
    ".labdl: deep, as a model": ("new model", lambda f: structure(f, settings("[" * 60 + "]" * 60)), "nested"),
    ".labdl: integers of 4,400 digits": ("new model", lambda f: structure(f, settings("9" * 4400)), "integer of"),
    ".labdl: integers of 900 digits": ("new model", lambda f: structure(f, settings("9" * 900)), "number of"),
    ".labdl: lists": ("structure", lambda f: structure(f, f'[{{"a":{LISTS[: 3 * 10_000_000]}[]]}},{{}}]'), "lists and"),
    **GRAPH_CASES,
    **DATA_CASES,
    ".onnx: nodes": ("onnx", lambda f: onnx_file(f, b"\x0a\0" * 10_000_000), "more nodes"),
    ".onnx: attributes": ("onnx", lambda f: onnx_file(f, message(1, b"\x2a\0" * 10_000_000)), "more nodes"),
    ".onnx: names": ("onnx", lambda f: onnx_file(f, message(1, b"\x0a\0" * 10_000_000)), "more fields"),
    ".csv: one line": ("csv", lambda f: written(f / "data.csv", b"1," * (1 << 25)), "has a line of more"),
    "run: one line": ("run", sparse_line, None),
    "runs: one line": ("runs", lambda f: sparse_line(f), None),
    "alive: one line": ("alive", sparse_line, None),
    "training: deep": ("training", lambda f: state(f, DEEP_JSON), "nested more than"),
    "training: lists": ("training", lambda f: state(f, LISTS), "lists and objects"),
    "training: digits": ("training", lambda f: state(f, "[" + "9" * 4400 + "]"), "4,400 digits"),
    "settings: deep .json": ("settings", lambda f: written(f / "s.json", DEEP_JSON.encode()), ""),
    "settings: deep .yaml": ("settings", lambda f: written(f / "s.yaml", b"[" * 20_000), "nested too deeply"),
    "settings: doubled .yaml": ("settings", lambda f: written(f / "s.yaml", YAML.encode()), "values"),
    "settings: merged .yaml": ("settings", lambda f: written(f / "s.yaml", MERGED.encode()), "values"),
    "settings: circular .yaml": ("settings", lambda f: written(f / "s.yaml", b"a: &a [*a]"), ""),
    "settings: digits .yaml": ("settings", lambda f: written(f / "s.yaml", b"a: 0b" + b"1" * 50_000), "digits"),
    "settings: large": ("settings", lambda f: written(f / "s.yaml", b"- a\n" * 1_000_000), "more than any"),
    "configuration: deep": ("configuration", lambda f: written(f / "labdl.toml", b"backend = " + b"[" * 5000), "deep"),
    "configuration: dotted": (
        "configuration",
        lambda f: written(f / "labdl.toml", b"backend" + b".a" * 5000 + b" = 1"),
        "wants a text",
    ),
    "configuration: digits": (
        "configuration",
        lambda f: written(f / "labdl.toml", b"backend = 0x" + b"f" * 10_000),
        "wants a text",
    ),
    "configuration: large": (
        "configuration",
        lambda f: written(f / "labdl.toml", b"#" * 100_000),
        "more than any configuration",
    ),
    "source: deep": ("source", lambda f: written(f / "net.py", b"(" * 100_000), "not valid Python"),
    "about: deep": ("about", lambda f: written(f / "about.json", DEEP_JSON.encode()) and f, None),
    **{
        f"{kind}: {suffix}": (
            {".npz": "parameters", ".labdl": "structure file", ".onnx": "onnx", ".csv": "csv", ".json": "settings"}.get(
                suffix, "checkpoint"
            ),
            lambda f, k=kind, s=suffix: special(f / f"net{s}", k),
            "is a (folder|device|link)",
        )
        for kind in ("folder", "pipe", "loop", "endless")
        for suffix in SUFFIXES
    },
    **{
        f"{kind}: data .npz": ("npz", lambda f, k=kind: special(f / "net.npz", k), "is a (folder|device|link)")
        for kind in ("folder", "pipe", "loop", "endless")
    },
    **{
        f"{kind}: events": ("alive", lambda f, k=kind: special(f / "events.jsonl", k) and f, "is a (folder|device|link)")
        for kind in ("folder", "pipe", "loop", "endless")
    },
}  # fmt: skip


def build(name: str, folder: Path) -> Path:
    folder.mkdir()
    return CASES[name][1](folder)
