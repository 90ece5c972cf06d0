"""Pipeline: a list of transforms that trains, previews, is saved, and prepares samples for inference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from labdl.bounded.atomic_write import replace_files
from labdl.bounded.files import read_file
from labdl.bounded.plain_json import loads
from labdl.errors import ConfigError, DataError, FileFormatError

if TYPE_CHECKING:
    from labdl.data.dataset import Dataset
    from labdl.data.transforms.transform import Transform

Phase = Literal["always", "training", "evaluation"]
PHASES: tuple[Phase, ...] = ("always", "training", "evaluation")
VERSION = 2
_READ = (1, 2)  # version 1 has no phases, data set and split
_LARGEST = 64 << 20  # bytes of a file


@dataclass(frozen=True)
class Split:
    """How `Pipeline.datasets` splits a data set without a validation part: training share, seed, whether by classes."""

    fraction: float = 0.8
    seed: int = 0
    stratify: bool = True

    def __post_init__(self) -> None:
        if type(self.fraction) not in (int, float) or not 0 < self.fraction < 1:
            raise ConfigError(f"Split wants a fraction between 0 and 1, received {self.fraction!r:.40}")
        if type(self.seed) is not int or not 0 <= self.seed < 2**63:
            raise ConfigError(f"Split wants a seed of 0 or more, received {self.seed!r:.40}")
        if type(self.stratify) is not bool:
            raise ConfigError(f"Split wants stratify True or False, received {self.stratify!r:.40}")


class Pipeline:
    """Transforms one after the other: a file, an argument of `Dataset.map`, and a function of a sample.

    ``phases`` says for each transform whether it is applied "always", in "training", or in "evaluation": `Dataset.map` and
    a call apply those of the training, and `evaluation` is the pipeline for validation, test and inference.

    ``dataset`` is the folder or file of a data set, which is relative to the folder of the pipeline's file and below it, and
    ``split`` how it is split unless its folder has parts: `datasets` returns those for training and validation with their
    transforms, `evaluation_dataset` that for the test.

    Example: ``data.Pipeline([T.HorizontalFlip(), T.ToFloat()], phases=["training", "always"]).save("prepare.json")``.
    """

    def __init__(
        self,
        transforms: Any,
        *,
        phases: Sequence[Phase] | None = None,
        dataset: str | None = None,
        split: Split | None = None,
    ):
        from labdl.data.transforms.general.compose import Compose, Lambda
        from labdl.data.transforms.transform import Transform

        if isinstance(transforms, Compose) and phases is None:
            transforms = transforms.transforms
        listed = list(transforms) if isinstance(transforms, Sequence | Pipeline) else [transforms]
        usual = transforms.phases if isinstance(transforms, Pipeline) else PHASES[:1] * len(listed)
        chosen = _check_phases(usual if phases is None else phases, len(listed))
        self.dataset = None if dataset is None else _check_path(dataset)
        self.split = split or Split()
        self.folder = Path()  # that `dataset` is relative to
        self.transforms: list[Transform] = []
        self.phases: list[Phase] = list(chosen)
        for one in listed:
            if isinstance(one, Transform):
                self.transforms.append(one)
            elif isinstance(one, type) and issubclass(one, Transform):
                raise ConfigError(
                    f"a pipeline wants transforms, received the class {one.__name__}: write T.{one.__name__}()"
                )
            elif callable(one):
                self.transforms.append(Lambda(one))
            else:
                raise ConfigError(f"a pipeline wants transforms and functions of a sample, received {one!r:.80}")

    def stages(self) -> list[Transform]:
        """The transforms that training applies, in their order; those of a `Compose` are single ones here."""
        from labdl.data.transforms.inner import expand_compositions

        chosen = [one for one, phase in zip(self.transforms, self.phases, strict=True) if phase != "evaluation"]
        return list(expand_compositions(chosen))

    def evaluation(self) -> Pipeline:
        """The pipeline for validation, test and inference: without the transforms of the training.

        Example: ``test.map(pipeline.evaluation())``.
        """
        return Pipeline([one for one, phase in zip(self.transforms, self.phases, strict=True) if phase != "training"])

    def open_dataset(self, *, largest: int | None = None) -> Dataset:
        """The whole data set of ``dataset`` without transforms (see `labdl.data.open_dataset`). Raises ConfigError."""
        from labdl.data.opening import open_dataset

        return open_dataset(self._path(), largest=largest)

    def open_data(self, *, largest: int | None = None) -> Dataset | dict[str, Dataset]:
        """The parts of ``dataset`` without transforms, if its folder has them (see `labdl.data.open_splits`), else the whole.

        Raises ConfigError.
        """
        from labdl.data.splits import open_data

        return open_data(self._path(), largest=largest)

    def _path(self) -> Path:
        if self.dataset is None:
            raise ConfigError("this pipeline has no data set: give it one by dataset=, or use Dataset.map(pipeline)")
        path = self.folder / self.dataset
        if not path.resolve().is_relative_to(self.folder.resolve()):
            raise ConfigError(
                f"{self.dataset} is a link out of the folder of the pipeline: put the files themselves there"
            )
        if self.dataset.endswith(".pipeline.json"):
            raise ConfigError(f"{self.dataset} is a pipeline, not a data set")
        return path

    def datasets(self) -> tuple[Dataset, Dataset]:
        """The training and the validation part of ``dataset``, with the transforms of each.

        A folder with parts (see `labdl.data.open_splits`) has them as they are; one without a validation part has its
        training part split by ``split``, and a data set without parts is split as a whole. Transforms that learn from data,
        and are not fitted yet, are fitted to the training part.
        Example: ``train, validation = data.Pipeline.load("flowers.pipeline.json").datasets()``.
        Raises ConfigError for a folder without a training part, and for a validation part without labels.
        """
        opened = self.open_data()
        self.fit(self.split_samples(opened)[0])
        return self.split_dataset(opened)

    def evaluation_dataset(self) -> Dataset:
        """The samples on which a trained model is evaluated, with the transforms of `evaluation`.

        They are the test part of ``dataset``; where its folder has none, or one without labels, the validation part of
        `datasets`. Example: ``trainer.evaluate(pipeline.evaluation_dataset())``.
        """
        opened = self.open_data()
        train, chosen = self.split_samples(opened)
        if isinstance(opened, Mapping) and "test" in opened and opened["test"].targets == train.targets:
            chosen = opened["test"]
        return chosen.map(self.fit(train).evaluation())

    def split_dataset(self, opened: Dataset | Mapping[str, Dataset]) -> tuple[Dataset, Dataset]:
        """The parts of `split_samples` with the transforms of each, which are fitted."""
        train, validation = self.split_samples(opened)
        return train.map(self), validation.map(self.evaluation())

    def split_samples(self, opened: Dataset | Mapping[str, Dataset]) -> tuple[Dataset, Dataset]:
        """The training and the validation part without transforms; `fit` wants the first.

        ``opened`` is a data set, which is split by ``split``, or the parts of `open_data`. Raises ConfigError.
        """
        if isinstance(opened, Mapping):
            if "training" not in opened:
                names = ", ".join(part.name for part in opened.values())
                raise ConfigError(f"the data set has no training part, only {names}: name a folder train")
            training, validation = opened["training"], opened.get("validation")
            if validation is not None and set(training.targets) - set(validation.targets):
                raise ConfigError(
                    f"{validation.name} has no labels, and {training.name} has: sort its files as those of the training part"
                )
            if validation is not None:
                return training, validation
            opened = training
        by_class = self.split.stratify and opened.classes is not None and has_class_labels(opened)
        return opened.split(self.split.fraction, seed=self.split.seed, stratify=by_class)

    def fit(self, dataset: Any, *, refit: bool = False) -> Pipeline:
        """Fit each transform that learns from data to the output of those before it; returns the pipeline.

        ``dataset`` is the training part alone: a data set, or a list of samples. Transforms that are fitted already, such as
        ``T.Tokenize(tokenizer)``, stay as they are unless ``refit``. Example: ``prepare = data.Pipeline([T.Impute(),
        T.Standardize()]).fit(train)``. As sklearn.pipeline.Pipeline.fit.
        """
        from labdl.data.dataset import Dataset
        from labdl.data.sample_dataset import SampleDataset
        from labdl.data.transforms.inner import fit_transform

        samples: Any = dataset if isinstance(dataset, Dataset) else SampleDataset(dataset)
        for one, phase in zip(self.transforms, self.phases, strict=True):
            fit_transform(one, samples, refit=refit)
            if phase != "evaluation":
                samples = samples.map(one)
        return self

    def __call__(self, sample: Any, *, rng: np.random.Generator | int | None = None) -> Any:
        """The sample transformed as in training; ``rng`` is a generator or a seed."""
        generator = rng if isinstance(rng, np.random.Generator) else np.random.default_rng(rng)
        for one in self.stages():
            sample = one(sample, rng=generator)
        return sample

    def __len__(self) -> int:
        return len(self.transforms)

    def __iter__(self) -> Iterator[Transform]:
        return iter(self.transforms)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Pipeline)
            and (self.transforms, self.phases) == (other.transforms, other.phases)
            and (self.dataset, self.split) == (other.dataset, other.split)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        phases = "" if set(self.phases) <= {"always"} else f", phases={self.phases!r}"
        return f"Pipeline({self.transforms!r}{phases})"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON: the version of the format, each transform with its settings, phases, data set and split."""
        from labdl.data.transforms.serialization import to_dicts

        values = {"version": VERSION, "transforms": to_dicts(self.transforms), "phases": self.phases}
        return values if self.dataset is None else values | {"dataset": self.dataset, "split": asdict(self.split)}

    @classmethod
    def from_dict(cls, values: Any) -> Pipeline:
        """The pipeline of `to_dict`. Raises ConfigError for unknown transforms and settings."""
        from labdl.data.transforms.serialization import check_size, from_dict

        if not isinstance(values, dict) or not isinstance(values.get("transforms"), list):
            raise ConfigError('a pipeline is a dictionary with a list of "transforms"')
        if values.get("version") not in _READ or isinstance(values["version"], bool):
            raise ConfigError(
                f"the pipeline has the version {values.get('version')!r:.40}, this labdl reads {_READ[-1]}: update it"
            )
        check_size(values["transforms"])
        split = values.get("split")
        if split is not None and (not isinstance(split, dict) or not set(split) <= set(Split.__dataclass_fields__)):
            raise ConfigError(
                f"the split of a pipeline has {', '.join(Split.__dataclass_fields__)}, received {split!r:.80}"
            )
        return cls(
            [from_dict(one) for one in values["transforms"]],
            phases=values.get("phases"),
            dataset=values.get("dataset"),
            split=None if split is None else Split(**split),
        )

    def save(self, path: str | Path) -> None:
        """Write a JSON file, atomically. Raises ConfigError for a function, which no file can hold."""
        import json

        text = json.dumps(self.to_dict(), indent=2, ensure_ascii=False)
        with replace_files(path) as (file,):
            file.write(f"{text}\n".encode())

    @classmethod
    def load(cls, path: str | Path) -> Pipeline:
        """Read a JSON file of `save`; nothing of it is run. Raises MissingFileError, FileFormatError and ConfigError."""
        name = Path(path).name
        try:
            pipeline = cls.from_dict(loads(read_file(path, _LARGEST, "pipeline")))
        except ConfigError as error:
            raise FileFormatError(f"{name}: {error}") from None
        except ValueError as error:
            raise FileFormatError(f"{name} is no JSON: {error}") from None
        pipeline.folder = Path(path).parent
        return pipeline


def has_class_labels(dataset: Dataset) -> bool:
    """Whether each sample has one class number, so that parts of equal shares of the classes can be made."""
    try:
        label = np.asarray(dataset.label_of(0)) if len(dataset) else None
    except DataError:
        return False
    return label is not None and label.shape == () and label.dtype.kind in "iu"


def _check_phases(phases: Any, count: int) -> Sequence[Phase]:
    if not isinstance(phases, Sequence) or isinstance(phases, str) or len(phases) != count:
        raise ConfigError(f"a pipeline of {count} transforms wants as many phases, received {phases!r:.80}")
    wrong = [phase for phase in phases if phase not in PHASES]
    if wrong:
        raise ConfigError(f"the phase of a transform is one of {', '.join(PHASES)}, received {wrong[0]!r:.40}")
    return phases


def _check_path(path: Any) -> str:
    if not isinstance(path, str) or not path or "\\" in path or "\0" in path or len(path) > 1000:
        raise ConfigError(f"dataset wants a path with / below the folder of the pipeline, received {path!r:.80}")
    parts = PurePosixPath(path)
    if parts.is_absolute() or ".." in parts.parts or ":" in parts.parts[0]:
        raise ConfigError(f"dataset wants a path below the folder of the pipeline, received {path!r:.80}")
    return path
