"""The sizes of images and clips that a network can take, checked before its first layer."""

from __future__ import annotations

from labdl.dispatch import spec_of
from labdl.spec import show


def check_sizes(
    model: str, x, *, least: int | tuple[int, ...] = 1, most: int | None = None, multiple: int = 1, axes: str = "H, W"
) -> None:
    """Raise ValueError unless x is (N, C, *axes) and each size from ``least`` to ``most`` and a multiple of ``multiple``.

    Unknown sizes pass: they are checked when the model runs.
    """
    shape, rank = tuple(spec_of(x).shape), axes.count(",") + 1
    if len(shape) != rank + 2:
        raise ValueError(f"{model} wants {rank + 2} axes (N, C, {axes}), received {show(shape)}")
    smallest = (least,) * rank if isinstance(least, int) else least
    sizes = shape[2:]
    if any(n is not None and n < low for n, low in zip(sizes, smallest, strict=True)):
        raise ValueError(
            f"{model} wants ({axes}) of at least {show(smallest)}, received {show(shape)}: enlarge the input"
        )
    if any(n is not None and most is not None and n > most for n in sizes):
        raise ValueError(f"{model} wants ({axes}) of at most {most}, received {show(shape)}: resize the input")
    if any(n is not None and n % multiple for n in sizes):
        raise ValueError(
            f"{model} wants sizes ({axes}) that are multiples of {multiple}, received {show(shape)}: pad or resize the input"
        )
