"""Transform: base class of the operations on samples, and the registry of them all."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, TypeVar, dataclass_transform, overload

import numpy as np

from labdl.data.boxes import clip_boxes, convert_boxes
from labdl.data.codecs.image import EncodedImage
from labdl.data.parts import (
    Audio,
    BoundingBoxes,
    Canvas,
    Image,
    KeyPoints,
    Mask,
    Part,
    Spectrogram,
    Text,
    TokenIds,
    Tokens,
    Video,
)
from labdl.errors import ArgumentError, ConfigError, DataError, suggest_name
from labdl.settings import declaration
from labdl.signature import show_plain_types

Kind = TypeVar("Kind", bound="type[Transform]")
Parameters = dict[str, Any]

TRANSFORMS: dict[str, type[Transform]] = {}

# method of a transform by the kind of part; the first kind of a sample is the one that the parameters are drawn for
METHODS: dict[type, str] = {
    EncodedImage: "apply_to_encoded_image",
    Image: "apply_to_image",
    Video: "apply_to_video",
    Mask: "apply_to_mask",
    BoundingBoxes: "apply_to_boxes",
    KeyPoints: "apply_to_keypoints",
    Audio: "apply_to_audio",
    Spectrogram: "apply_to_spectrogram",
    Text: "apply_to_text",
    Tokens: "apply_to_tokens",
    TokenIds: "apply_to_token_ids",
}


class Transform:
    """Base class of the operations on samples. A transform is a class with annotated fields and the decorator `transform`.

    It defines `apply_to_image`, `apply_to_encoded_image`, `apply_to_mask`, `apply_to_boxes`, `apply_to_keypoints`,
    `apply_to_video`, `apply_to_audio`, `apply_to_spectrogram`, `apply_to_text`, `apply_to_tokens` or `apply_to_token_ids`
    for the kinds of parts that it changes, and `get_params` for what is drawn once for all parts of a sample. A field ``p``
    is the probability with which a sample is changed. Parts of other kinds, labels and plain arrays stay as they are; a
    sample without typed parts is taken as the first kind that the transform changes, with the labels beside it unchanged.

    Example::

        @T.transform
        class Darken(T.Transform):
            \"\"\"Multiply by a random factor.\"\"\"

            least: float = 0.5

            def get_params(self, rng, part):
                return {"factor": rng.uniform(self.least, 1.0)}

            def apply_to_image(self, image, params):
                return (image * params["factor"]).astype(image.dtype)
    """

    category: ClassVar[str] = "custom"
    example: ClassVar[dict[str, Any]] = {}
    others: ClassVar[int] = 0  # further samples that `apply_together` takes
    fills_rows: ClassVar[bool] = False  # as the last transform it writes into `labdl.data.row_memory`; not inherited
    _methods: ClassVar[dict[type, str]] = {}

    def __post_init__(self) -> None:
        settings = declaration(type(self))
        values = {name: getattr(self, name) for name in settings.annotations}
        restored = settings.restore_numbers(_plain_numbers(values))
        settings.check(restored)
        for name, value in restored.items():
            if value is not values[name]:
                setattr(self, name, value)
        self.check_settings()

    def check_settings(self) -> None:
        """Raise ConfigError for settings that do not fit each other; called when a transform is created."""

    def __call__(
        self, sample: Any, *, rng: np.random.Generator | int | None = None, out: np.ndarray | None = None
    ) -> Any:
        """The transformed sample: a part, or a tuple, list or dictionary of parts; the argument is not changed.

        ``rng`` is a generator or a seed; None draws other numbers at each call. ``out`` receives the values of a single
        part. Raises DataError for a sample that the transform cannot be applied to.
        """
        generator = rng if isinstance(rng, np.random.Generator) else np.random.default_rng(rng)
        if self.others:
            if not isinstance(sample, list | tuple) or len(sample) != self.others + 1:
                raise ConfigError(
                    f"{type(self).__name__} wants a list of {self.others + 1} samples, or a place in the list of Dataset.map"
                )
            skipped = self.is_skipped(generator)
            result = self.apply_alone(sample[0]) if skipped else self.apply_together(sample, generator)
        else:
            result = self.apply(sample, generator)
        return result if out is None else _write(self, result, out)

    def apply(self, sample: Any, rng: np.random.Generator) -> Any:
        """Apply to the parts of a sample. Overridden by transforms that look at several parts at once."""
        leaves = list(iterate_parts(sample))
        chosen = [leaf for leaf in leaves if self.method_of(leaf) is not None]
        if not chosen:
            return self._apply_to_plain(sample, leaves, rng)
        if self.is_skipped(rng):
            return sample
        part = min(chosen, key=_rank)
        params = self.get_params(rng, part)
        return map_parts(lambda leaf: self.apply_to(leaf, params), sample)

    def is_skipped(self, rng: np.random.Generator) -> bool:
        """Whether this sample stays as it is, by the probability ``p`` of the transform."""
        p = getattr(self, "p", 1.0)
        return p < 1.0 and rng.random() >= p

    def apply_alone(self, sample: Any) -> Any:
        """The sample where a transform of several is skipped, in the form of the others: mixed labels are rows."""
        return sample

    def apply_together(self, samples: Sequence[Any], rng: np.random.Generator) -> Any:
        """Make one sample of ``others`` + 1 samples; the first of them is that whose place the result takes."""
        raise NotImplementedError

    def get_params(self, rng: np.random.Generator, part: Any) -> Parameters:
        """Draw what is the same for all parts of a sample; ``part`` is the first of them, a picture if there is one."""
        return {}

    def canvas_after(self, canvas: Canvas, params: Parameters) -> Canvas:
        """Height and width of a picture after the transform."""
        return canvas

    def apply_to(self, part: Any, params: Parameters) -> Any:
        """Apply to one part; parts of kinds that the transform does not change are returned as they are."""
        method = self.method_of(part)
        if method is None:
            return part
        result = self.compute(getattr(self, method), part, params)
        if isinstance(part, Part) and type(result) is np.ndarray:
            return part.like(result)
        return result

    def compute(self, method: Callable[[Any, Parameters], Any], part: Any, params: Parameters) -> Any:
        """The result of a method. Raises DataError where it has no number because values of the part are not finite."""
        try:
            with np.errstate(invalid="raise"):
                return method(part, params)
        except FloatingPointError:
            check_finite(self, part)
            return method(part, params)  # of finite values the result is what it is

    @classmethod
    def method_of(cls, part: Any) -> str | None:
        """Name of the method for a part; None if the transform does not change it."""
        kind = type(part)
        try:
            return cls._methods[kind]
        except KeyError:
            found = next((cls._methods[base] for base in kind.__mro__ if base in cls._methods), None)
            cls._methods[kind] = found  # type: ignore[assignment]
            return found

    @classmethod
    def kinds(cls) -> tuple[type, ...]:
        """The kinds of parts that the transform changes."""
        return tuple(kind for kind in METHODS if cls._methods.get(kind))

    def __repr__(self) -> str:
        if not dataclasses.is_dataclass(self):  # a class without the decorator `transform`
            return f"{type(self).__name__}(…)"
        shown = [
            f"{f.name}={getattr(self, f.name)!r}"
            for f in dataclasses.fields(self)  # type: ignore[arg-type]
            if f.default is dataclasses.MISSING or getattr(self, f.name) != f.default
        ]
        return f"{type(self).__name__}({', '.join(shown)})"

    # -- for boxes, key points and clips

    def _boxes(self, boxes: BoundingBoxes, params: Parameters) -> BoundingBoxes:
        canvas = self._canvas(boxes, params)
        corners = convert_boxes(boxes.array, boxes.format, "xyxy")
        moved = clip_boxes(self.apply_to_boxes(corners, params), canvas)  # type: ignore[attr-defined]
        return boxes.like(
            convert_boxes(moved, "xyxy", boxes.format).astype(boxes.dtype, copy=False), canvas_size=canvas
        )

    def _keypoints(self, points: KeyPoints, params: Parameters) -> KeyPoints:
        canvas = self._canvas(points, params)
        moved = np.array(points.array)
        moved[..., :2] = self.apply_to_keypoints(moved[..., :2].reshape(-1, 2), params).reshape(*moved.shape[:-1], 2)  # type: ignore[attr-defined]
        if points.swaps and self.mirrors(params):
            for left, right in points.swaps:
                moved[..., [left, right], :] = moved[..., [right, left], :]
        return points.like(moved, canvas_size=canvas)

    def mirrors(self, params: Parameters) -> bool:
        """Whether the transform mirrors pictures, so that the left eye becomes the right one."""
        return False

    def _canvas(self, part: Part, params: Parameters) -> Canvas:
        canvas = params.get("canvas") or part.canvas
        if canvas is None:
            raise DataError(
                f"{type(self).__name__} wants the size of the picture that {type(part).__name__} belong to: write "
                f"{type(part).__name__}(…, canvas_size=(height, width))"
            )
        return self.canvas_after(canvas, params)

    def _frames(self, video: Video, params: Parameters) -> Any:
        return np.stack([self.apply_to_image(frame.view(Image), params) for frame in video.array])  # type: ignore[attr-defined]

    # -- inside

    def _apply_to_plain(self, sample: Any, leaves: Sequence[Any], rng: np.random.Generator) -> Any:
        """Take the first plain array (or text) of a sample without typed parts as the first kind of the transform."""
        kinds = tuple(kind for kind in self.kinds() if kind is not EncodedImage)
        if not kinds or any(isinstance(leaf, Part | Text | Tokens) for leaf in leaves):
            return sample
        at = next((i for i, leaf in enumerate(leaves) if _is_plain(leaf, kinds[0])), None)
        if at is None:
            return sample
        count = -1

        def replace(leaf: Any) -> Any:
            nonlocal count
            count += 1
            return kinds[0](leaf) if count == at else leaf

        was = leaves[at]
        result = Transform.apply(self, map_parts(replace, sample), rng)

        def restore(leaf: Any) -> Any:
            if type(leaf) is not kinds[0]:
                return leaf
            if not isinstance(leaf, Part):
                return str(leaf) if type(leaf) is Text else leaf
            array = leaf.array
            flat = isinstance(was, np.ndarray) and array.ndim == was.ndim + 1
            if flat and kinds[0] is Image and array.shape[-1] == 1:
                return array[..., 0]
            return array[0] if flat and kinds[0] is Audio and len(array) == 1 else array

        return map_parts(restore, result)


_WRAPPED = {"apply_to_boxes": "_boxes", "apply_to_keypoints": "_keypoints"}


def check_finite(owner: Transform, part: Any) -> None:
    """Raise DataError for a part with values that are NaN or infinite."""
    values = np.asarray(part)
    wrong = values.size - np.count_nonzero(np.isfinite(values))
    if wrong:
        raise DataError(
            f"{type(owner).__name__} wants finite values, received {type(part).__name__} {values.shape} of which {wrong:,} are "
            "NaN or infinite"
        )


def _is_plain(leaf: Any, kind: type) -> bool:
    if kind is Text:
        return type(leaf) is str
    if not issubclass(kind, Part) or kind is TokenIds:
        return kind is TokenIds and type(leaf) is np.ndarray and leaf.dtype.kind in "iu"
    if kind is Image and not isinstance(leaf, np.ndarray):
        return type(leaf).__module__.startswith("PIL.") and hasattr(leaf, "getbands")
    least = 1 if kind is Audio else 2
    return type(leaf) is np.ndarray and leaf.ndim >= least and leaf.dtype.kind in "uif"


def _rank(part: Any) -> int:
    return next((i for i, kind in enumerate(METHODS) if isinstance(part, kind)), len(METHODS))


def _write(transform: Transform, result: Any, out: np.ndarray) -> Any:
    if not isinstance(result, np.ndarray):
        raise ConfigError(f"out= receives a single array, {type(transform).__name__} returned {type(result).__name__}")
    if result.shape != out.shape or result.dtype != out.dtype:
        raise ConfigError(
            f"out= of {type(transform).__name__} wants {result.shape} {result.dtype}, received {out.shape} {out.dtype}"
        )
    np.copyto(out, result)
    return result.like(out) if isinstance(result, Part) else out


# -- samples of any structure


def iterate_parts(sample: Any) -> Iterator[Any]:
    """The parts of a sample: a part alone, or those of tuples, lists and dictionaries."""
    kind = type(sample)
    if kind is dict:
        for value in sample.values():
            if type(value) in (dict, list, tuple):
                yield from iterate_parts(value)
            else:
                yield value
    elif kind is tuple or kind is list:
        for value in sample:
            yield from iterate_parts(value)
    elif isinstance(sample, Mapping):
        yield from iterate_parts(dict(sample))
    else:
        yield sample


def map_parts(function: Callable[[Any], Any], sample: Any) -> Any:
    """A sample of the same structure with a function of each part, in the order of `iterate_parts`."""
    kind = type(sample)
    if kind is dict:
        return {name: map_parts(function, value) for name, value in sample.items()}
    if kind is tuple:
        return tuple([map_parts(function, value) for value in sample])
    if kind is list:
        return [map_parts(function, value) for value in sample]
    if isinstance(sample, Mapping):
        return map_parts(function, dict(sample))
    return function(sample)


# -- registry


@overload
def transform(cls: Kind, /) -> Kind: ...


@overload
def transform(example: dict[str, Any] | None = None, *, category: str | None = None) -> Callable[[Kind], Kind]: ...


@dataclass_transform()
def transform(example: Any = None, *, category: str | None = None) -> Any:
    """Register a transform: its annotated fields are its settings, in forms, files and docs.

    ``example`` are settings for docs and tests where fields have no default. Its category is the name of its file, unless
    ``category`` is given. ``@transform`` without parentheses is the same as ``@transform()``. Raises ConfigError for a
    setting with the name of an argument of `Transform.__call__`, and for a name that another class has.
    """

    def register(cls: Kind) -> Kind:
        cls = show_plain_types(dataclasses.dataclass(repr=False)(cls))
        create = cls.__init__

        @functools.wraps(create)
        def __init__(self, *args, **kwargs):  # noqa: N807
            names = [f.name for f in dataclasses.fields(cls)]  # type: ignore[arg-type]
            for name in kwargs:
                if name not in names:
                    raise ArgumentError(
                        f"{cls.__name__} has the settings {', '.join(names) or 'none'}, received {name!r}"
                        f"{suggest_name(name, names)}"
                    )
            try:
                create(self, *map(_to_tuple, args), **{name: _to_tuple(v) for name, v in kwargs.items()})
            except TypeError as error:
                raise ArgumentError(f"{cls.__name__}: {str(error).partition('() ')[2] or error}") from None

        cls.__init__ = __init__  # type: ignore[method-assign]
        cls.__doc__ = inspect.cleandoc(cls.__doc__ or "")
        own = cls.__module__.startswith("labdl.data.transforms.")
        cls.category = category or (".".join(cls.__module__.split(".")[3:]) if own else "custom")
        cls.example = {} if example is None or isinstance(example, type) else example
        cls._methods = {kind: _WRAPPED.get(name, name) for kind, name in METHODS.items() if hasattr(cls, name)}
        if hasattr(cls, "apply_to_image") and not hasattr(cls, "apply_to_video"):
            cls._methods[Video] = "_frames"
        other = TRANSFORMS.get(cls.__name__)
        if other is not None and other.__module__ != cls.__module__:
            raise ConfigError(f"{other.__module__} has a transform {cls.__name__} already: give it another name")
        TRANSFORMS[cls.__name__] = cls
        return cls

    return register(example) if isinstance(example, type) else register


def _to_tuple(value: Any) -> Any:
    return tuple(map(_to_tuple, value)) if isinstance(value, list) else value


def _plain_numbers(values: dict[str, Any]) -> dict[str, Any]:
    """NumPy numbers as those of Python, which the settings take."""
    return {name: value.item() if isinstance(value, np.generic) else value for name, value in values.items()}
