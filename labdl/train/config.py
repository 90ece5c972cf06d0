"""The settings of a trainer: by keyword, as a dictionary, or from a YAML or JSON file."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from numbers import Integral
from pathlib import Path
from typing import Any, ClassVar, Literal

from labdl import habits
from labdl.bounded.files import read_file
from labdl.bounded.plain_json import loads
from labdl.data import SOURCES
from labdl.data.file_datasets import array_dataset
from labdl.errors import ConfigError, FileFormatError, MissingFileError, suggest_name
from labdl.framework_info import NAMES
from labdl.nn.foreign import ForeignLayer
from labdl.nn.types import Count, Positive
from labdl.settings import INNER, LARGEST, Share, check, create
from labdl.signature import show_plain_types
from labdl.train.aliases import PRECISION_HINTS, PRECISIONS, TRAINER, advise, full_names
from labdl.train.checkpoint import Checkpoint
from labdl.train.data_adapter import as_dataset
from labdl.train.early_stopping import EarlyStopping
from labdl.train.ema import EMA
from labdl.train.limits import Batches
from labdl.train.monitor.layer_stats import SHARE
from labdl.train.output_losses import check_loss_weights
from labdl.train.swa import SWA
from labdl.train.time_limit import duration


@show_plain_types
@dataclasses.dataclass
class TrainerSettings:
    """Settings of a trainer besides model, loss and optimizer; `Trainer` describes them.

    Objects may be given as dictionaries of their settings, as files have them.
    """

    title: ClassVar[str] = "Trainer"

    accumulate: Count = 1
    clip_norm: Positive | None = None
    clip_value: Positive | None = None
    gradient_norm: bool = False
    keep_gradients: bool = False
    precision: Literal["float32", "bfloat16", "float16"] = "float32"
    freeze: str | tuple[str, ...] = ()
    gradient_checkpointing: str | tuple[str, ...] = ()
    loss_weights: Any = dataclasses.field(default=None, metadata=INNER)
    average: EMA | SWA | None = dataclasses.field(default=None, metadata=INNER)
    health: Share = SHARE
    stopping: EarlyStopping | None = dataclasses.field(default=None, metadata=INNER)
    epochs: Count = 1
    batch_size: Count = 32
    shuffle: bool = True
    train_dataset: Any = dataclasses.field(default=None, metadata=INNER)
    val_dataset: Any = dataclasses.field(default=None, metadata=INNER)
    max_steps: Count | None = None
    max_time: Any = dataclasses.field(default=None, metadata=INNER)
    check_val_every_n_epoch: Count = 1
    val_check_interval: Batches | None = None
    limit_train_batches: Batches | None = None
    limit_val_batches: Batches | None = None
    drop_last: bool = False
    fast_dev_run: bool | Count = False
    output_dir: Path | None = dataclasses.field(default=None, metadata=INNER)
    checkpoint: Checkpoint | None = dataclasses.field(default=None, metadata=INNER)

    def __post_init__(self):
        for name in ("freeze", "gradient_checkpointing"):
            setattr(self, name, tuple(given) if isinstance(given := getattr(self, name), list) else given)
        self.health = 0.0 if self.health is False else self.health
        self.precision = _precision(self.precision)  # type: ignore[assignment]
        check(self)
        _check_range(self)
        if self.clip_norm is not None and self.clip_value is not None:
            raise ConfigError("Trainer: clip_norm and clip_value exclude each other: give one of them")
        for name in ("freeze", "gradient_checkpointing"):
            setattr(self, name, (given,) if isinstance(given := getattr(self, name), str) else given)
        self.loss_weights = check_loss_weights(self.loss_weights)
        self.average = _average(self.average)
        self.max_time = None if self.max_time is None else duration(self.max_time)
        self.stopping = _coerce(EarlyStopping, "stopping", self.stopping, "monitor")
        self.checkpoint = _coerce(Checkpoint, "checkpoint", self.checkpoint, "folder")
        if self.output_dir is not None and not isinstance(self.output_dir, str | Path):
            raise ConfigError(f"Trainer: output_dir wants a folder, received {self.output_dir!r}")
        self.output_dir = None if self.output_dir is None else Path(self.output_dir)
        self.train_dataset, self.val_dataset = (
            dataset(getattr(self, key), key) for key in ("train_dataset", "val_dataset")
        )

    @property
    def clips(self) -> bool:
        """True if gradients are clipped."""
        return self.clip_norm is not None or self.clip_value is not None

    @property
    def low_precision(self) -> str | None:
        """The dtype of mixed precision; None for float32."""
        return None if self.precision == "float32" else self.precision

    def non_default(self) -> dict[str, Any]:
        """The settings that differ from their defaults, for recordings and reports."""
        settings = {}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value != field.default and field.name not in _RUN_SETTINGS:
                settings[field.name] = dataclasses.asdict(value) if dataclasses.is_dataclass(value) else value  # type: ignore[call-overload]
        return settings


def _precision(value: Any) -> Any:
    """The name of a precision, also for the names that it has in Lightning and Keras."""
    hint = advise(value, PRECISION_HINTS)
    if hint:
        raise ConfigError(f'Trainer: precision wants "float32", "bfloat16", "float16", received {value!r}{hint}')
    return PRECISIONS.get(value, value) if isinstance(value, str | int) and not isinstance(value, bool) else value


def _check_range(settings: TrainerSettings) -> None:
    """Raise ConfigError for numbers that the frameworks cannot hold: integers beyond 64 bits, limits beyond float32."""
    for field in dataclasses.fields(settings):
        value = getattr(settings, field.name)
        if isinstance(value, int) and value >= 1 << 63 and "form" not in field.metadata:
            raise ConfigError(
                f"Trainer: {field.name} wants an integer below 2**63, received one of {value.bit_length():,} bits"
            )
    if settings.clip_value is not None and settings.clip_value > LARGEST:
        raise ConfigError(
            f"Trainer: clip_value wants a number of at most {LARGEST:.7g}, received {settings.clip_value}"
        )


_RUN_SETTINGS = (
    "health",
    "train_dataset",
    "val_dataset",
    "output_dir",
    "checkpoint",
    "epochs",
    "batch_size",
    "shuffle",
)


def _average(value: Any) -> EMA | SWA | None:
    if isinstance(value, SWA):
        return value
    if isinstance(value, Mapping) and value.get("name", "ema") in ("ema", "swa"):
        cls, single = (SWA, "start") if value.get("name") == "swa" else (EMA, "decay")
        return _coerce(cls, "average", {key: v for key, v in value.items() if key != "name"}, single)
    return _coerce(EMA, "average", value, "decay")


def _coerce(cls: type, key: str, value: Any, single: str) -> Any:
    """Convert a dictionary, or the value of the setting ``single`` alone, to settings of a class."""
    if value is None or isinstance(value, cls):
        return value
    if isinstance(value, Mapping):
        try:
            return create(cls, dict(value))
        except (ConfigError, TypeError) as error:
            raise ConfigError(f"Trainer: {key}: {error}") from None
    if isinstance(value, float | str | Path):
        try:
            return cls(value)
        except ConfigError as error:
            raise ConfigError(f"Trainer: {key}: {error}") from None
    raise ConfigError(
        f"Trainer: {key} wants labdl.train.{cls.__name__}({single}=...) or a dictionary of its settings, "
        f"received {value!r}"
    )


def resolve(value: Any, find: Callable[..., Any], key: str) -> Any:
    """Look up a value with ``find``; of ``{"name": "adam", "learning_rate": 1e-3}`` the name, with the settings."""
    refuse_class(value, key)
    if not isinstance(value, Mapping):
        return find(value)
    settings = dict(value)
    name = settings.pop("name", None)
    if not isinstance(name, str):
        raise ConfigError(f"{key} wants a name in its dictionary, such as {{'name': ...}}, received {dict(value)!r}")
    return find(name, **settings)


def refuse_class(value: Any, key: str) -> None:
    """Raise ConfigError for a class in place of an object of it, such as ``nn.HuberLoss`` without parentheses."""
    if isinstance(value, type | ForeignLayer):
        name = value.__name__
        title = f"nn.{name}" if value.__module__.startswith("labdl.nn") else name
        raise ConfigError(f"{key} wants an object, received the class {title}: write {title}()")


def dataset(value: Any, key: str) -> Any:
    """A data set by name ("digits"), from an .npz file of arrays, or from a value that `as_dataset` accepts."""
    if isinstance(value, bytes):
        raise ConfigError(f"{key} wants a data set, received {value!r:.60}")
    if value is None or not isinstance(value, str | Path):
        return None if value is None else as_dataset(value, key)
    if str(value) in SOURCES:
        return SOURCES[str(value)].load()[key == "val_dataset"]
    file = Path(value)
    if file.suffix != ".npz":
        raise ConfigError(
            f"{key} wants a data set, an .npz file or one of {', '.join(SOURCES)}, received {str(value)!r}"
        )
    try:
        return array_dataset(file)
    except (MissingFileError, FileFormatError, ConfigError) as error:
        raise type(error)(f"{key}: {error}") from None


_ARGUMENTS = (
    "loss",
    "optimizer",
    "metrics",
    "backend",
    "compiled",
    "seed",
    "schedule",
    "learning_rate",
)  # named arguments of `Trainer`


def merge(settings: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two dictionaries of settings; ``changes`` take precedence. Raises ConfigError for unknown keys."""
    merged = {**full_names(settings, TRAINER), **full_names(changes, TRAINER)}
    check_names(merged)
    return merged


def create_settings(settings: Mapping[str, Any]) -> TrainerSettings:
    """Create the settings of a trainer from its keywords. Raises ConfigError."""
    check_names(settings)
    return TrainerSettings(**settings)


def check_execution(backend: Any, compiled: Any, seed: Any, owner: str = "Trainer") -> None:
    """Raise ConfigError for an invalid backend, compilation mode or seed."""
    if backend is not None and (not isinstance(backend, str) or backend not in NAMES):
        raise ConfigError(
            f"{owner}: backend wants one of {', '.join(NAMES)}, received {backend!r}{habits.backend_hint(backend)}"
        )
    if not (compiled is None or isinstance(compiled, bool) or (isinstance(compiled, str) and compiled == "xla")):
        raise ConfigError(f"{owner}: compiled wants true, false, 'xla' or nothing, received {compiled!r}")
    if seed is not None and (not isinstance(seed, Integral) or isinstance(seed, bool) or seed < 0):
        raise ConfigError(f"{owner}: seed wants an integer at least 0 or nothing, received {seed!r}")


def names() -> list[str]:
    """Names of the settings of a trainer."""
    return [*_ARGUMENTS, *(f.name for f in dataclasses.fields(TrainerSettings))]


def check_names(settings: Mapping[str, Any]) -> None:
    """Raise ConfigError for names that are no settings of a trainer."""
    allowed = names()
    for name in settings:
        if name not in allowed:
            advice = habits.hint("setting of Trainer", name)
            if advice:
                raise ConfigError(f"Trainer has no setting {name!r}{advice}")
            raise ConfigError(
                f"Trainer has the settings {', '.join(allowed)}, received {name!r}{suggest_name(name, allowed)}"
            )


# -- files

_LARGEST = 1 << 18  # bytes of a file of settings
_NODES = 100_000  # values in a file of YAML
_DIGITS = 100  # of an integer


def read(config: Mapping[str, Any] | str | Path) -> dict[str, Any]:
    """Read settings from a dictionary or a file. Raises ConfigError, MissingFileError and FileFormatError."""
    if isinstance(config, Mapping):
        return dict(config)
    if not isinstance(config, str | Path):
        raise ConfigError(f"config wants a dictionary, or a .json or .yaml file, received {type(config).__name__}")
    file = Path(config)
    if file.suffix not in (".json", ".yaml", ".yml"):
        raise ConfigError(f"config wants a .json, .yaml or .yml file, received {file.name!r}")
    text = read_file(file, _LARGEST, "file of settings")
    try:
        settings = loads(text) if file.suffix == ".json" else parse_yaml(text.decode())
    except ValueError as error:
        raise FileFormatError(f"{file} cannot be read: {error}") from None
    if not isinstance(settings, dict):
        raise FileFormatError(f"{file} wants settings by name, received {type(settings).__name__}")
    return settings


def parse_yaml(text: str) -> Any:
    """Read a document of YAML, in which 1e-3 is a number. Raises ValueError."""
    import yaml

    class Loader(yaml.SafeLoader):
        """Loader that reads 1e-3 as a number, as YAML 1.2 does; in YAML 1.1 it is a string."""

    Loader.yaml_implicit_resolvers = {
        key: list(rules) for key, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    Loader.add_implicit_resolver(
        "tag:yaml.org,2002:float", re.compile(r"^[-+]?\d+(\.\d*)?[eE][-+]?\d+$"), list("-+0123456789")
    )
    Loader.add_constructor("tag:yaml.org,2002:int", _integer)
    loader: Any = None
    try:
        loader = Loader(text)
        tree = loader.get_single_node()
        if tree is None:
            return None
        if _count_nodes(tree) > _NODES:
            raise ValueError(f"it has more than {_NODES:,} values, counted as often as they are used")
        return loader.construct_document(tree)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    finally:
        if loader is not None:
            loader.dispose()


def _integer(loader: Any, node: Any) -> int:
    if len(node.value) > _DIGITS:
        raise ValueError(f"it has an integer of {len(node.value):,} digits")
    return loader.construct_yaml_int(node)


def _count_nodes(tree: Any) -> int:
    """Number of the values below a node of YAML, of which a few lines with aliases can make billions."""
    counts: dict[int, int] = {}

    def count(node: Any) -> int:
        if id(node) not in counts:
            counts[id(node)] = _NODES  # until it is known, so that one which contains itself has too many
            parts = [part for item in node.value for part in (item if isinstance(item, tuple) else (item,))]
            counts[id(node)] = 1 + (0 if isinstance(node.value, str) else sum(map(count, parts)))
        return counts[id(node)]

    return count(tree)
