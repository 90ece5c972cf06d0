"""Keras's whole models in HDF5 (``model.save("net.h5")``) and Keras 2's weights: a group for each layer, by name, in order.

The names are those that the layers had in one program. What a layer of LabDL has is found by the order of the layers and the
words of their weights.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from labdl.errors import FileFormatError, StateDictError
from labdl.interop.weights.tensorflow import KerasLayer, ambiguous

if TYPE_CHECKING:
    import h5py

_WEIGHTS, _LAYERS, _NAMES = "model_weights", "layer_names", "weight_names"
_STATISTICS = ("moving_mean", "moving_variance")  # Keras lists what is not trained last
_LEVELS = 6  # of layers in layers
_LISTS, _MOST = 1000, 16_000  # attributes that continue a list of names, and names, at most
_LARGE = "it has more layers or weights than any model"
_ADVICE = "load it in Keras and save it as .weights.h5 or .keras"


def weights_group(file: h5py.File) -> h5py.Group | None:
    """The group of the weights in a file of this format; None for a file of another."""
    root: Any = file["/"]
    group = root.get(_WEIGHTS, root)
    return group if any(name in group.attrs for name in (_LAYERS, f"{_LAYERS}0")) else None


def locate(group: h5py.Group, model: KerasLayer) -> dict[str, h5py.Dataset]:
    """The data set of each variable of the model. Raises StateDictError where the layers are not the model's."""
    if hidden := ambiguous(model):
        raise StateDictError(
            f"it is a whole model in Keras's older format, which has its layers in their order alone, and a graph does not "
            f"record that of {', '.join(hidden[:5])}: use the model that it was traced from"
        )
    given: list[list[tuple[str, h5py.Dataset]]] = []
    left = _MOST
    for layer in _texts(group, _LAYERS):
        inside: Any = group[layer]
        names = _texts(inside, _NAMES)
        left -= len(names)
        if left < 0:
            raise FileFormatError(_LARGE)
        given += [[(_word(name), _dataset(inside, name)) for name in names]] if names else []
    words = [[word for word, _ in weights] for weights in given]
    for level in range(1, _LEVELS):
        wanted = [names for names in _groups(model, level) if names]
        if words == [[_word(name) for name in names] for names in wanted]:
            return {
                name: item
                for names, weights in zip(wanted, given, strict=True)
                for name, (_, item) in zip(names, weights, strict=True)
            }
    here = [[_word(name) for name in names] for names in _groups(model, 1) if names]
    raise StateDictError(
        f"it is a whole model in Keras's older format, and its layers are not the model's: they have {_describe(words)}, the "
        f"model {_describe(here)}. If they are the same in another order, {_ADVICE}"
    )


def _dataset(group: h5py.Group, name: str) -> h5py.Dataset:
    import h5py

    item = group[name]
    if not isinstance(item, h5py.Dataset):
        raise FileFormatError(f"{name:.200} in it is a group, not an array")
    return item


def _texts(group: h5py.Group, name: str) -> list[str]:
    """A list of names, which continues in further attributes if it is long."""
    found: list[str] = []
    for key in (name, *(f"{name}{number}" for number in range(_LISTS))):
        if key in group.attrs:
            values: Any = group.attrs[key]
            found += [value.decode() if isinstance(value, bytes) else str(value) for value in values]
        elif key != name:
            break
        if len(found) > _MOST:
            raise FileFormatError(_LARGE)
    return found


def _groups(layer: KerasLayer, level: int) -> Iterator[list[str]]:
    """The weights of layers, the model's or those that many levels inside, in Keras's order."""
    if level == 0 or layer.values or not layer.parts:
        yield sorted(_names(layer), key=lambda name: _word(name) in _STATISTICS)
    else:
        for part in layer.parts.values():
            yield from _groups(part, level - 1)


def _names(layer: KerasLayer) -> Iterator[str]:
    yield from layer.values
    for part in layer.parts.values():
        yield from _names(part)


def _word(name: str) -> str:
    return name.rpartition("/")[2].partition(":")[0]


def _describe(layers: list[list[str]]) -> str:
    more = f" and {len(layers) - 6} more" if len(layers) > 6 else ""
    return ", ".join(f"({', '.join(words[:6])})"[:100] for words in layers[:6]) + more if layers else "none"
