"""Hashes of texts, equal on every machine: TensorFlow's Hash64, Google's FarmHash fingerprint, keyed SipHash."""

from __future__ import annotations

import struct

_M64 = (1 << 64) - 1
_K0, _K1, _K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F


def hash64(data: bytes, seed: int = 0xDECAFCAFFE) -> int:
    """The hash of tf.strings.to_hash_bucket, a MurmurHash2 of 64 bits."""
    multiplier = 0xC6A4A7935BD1E995
    value = seed ^ (len(data) * multiplier & _M64)
    whole = len(data) & ~7
    for (word,) in struct.iter_unpack("<Q", data[:whole]):
        word = word * multiplier & _M64
        word ^= word >> 47
        value = (value ^ (word * multiplier & _M64)) * multiplier & _M64
    if len(data) > whole:
        value = (value ^ int.from_bytes(data[whole:], "little")) * multiplier & _M64
    value ^= value >> 47
    value = value * multiplier & _M64
    return value ^ (value >> 47)


def sip_hash(data: bytes, key: tuple[int, int]) -> int:
    """SipHash-2-4 with a key of two numbers of 64 bits: nobody without the key can choose texts of the same hash.

    Source: Aumasson and Bernstein, SipHash: a fast short-input PRF (2012).
    """
    k0, k1 = key
    v0, v1 = k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D
    v2, v3 = k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573

    def rounds(count: int) -> None:
        nonlocal v0, v1, v2, v3
        for _ in range(count):
            v0 = (v0 + v1) & _M64
            v2 = (v2 + v3) & _M64
            v1 = _left(v1, 13) ^ v0
            v3 = _left(v3, 16) ^ v2
            v0 = _left(v0, 32)
            v2 = (v2 + v1) & _M64
            v0 = (v0 + v3) & _M64
            v1 = _left(v1, 17) ^ v2
            v3 = _left(v3, 21) ^ v0
            v2 = _left(v2, 32)

    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) & 255])
    for (word,) in struct.iter_unpack("<Q", padded):
        v3 ^= word
        rounds(2)
        v0 ^= word
    v2 ^= 0xFF
    rounds(4)
    return v0 ^ v1 ^ v2 ^ v3


def fingerprint64(data: bytes) -> int:
    """The hash of tf.strings.to_hash_bucket_fast: the fingerprint of FarmHash (farmhashna)."""
    size = len(data)
    if size <= 16:
        return _short(data)
    if size <= 32:
        multiplier = (_K2 + size * 2) & _M64
        a, b = _word(data, 0) * _K1 & _M64, _word(data, 8)
        c, d = _word(data, size - 8) * multiplier & _M64, _word(data, size - 16) * _K2 & _M64
        left = (_right(a + b, 43) + _right(c, 30) + d) & _M64
        return _mix(left, (a + _right(b + _K2, 18) + c) & _M64, multiplier)
    if size <= 64:
        multiplier = (_K2 + size * 2) & _M64
        a, b = _word(data, 0) * _K2 & _M64, _word(data, 8)
        c, d = _word(data, size - 8) * multiplier & _M64, _word(data, size - 16) * _K2 & _M64
        y = (_right(a + b, 43) + _right(c, 30) + d) & _M64
        z = _mix(y, (a + _right(b + _K2, 18) + c) & _M64, multiplier)
        e, f = _word(data, 16) * multiplier & _M64, _word(data, 24)
        g = (y + _word(data, size - 32)) * multiplier & _M64
        h = (z + _word(data, size - 24)) * multiplier & _M64
        return _mix((_right(e + f, 43) + _right(g, 30) + h) & _M64, (e + _right(f + a, 18) + g) & _M64, multiplier)
    return _long(data)


def _long(data: bytes) -> int:
    size, seed = len(data), 81
    x = seed
    y = (seed * _K1 + 113) & _M64
    z = _shift_mix((y * _K2 + 113) & _M64) * _K2 & _M64
    v = w = (0, 0)
    x = (x * _K2 + _word(data, 0)) & _M64
    end = (size - 1) // 64 * 64
    last = end + ((size - 1) & 63) - 63
    for at in range(0, end, 64):
        x = _right(x + y + v[0] + _word(data, at + 8), 37) * _K1 & _M64
        y = _right(y + v[1] + _word(data, at + 48), 42) * _K1 & _M64
        x ^= w[1]
        y = (y + v[0] + _word(data, at + 40)) & _M64
        z = _right(z + w[0], 33) * _K1 & _M64
        v = _weak(data, at, v[1] * _K1 & _M64, (x + w[0]) & _M64)
        w = _weak(data, at + 32, (z + w[1]) & _M64, (y + _word(data, at + 16)) & _M64)
        z, x = x, z
    multiplier = (_K1 + ((z & 0xFF) << 1)) & _M64
    at = last
    w = ((w[0] + ((size - 1) & 63)) & _M64, w[1])
    v = ((v[0] + w[0]) & _M64, v[1])
    w = ((w[0] + v[0]) & _M64, w[1])
    x = _right(x + y + v[0] + _word(data, at + 8), 37) * multiplier & _M64
    y = _right(y + v[1] + _word(data, at + 48), 42) * multiplier & _M64
    x ^= w[1] * 9 & _M64
    y = (y + v[0] * 9 + _word(data, at + 40)) & _M64
    z = _right(z + w[0], 33) * multiplier & _M64
    v = _weak(data, at, v[1] * multiplier & _M64, (x + w[0]) & _M64)
    w = _weak(data, at + 32, (z + w[1]) & _M64, (y + _word(data, at + 16)) & _M64)
    z, x = x, z
    return _mix(
        (_mix(v[0], w[0], multiplier) + _shift_mix(y) * _K0 + z) & _M64,
        (_mix(v[1], w[1], multiplier) + x) & _M64,
        multiplier,
    )


def _short(data: bytes) -> int:
    size = len(data)
    if size >= 8:
        multiplier = (_K2 + size * 2) & _M64
        a, b = (_word(data, 0) + _K2) & _M64, _word(data, size - 8)
        c = (_right(b, 37) * multiplier + a) & _M64
        d = (_right(a, 25) + b) * multiplier & _M64
        return _mix(c, d, multiplier)
    if size >= 4:
        multiplier = (_K2 + size * 2) & _M64
        first, last = int.from_bytes(data[:4], "little"), int.from_bytes(data[-4:], "little")
        return _mix((size + (first << 3)) & _M64, last, multiplier)
    if size > 0:
        y = data[0] + (data[size >> 1] << 8)
        z = size + (data[-1] << 2)
        return _shift_mix((y * _K2 & _M64) ^ (z * _K0 & _M64)) * _K2 & _M64
    return _K2


def _mix(u: int, v: int, multiplier: int) -> int:
    a = _shift_mix((u ^ v) * multiplier & _M64)
    b = (v ^ a) * multiplier & _M64
    return _shift_mix(b) * multiplier & _M64


def _weak(data: bytes, at: int, a: int, b: int) -> tuple[int, int]:
    w, x, y, z = struct.unpack_from("<4Q", data, at)
    a = (a + w) & _M64
    b = _right(b + a + z, 21)
    c = a
    a = (a + x + y) & _M64
    b = (b + _right(a, 44)) & _M64
    return (a + z) & _M64, (b + c) & _M64


def _shift_mix(value: int) -> int:
    return value ^ (value >> 47)


def _word(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 8], "little")


def _right(value: int, by: int) -> int:
    value &= _M64
    return (value >> by | value << (64 - by)) & _M64


def _left(value: int, by: int) -> int:
    return (value << by | value >> (64 - by)) & _M64
