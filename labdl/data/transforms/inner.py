"""Transforms inside of others: the setting that holds them, walks through all of them, and how they are fitted."""

from __future__ import annotations

import functools
import typing
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, get_args, get_origin

from labdl.data.transforms.general.compose import Compose, RandomApply
from labdl.data.transforms.transform import Transform
from labdl.settings import alternatives

Path = tuple[int, ...]  # the number of a transform in its list, from 1, after those of the transforms around it


@dataclass(frozen=True)
class InnerSetting:
    """The setting of a class that holds transforms; ``read`` makes a tuple of its value, ``write`` the value of a tuple."""

    name: str
    many: bool
    read: Callable[[Any], tuple[Transform, ...]]
    write: Callable[[tuple[Transform, ...]], Any]


@functools.cache
def inner_setting(cls: type[Transform]) -> InnerSetting | None:
    """The one setting of a class that holds a transform or a list of them; None for a class without, or with several.

    It is known by its annotation, ``Transform`` or ``tuple[Transform, ...]``, or has functions to read and write it as the
    metadata "transforms" of the field.
    """
    try:
        hints = typing.get_type_hints(cls)
        settings = fields(cls)  # type: ignore[arg-type]
    except (NameError, TypeError):  # an annotation of a notebook that names nothing; a class without the decorator
        return None
    found = []
    for field in settings:
        if "transforms" in field.metadata:
            read, write = field.metadata["transforms"]
            found.append(InnerSetting(field.name, True, read, write))
        elif any(_is_transform(kind) for kind in alternatives(hints[field.name])):
            found.append(InnerSetting(field.name, False, _read_one, _write_one))
        elif any(_is_list(kind) for kind in alternatives(hints[field.name])):
            found.append(InnerSetting(field.name, True, tuple, tuple))
    return found[0] if len(found) == 1 else None


def inner_transforms(transform: Transform) -> tuple[Transform, ...]:
    """The transforms inside of another one, in their order."""
    setting = inner_setting(type(transform))
    return () if setting is None else setting.read(getattr(transform, setting.name))


def walk(transforms: Sequence[Transform], above: Path = ()) -> Iterator[tuple[Path, Transform]]:
    """All transforms of a list and those inside of them, each with the path of its numbers, as in 2.1."""
    for number, one in enumerate(transforms, 1):
        yield (*above, number), one
        yield from walk(inner_transforms(one), (*above, number))


def replace_inner(transform: Transform, function: Callable[[Transform], Transform]) -> None:
    """Replace each transform inside of another one by that of a function."""
    setting = inner_setting(type(transform))
    if setting is None:
        return
    before = setting.read(getattr(transform, setting.name))
    after = tuple([function(one) for one in before])
    if any(new is not old for new, old in zip(after, before, strict=True)):
        setattr(transform, setting.name, setting.write(after))


def expand_compositions(transforms: Iterable[Transform]) -> Iterator[Transform]:
    """The transforms of a list, with those inside of a `Compose` in its place."""
    for one in transforms:
        if isinstance(one, Compose):
            yield from expand_compositions(one.transforms)
        else:
            yield one


def fit_transform(transform: Transform, samples: Any, *, refit: bool = False) -> None:
    """Fit a transform to a data set if it learns from data, and those inside of it.

    Inside of `Compose` and `RandomApply` each is fitted to the output of those before it, inside of others to the input.
    """
    if hasattr(transform, "fit") and (refit or not getattr(transform, "is_fitted", False)):
        transform.fit(samples)  # type: ignore[attr-defined]
    for inner in inner_transforms(transform):
        fit_transform(inner, samples, refit=refit)
        if isinstance(transform, Compose | RandomApply):
            samples = samples.map(inner)


def path_text(path: Path) -> str:
    """A path as in "2.1"."""
    return ".".join(map(str, path))


def _is_transform(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Transform)


def _is_list(kind: Any) -> bool:
    return get_origin(kind) in (tuple, list) and _is_transform(get_args(kind)[0])


def _read_one(value: Any) -> tuple[Transform, ...]:
    return () if value is None else (value,)


def _write_one(transforms: tuple[Transform, ...]) -> Any:
    return transforms[0] if transforms else None
