"""Decoders of picture, sound and video files, by their kind or suffix."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from labdl.data.codecs import image as pictures
from labdl.errors import ConfigError, suggest_name

Kind = Literal["image", "audio", "video"]
KINDS = ("image", "audio", "video")


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
