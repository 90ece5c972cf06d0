"""Checkpoints of tf.train.Checkpoint, byte by byte: right ones, and such that are damaged or expensive to read."""

import struct

import numpy as np
from file_parts import message, varint, written

from labdl.bounded.crc32c import crc32c, mask_checksum


def block(entries):
    """A block of LevelDB's tables: keys and values, and where a search may begin."""
    body = b"".join(varint(0) + varint(len(key)) + varint(len(value)) + key + value for key, value in entries)
    return body + struct.pack("<2I", 0, 1)


def table(blocks, repetitions=1):
    """A table of these blocks, with checksums that are right."""
    out, places = b"", []
    for data in blocks:
        places.append(varint(len(out)) + varint(len(data)))
        out += data + b"\0" + struct.pack("<I", mask_checksum(crc32c(data + b"\0")))
    data = block((f"{at:07}".encode(), place) for at, place in enumerate(places * repetitions))
    place = varint(len(out)) + varint(len(data))
    out += data + b"\0" + struct.pack("<I", mask_checksum(crc32c(data + b"\0")))
    return out + (varint(0) * 2 + place).ljust(40, b"\0") + struct.pack("<Q", 0xDB4775248B80FB57)


def entry(dtype, shape, offset, size, checksum=0):
    dims = b"".join(message(2, b"\x08" + varint(n % 2**64)) for n in shape)
    places = b"\x20" + varint(offset % 2**64) + b"\x28" + varint(size % 2**64)
    return b"\x08" + varint(dtype) + message(2, dims) + places + b"\x35" + struct.pack("<I", checksum)


def objects(*names):
    """The graph of a checkpoint: the root, and in it layers that each have a variable of some name."""
    children = [message(1, b"\x08" + varint(at) + message(2, name.encode())) for at, name in enumerate(names, 1)]
    nodes = [b"".join(children)]
    nodes += [message(1, b"\x08" + varint(len(names) + at) + message(2, b"kernel")) for at in range(1, len(names) + 1)]
    nodes += [message(2, message(1, b"VARIABLE_VALUE") + message(3, name.encode())) for name in names]
    return b"".join(message(1, node) for node in nodes)


def string(content):
    """The bytes of a text in a checkpoint, and their checksum."""
    length = struct.pack("<I", len(content))
    check = struct.pack("<I", mask_checksum(crc32c(length)))
    return varint(len(content)) + check + content, mask_checksum(crc32c(length, check, content))


GRAPH = b"_CHECKPOINTABLE_OBJECT_GRAPH"
WEIGHT = np.arange(12, dtype="<f4").tobytes()


def bundle_entries(graph, **changes):
    """The entries of a checkpoint with one weight of (3, 4), which follows the graph; and its bytes."""
    text, checksum = string(graph)
    own = {"dtype": 1, "shape": (3, 4), "offset": len(text), "size": 48, "checksum": mask_checksum(crc32c(WEIGHT))}
    entries = [(b"", b"\x08\1"), (GRAPH, entry(7, (), 0, len(text), checksum)), (b"a", entry(**own | changes))]
    return entries, text + WEIGHT


def bundle(folder, index, data, size=None):
    """A checkpoint of these bytes; its file of tensors may have more, as zeros that take no place on the disk."""
    written(folder / "net.index", index)
    with written(folder / "net.data-00000-of-00001", data).open("r+b") as file:
        file.truncate(size or len(data))
    return folder / "net"


def weight_as(folder, **changes):
    entries, data = bundle_entries(objects("0").replace(b"\x1a\x010", b"\x1a\x01a"), **changes)
    return bundle(folder, table([block(entries)]), data)


def graph_as(folder, entry_of_graph, size=None):
    return bundle(folder, table([block([(b"", b"\x08\1"), (GRAPH, entry_of_graph)])]), bytes(4096), size)


def shared_keys(folder):
    """Keys that each begin as the one before, with two kilobytes in three bytes."""
    first = b"\0" + varint(2000) + b"\0" + b"a" * 2000
    rest = b"".join(varint(2000 + 3 * at) + b"\3\0" + f"{at:03}".encode() for at in range(1000))
    return bundle(folder, table([first + rest + struct.pack("<2I", 0, 1)] * 100), bytes(8))


def objects_of_one_list(folder):
    """A thousand objects at the root, which have one list of a hundred thousand layers without variables."""
    own = b"".join(message(1, b"\x08\1" + message(2, f"r{at}".encode())) for at in range(1000))
    layers = b"".join(message(1, b"\x08\2" + message(2, str(at).encode())) for at in range(100_000))
    graph = message(1, own) + message(1, message(1, b"\x08\2" + message(2, b"_operations"))) + message(1, layers)
    entries, data = bundle_entries(graph)
    return bundle(folder, table([block(entries)]), data)


TENSORFLOW = {
    "negative shape": (lambda f: weight_as(f, shape=(-1,)), "impossible shape"),
    "2^80 numbers": (lambda f: weight_as(f, shape=(2**40, 2**40)), "impossible shape"),
    "2^62": (lambda f: weight_as(f, shape=(0, 2**62, 2**62)), "impossible shape"),
    "300 axes": (lambda f: weight_as(f, shape=(1,) * 300), "impossible shape|more fields"),
    "another shape": (lambda f: weight_as(f, shape=(2**34,)), r"shape \(17179869184,\), the model wants \(3, 4\)"),
    "fewer bytes": (lambda f: weight_as(f, size=44), "44 bytes, and shape"),
    "texts": (lambda f: weight_as(f, dtype=7), "a type that LabDL does not support"),
    "variants": (lambda f: weight_as(f, dtype=21, shape=(2**34,)), "a type that LabDL does not support"),
    "quantized": (lambda f: weight_as(f, dtype=11), "a type that LabDL does not support"),
    "beyond the end": (lambda f: weight_as(f, offset=2**62), "beyond the end"),
    "before the beginning": (lambda f: weight_as(f, offset=-1), "impossible shape or place"),
    "another checksum": (lambda f: weight_as(f, checksum=3), "damaged"),
    "graph of negative shape": (lambda f: graph_as(f, entry(7, (-5,), 0, 4096)), "impossible shape"),
    "graph of 2^62": (lambda f: graph_as(f, entry(7, (2**62,), 0, 4096)), "not a text"),
    "graph of 2^29": (lambda f: graph_as(f, entry(7, (2**29,), 0, 2**29 + 10), 2**29 + 10), "not a text"),
    "graph of 2^34 bytes": (lambda f: graph_as(f, entry(7, (), 0, 2**34), 2**34), "larger than any"),
    "graph of numbers": (lambda f: graph_as(f, entry(1, (2,), 0, 8)), "not a text"),
    "graph of another length": (lambda f: graph_as(f, entry(7, (), 0, 4096)), "truncated"),
    "a block many times": (lambda f: bundle(f, table([block([])], 100_000), bytes(8)), "more entries|in order"),
    "keys of one another": (shared_keys, ""),
    "objects of one list": (objects_of_one_list, "missing"),
    "small": (lambda f: bundle(f, b"", bytes(8)), "truncated"),
}  # fmt: skip
