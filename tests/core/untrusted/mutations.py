"""Random changes of valid files: bytes, numbers and nesting, and members of archives with checksums that are right."""

import io
import re
import struct
import zipfile

EXTREMES = [struct.pack("<q", n) for n in (-1, 2**62, 2**63 - 1, -(2**63), 2**31, 2**32 - 1, 0)]
INSERTIONS = [  # instructions of pickle, varints, JSON, YAML
    b")" * 9, b"\x85" * 40, b"h\0" * 9, b"h\0h\0\x86q\0" * 30, b"}" * 9, b"(" * 9, b"\x93", b"R", b"b", b"Q", b"s",
    b"\x8a\xff",
    b"\xff" * 9 + b"\x01", b"\x08" + b"\xff" * 8 + b"\x7f", b"[" * 200, b"]" * 200, b'{"a":' * 200, b"9" * 4400, b"-1",
    b"1e999", b"*a", b"&a ", b"\n", b"\0", b'"', b",",
]  # fmt: skip


def flip(data, other, rng):
    out = bytearray(data)
    for at in rng.integers(len(data), size=rng.integers(1, 9)):
        out[at] ^= 1 << rng.integers(8)
    return bytes(out)


def truncate(data, other, rng):
    return data[: rng.integers(len(data))]


def insert(data, other, rng):
    at = rng.integers(len(data))
    return data[:at] + INSERTIONS[rng.integers(len(INSERTIONS))] + data[at:]


def overwrite(data, other, rng):
    at, size = rng.integers(len(data)), 1 << rng.integers(4)
    return data[:at] + EXTREMES[rng.integers(len(EXTREMES))][:size] + data[at + size :]


def repeat(data, other, rng):
    at, size = rng.integers(len(data)), rng.integers(1, 65)
    return data[:at] + data[at : at + size] * int(rng.integers(2, 5000)) + data[at + size :]


def cut_out(data, other, rng):
    at = rng.integers(len(data))
    return data[:at] + data[at + rng.integers(1, 65) :]


def move(data, other, rng):
    at, to, size = rng.integers(len(data)), rng.integers(len(data)), rng.integers(1, 257)
    return data[:to] + data[at : at + size] + data[to + size :]


def splice(data, other, rng):
    return data[: rng.integers(len(data))] + other[rng.integers(len(other)) :]


def change_number(data, other, rng):
    """A decimal number, as in the headers of .npy and .safetensors, becomes another."""
    numbers = list(re.finditer(rb"\d+", data))
    if not numbers:
        return overwrite(data, other, rng)
    place = numbers[rng.integers(len(numbers))]
    number = (b"0", b"-1", b"4611686018427387904", b"1" * 4400, b"[" * 100, b"1,0,9223372036854775807")[rng.integers(6)]
    return data[: place.start()] + number + data[place.end() :]


def change_member(data, other, rng):
    """A member of an archive is changed, and its checksum is right."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {info.filename: archive.read(info) for info in archive.infolist()}
    except (zipfile.BadZipFile, NotImplementedError, OSError):
        return change_number(data, other, rng)
    names = [name for name in members if name.endswith((".pkl", ".npy"))] or list(members)
    name = names[rng.integers(len(names))]
    way = WAYS[rng.integers(len(WAYS) - 1)]  # not this one
    members[name] = way(members[name] or b"\0", other, rng)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


WAYS = [flip, truncate, insert, overwrite, repeat, cut_out, move, splice, change_number, change_member]


def mutate(data, other, rng, turn):
    """A change of the valid bytes ``data``; ``other`` are those of another file of its kind."""
    archive = data.startswith(b"PK\3\4") and turn % 3
    return (change_member if archive else WAYS[turn % len(WAYS)])(data, other, rng)
