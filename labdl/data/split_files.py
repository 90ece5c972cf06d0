"""Open parts of a data set that are files beside each other, such as train.csv and test.csv."""

from __future__ import annotations

from pathlib import Path

from labdl.data.dataset import Dataset
from labdl.data.opening import open_dataset, open_files
from labdl.data.tables.column import Kind
from labdl.data.tables.table import Table


def open_split_files(places: dict[str, list[Path]], *, largest: int | None = None) -> dict[str, Dataset]:
    """The data set of each part. Columns of tables are read as those of the training part."""
    opened: dict[str, Dataset] = {}
    for split, paths in places.items():
        training = opened.get("training")
        dataset = open_dataset(paths[0], largest=largest) if len(paths) == 1 else open_files(paths)
        if isinstance(dataset, Table) and isinstance(training, Table):
            dataset = _open_alike(paths[0], dataset, training)
        dataset.name = (
            f"{paths[0].parent.name}/{paths[0].name}" if len(paths) == 1 else f"{paths[0].parent.name}/{split}"
        )
        opened[split] = dataset
    return opened


def _open_alike(file: Path, table: Table, training: Table) -> Table:
    """A table again, with the kinds of columns and the classes of the training part."""
    kinds: dict[str, Kind] = {name: kind for name, kind in training.kinds.items() if name in table.kinds}
    if training.label is None or training.label not in (table.label, *table.kinds):
        return Table(file, kinds=kinds, label=False)
    if training.classes is None:
        return Table(file, kinds={**kinds, training.label: "number"}, label=training.label)
    return Table(file, kinds=kinds, label=training.label, classes=training.classes)
