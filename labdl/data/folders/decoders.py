"""Decoders of picture, sound and video files, by their kind or suffix."""

from __future__ import annotations

import copy
import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

from labdl.bounded.files import read_file
from labdl.data.codecs import image as pictures
from labdl.data.codecs.image import EncodedImage
from labdl.errors import ConfigError, suggest_name

Kind = Literal["image", "audio", "video"]
KINDS = ("image", "audio", "video")
Source = TypeVar("Source")


def suffixes_of(kind: str) -> tuple[str, ...]:
    """Suffixes of the files of a kind."""
    if kind == "image":
        return pictures.SUFFIXES
    if kind == "audio":
        from labdl.data.folders.audio_folder import AUDIO_SUFFIXES

        return AUDIO_SUFFIXES
    from labdl.data.codecs import video

    return video.SUFFIXES


def find_kind(paths: Sequence[str], source: str) -> Kind:
    """The kind of all files, by their suffixes; ``source`` names them in errors. Raises ConfigError."""
    suffixes = {Path(path).suffix.lower() for path in paths}
    kinds: dict[str, str] = {}
    for suffix in sorted(suffixes):
        kind = next((kind for kind in KINDS if suffix in suffixes_of(kind)), None)
        if kind is None:
            raise ConfigError(
                f'{source} has files of the suffix {suffix!r:.20}: write kind="image", "audio" or "video"'
            )
        kinds[kind] = suffix
    if len(kinds) > 1:
        listed = ", ".join(f"{kind} ({suffix})" for kind, suffix in kinds.items())
        raise ConfigError(f"{source} mixes {listed}: write kind=, or read each by itself")
    return next(iter(kinds))  # type: ignore[return-value]


def find_decoder(kind: str, settings: Mapping[str, Any], owner: str) -> Callable[..., Any]:
    """`decode_image`, `decode_audio` or `decode_video`. Raises ConfigError for a setting that it does not have."""
    if kind == "image":
        decode: Callable[..., Any] = pictures.decode_image
    elif kind == "audio":
        from labdl.data.codecs.audio import decode_audio as decode
    elif kind == "video":
        from labdl.data.codecs.video import decode_video as decode
    else:
        raise ConfigError(f'{owner} wants the kind "image", "audio" or "video", received {kind!r:.40}')
    known = list(inspect.signature(decode).parameters)[1:]
    for name in settings:
        if name not in known:
            raise ConfigError(
                f"{owner} of {kind} has the settings {', '.join(known)}, received {name!r:.60}{suggest_name(name, known)}"
            )
    return decode


def decode_sample(kind: str, decode: Callable[..., Any], path: Path, settings: Mapping[str, Any]) -> dict[str, Any]:
    """A file as a sample; a video with sound has both."""
    value = decode(path, **settings)
    if kind == "video" and settings.get("sound"):
        return {"video": value[0], "audio": value[1]}
    return {kind: value}


def decodes_parts(settings: Mapping[str, Any]) -> bool:
    """Whether settings of `decode_image` allow a transform to decode only what it needs of a picture."""
    whole = settings.get("min_size") is not None or not settings.get("upright", True)
    return bool(settings.get("fast")) and settings.get("mode", "RGB") in ("RGB", "L") and not whole


def read_encoded(path: str | Path, **settings: Any) -> EncodedImage:
    """The file of a picture, with the settings of `decode_image` for the transform that decodes it."""
    data = read_file(path, pictures.LARGEST, "picture")
    own = {name: settings[name] for name in ("mode", "fast", "max_pixels") if name in settings}
    return EncodedImage(data, os.path.basename(path), **own)


def leave_encoded(dataset: Source) -> Source:
    """The same data set with pictures left as EncodedImage, by its attribute ``decode``."""
    other = copy.copy(dataset)
    other.decode = False  # type: ignore[attr-defined]
    return other
