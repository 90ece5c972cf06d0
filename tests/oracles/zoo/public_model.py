"""Weights and inputs of the oracle files, drawn again from their names: NumPy only, bit for bit what the oracles were given.

An oracle file (``NAME.npz``) holds no weights. Each array of the source model was drawn from a 32-bit seed taken from the
SHA-256 of ``SALT:PREFIX+NAME``, so any program that knows name and shape can draw it again:

    arrays = weights.load("resnet18.npz")          # {name in the source library: float32 array}
    one = weights.draw("fc.weight", (1000, 512), "matrix")

`draw` knows six kinds; which one an array has is listed in the file (key ``kinds``):

    matrix    normal / sqrt(fan in), the fan in being the number of elements of one row (all axes but the first)
    table     normal / sqrt(last axis): two axes or more and "embed" somewhere in the name, as it stands in the source
    scale     1 + 0.1 * normal (norm weights and other vectors whose last name is weight, gamma or scale_weight)
    offset    0.1 * normal     (every other vector or scalar: biases, class tokens of one axis ...)
    mean      0.1 * normal     (running means)
    variance  0.5 + uniform    (running variances)

An array of the kind ``tied`` is another array of the list under a second name (key ``tied``), one of the kind ``kept`` was
not drawn: it keeps the value that the source library gives it, and the file has that value (key ``b:NAME``) where it is a
part of the model's function.

The stream is the Mersenne twister MT19937. Sixteen or more normal numbers come from 24-bit uniforms by the Box-Muller formula
in float32, eight pairs at a time, with the logarithm, sine and cosine of the Cephes library's float polynomials (Moshier;
vectorised by Pommier and Garberoglio, zlib licence) and fused multiply-adds; fewer than sixteen come one by one in float64.
Both are spelt out below, since the last bits depend on them. No library but NumPy, and the same result on every machine.
"""

import hashlib
import json
import math

import numpy as np

F32 = np.float32
PI2 = F32(2 * math.pi)


def _stream(key):
    """The 32-bit numbers of a key, as a function of how many."""
    seed = int(hashlib.sha256(key.encode()).hexdigest()[:15], 16) & 0xFFFFFFFF
    twister = np.random.RandomState(seed)  # MT19937, whose full range of 32 bits is the raw stream
    return lambda count: twister.randint(0, 1 << 32, count, dtype=np.uint32)


def _uniform32(raw):
    return (raw & np.uint32(0xFFFFFF)).astype(F32) * F32(2.0**-24)


def _fma(a, b, c):
    """a * b + c with one rounding to float32: the product is exact in float64, and the sum is rounded to odd there."""
    product, c = np.multiply(a, b, dtype=np.float64), np.asarray(c, np.float64)
    total = product + c
    back = total - product
    lost = (product - (total - back)) + (c - back)
    bits = total.view(np.int64)
    even = (bits & 1) == 0
    step = np.where((lost > 0) == (total > 0), 1, -1)
    return np.where((lost != 0) & even, bits + step, bits).view(np.float64).astype(F32)


def _polynomial(x, *coefficients):
    y = np.full_like(x, F32(coefficients[0]))
    for c in coefficients[1:]:
        y = _fma(y, x, np.full_like(x, F32(c)))
    return y


def _log(x):
    """Natural logarithm of positive float32."""
    bits = np.maximum(x, F32(2.0**-126)).view(np.int32)
    e = ((bits >> 23) - 126).astype(F32)
    m = ((bits & 0x007FFFFF) | 0x3F000000).view(F32)  # in [0.5, 1)
    small = m < F32(0.707106781186547524)
    x = (m - F32(1)) + np.where(small, m, F32(0))
    e = e - small.astype(F32)
    z = x * x
    y = (
        _polynomial(
            x,
            7.0376836292e-2,
            -1.1514610310e-1,
            1.1676998740e-1,
            -1.2420140846e-1,
            1.4249322787e-1,
            -1.6668057665e-1,
            2.0000714765e-1,
            -2.4999993993e-1,
            3.3333331174e-1,
        )
        * x
    )
    y = _fma(y, z, e * F32(-2.12194440e-4))
    y = _fma(z, np.full_like(z, F32(-0.5)), y)
    return _fma(e, np.full_like(e, F32(0.693359375)), x + y)


def _sine_and_cosine(x):
    """Of non-negative float32."""
    octant = ((x * F32(1.27323954473516)).astype(np.int32) + 1) & ~1
    y = octant.astype(F32)
    for part in (-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8):
        x = _fma(y, np.full_like(y, F32(part)), x)
    z = x * x
    cosine = _polynomial(z, 2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2) * z
    cosine = _fma(cosine, z, -(z * F32(0.5))) + F32(1)
    sine = _polynomial(z, -1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1) * z
    sine = _fma(sine, x, x)
    direct = (octant & 2) == 0
    of_sine = np.where((octant & 4) != 0, F32(-1), F32(1))
    of_cosine = np.where(((octant - 2) & 4) == 0, F32(-1), F32(1))
    return np.where(direct, sine, cosine) * of_sine, np.where(direct, cosine, sine) * of_cosine


def _sixteens(uniforms):
    """Normal numbers of uniform ones, in blocks of sixteen: eight radii, then eight angles."""
    blocks = uniforms.reshape(-1, 2, 8)
    radius = np.sqrt(F32(-2) * _log(F32(1) - blocks[:, 0]))
    sine, cosine = _sine_and_cosine(PI2 * blocks[:, 1])
    return np.stack([radius * cosine, radius * sine], 1).reshape(-1)


def _few(raw, count):
    pairs = []
    for _ in range((count + 1) // 2):
        a, b, c, d = (int(n) for n in raw(4))
        first, second = (((hi << 32 | lo) & (2**53 - 1)) * 2.0**-53 for hi, lo in ((a, b), (c, d)))
        radius, angle = math.sqrt(-2 * math.log1p(-second)), 2 * math.pi * first
        pairs += [radius * math.cos(angle), radius * math.sin(angle)]
    return np.array(pairs[:count], np.float64).astype(F32)


def normal(key, shape):
    """Standard normal float32 numbers of a key."""
    count, raw = math.prod(shape), _stream(key)
    if count < 16:
        return _few(raw, count).reshape(shape)
    uniforms = _uniform32(raw(count))
    result = np.empty(count, F32)
    whole = count // 16 * 16
    for at in range(0, whole, 1 << 18):  # in pieces, so that large arrays need little memory
        piece = uniforms[at : min(at + (1 << 18), whole)]
        result[at : at + len(piece)] = _sixteens(piece)
    if count % 16:
        result[-16:] = _sixteens(_uniform32(raw(16)))
    return result.reshape(shape)


def uniform(key, shape):
    """Uniform float32 numbers in [0, 1) of a key."""
    return _uniform32(_stream(key)(math.prod(shape))).reshape(shape)


def draw(name, shape, kind, seed="0"):
    """The float32 array of a name: ``seed`` is the salt of the whole model, "0" in the files here."""
    shape = tuple(int(n) for n in shape)
    key = f"{seed}:{name}"
    if kind == "variance":
        return uniform(key, shape) + F32(0.5)
    numbers = normal(key, shape)
    if kind in ("matrix", "table"):
        fan_in = math.prod(shape[1:]) if kind == "matrix" else shape[-1]
        return numbers / F32(math.sqrt(max(fan_in, 1)))
    if kind == "scale":
        return F32(0.1) * numbers + F32(1)
    if kind in ("offset", "mean"):
        return F32(0.1) * numbers
    raise ValueError(f"no kind {kind!r}: matrix, table, scale, offset, mean or variance")


def draw_input(shape, seed=1):
    """The normal numbers that are a model's input, where the file has ``x:NAME@drawn`` instead of ``x:NAME``."""
    shape = tuple(int(n) for n in shape)
    return normal(f"x{seed}{shape}", shape)


def projection(label, shape):
    """The fixed numbers that weigh an output in the loss whose gradients a file has (``g:``)."""
    return normal("proj" + label, tuple(int(n) for n in shape))


def probe(name, shape):
    """The fixed numbers that a parameter's gradient is multiplied with and summed (``g:dot``)."""
    return normal("probe" + name, tuple(int(n) for n in shape))


def positions(count, samples=4096):
    """The flat (C order) positions that ``y:NAME@sampled`` has of an output of so many elements."""
    return (np.arange(samples, dtype=np.int64) * count) // samples


def load(path):
    """All arrays of an oracle's model by the source library's names, drawn again; kept ones only where the file has them."""
    with np.load(path) as file:
        names, kinds = json.loads(str(file["names"])), json.loads(str(file["kinds"]))
        shapes, tied = json.loads(str(file["shapes"])), json.loads(str(file["tied"]))
        prefix = json.loads(str(file["config"]))["prefix"]
        result = {}
        for name, kind, shape in zip(names, kinds, shapes, strict=True):
            if kind == "kept":
                if f"b:{name}" in file.files:
                    result[name] = file[f"b:{name}"]
            elif kind != "tied":
                result[name] = draw(prefix + name, shape, kind)
        return {
            name: result[tied[name]] if name in tied else result[name]
            for name in names
            if name in tied or name in result
        }


def inputs(path):
    """The inputs of an oracle by name."""
    with np.load(path) as file:
        result = {key[2:]: file[key] for key in file.files if key.startswith("x:") and not key.endswith("@drawn")}
        for key in file.files:
            if key.startswith("x:") and key.endswith("@drawn"):
                seed, *shape = (int(n) for n in file[key])
                result[key[2:-6]] = draw_input(shape, seed)
        return result


def probes(path, from_public):
    """``{our parameter: (public name, its part of the probe in our shape)}``, by the family's own map of names.

    The sum over the parts of one public name of ``sum(our gradient * part)`` is that name's entry of ``g:dot``, and the root
    of the sum of ``sum(our gradient ** 2)`` that of ``g:norm``: no map in the other direction is needed.
    """
    with np.load(path) as file:
        names, kinds = json.loads(str(file["names"])), json.loads(str(file["kinds"]))
        shapes, tied = json.loads(str(file["shapes"])), json.loads(str(file["tied"]))
    shape_of = {name: tuple(shape) for name, kind, shape in zip(names, kinds, shapes, strict=True) if kind != "kept"}
    numbers = {name: np.full(shape, names.index(tied.get(name, name)), np.int64) for name, shape in shape_of.items()}
    parts = from_public({name: probe(tied.get(name, name), shape) for name, shape in shape_of.items()})
    owners = from_public(numbers)
    return {ours: (names[int(owners[ours].flat[0])], part) for ours, part in parts.items()}


def probes_by_name(path, from_public):
    """As `probes`, where a parameter holds several public arrays: ``(public name, {our parameter: (its place, its part)})``.

    The place is true for the elements that belong to the name. It takes a conversion for each name: for small models.
    """
    with np.load(path) as file:
        names, kinds = json.loads(str(file["names"])), json.loads(str(file["kinds"]))
        shapes = json.loads(str(file["shapes"]))
    shape_of = {
        name: tuple(shape)
        for name, kind, shape in zip(names, kinds, shapes, strict=True)
        if kind not in ("kept", "tied")
    }
    nothing = {name: np.zeros(shape) for name, shape in shape_of.items()}
    for name, shape in shape_of.items():
        places = from_public({**nothing, name: np.ones(shape)})
        parts = from_public({**nothing, name: probe(name, shape)})
        yield name, {ours: (place != 0, parts[ours]) for ours, place in places.items() if place.any()}
