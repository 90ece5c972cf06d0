"""Low-rank adapters (LoRA): the linear layers of a model that get one, and their merge into the weights."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, NoReturn, TypeVar

import numpy as np

from labdl import dispatch
from labdl.errors import ConfigError, ModelError
from labdl.nn import build
from labdl.nn.head import find_head
from labdl.nn.hooks import Hooks
from labdl.nn.linear import Linear
from labdl.nn.lora_linear import LoRALinear
from labdl.nn.module import Module
from labdl.nn.schema import is_layer, params_of
from labdl.spec import Spec

__all__ = ["add_lora", "lora_paths", "merge_lora"]
Model = TypeVar("Model", bound=Module)
Names = str | Sequence[str]

_SHOWN = 12  # paths of layers in a message


def add_lora(
    model: Model,
    r: int = 8,
    lora_alpha: float = 8.0,
    lora_dropout: float = 0.0,
    target_modules: Names = ("query", "value"),
    modules_to_save: Names = (),
    *,
    seed: int | None = None,
) -> Model:
    """Give linear layers of a model low-rank adapters (Hu et al., 2021) and freeze all else; returns the model.

    Each Linear that ``target_modules`` names becomes a `LoRALinear` of the same weights, so that the outputs are unchanged at
    first. A name is a path, the end of one, such as "query" of "encoder/blocks/0/attention/query", or a pattern of these such
    as "blocks/1*/attention/*"; "all-linear" are all Linear layers but the head. ``modules_to_save`` names modules of which
    all parameters are trained and saved, such as a new head. ``seed`` draws the values of the adapters::

        model = labdl.models.from_pretrained("google-bert/bert-base-uncased")
        labdl.nn.add_lora(model, r=8, lora_alpha=16, target_modules=["query", "value"])
        labdl.Trainer(model, "cross_entropy").fit(x, y)
        labdl.save_lora(model, "adapter.npz")  # the adapters alone, which labdl.load_lora puts onto the same base
        labdl.nn.merge_lora(model)

    The model must be built. Raises ConfigError for a name that no module has, or has no linear layer; ModelError for a layer
    that has an adapter already, or whose weights are normalized or tied. Names of arguments are those of peft.LoraConfig.
    """
    model._need_build()
    others = _find_all(model, modules_to_save, "modules_to_save")
    targets = _find_targets(model, target_modules, others)
    settings = {"r": r, "lora_alpha": lora_alpha, "lora_dropout": lora_dropout}
    return adapt(model, dict.fromkeys(targets, settings), others, seed=seed)


def adapt(
    model: Model, settings: Mapping[str, Mapping[str, Any]], others: Collection[str] = (), *, seed: int | None = None
) -> Model:
    """Put adapters with ``settings`` at the paths of Linear layers, and train them and the modules ``others`` alone.

    The model is unchanged where a layer cannot have one. Raises ConfigError and ModelError.
    """
    modules = model.get_modules()
    adapters = {path: _adapter(path, modules[path], settings[path]) for path in settings}
    _refuse_shared(model, adapters)
    model.freeze()
    for path, adapter in adapters.items():
        _replace(model, modules[path], adapter)
    for path in others:
        modules[path].trainable = True
    _build_again(model, seed)
    return model


def merge_lora(model: Model) -> Model:
    """Add the adapters to the weights: each `LoRALinear` becomes a Linear that gives the same outputs; returns the model.

    All that was frozen stays frozen, until `Module.unfreeze`. The model is then as fast and as small as without adapters, and
    is saved, exported and converted like any other. Raises ModelError for a model without adapters, or with one whose weights
    are tied since. Semantics: peft.PeftModel.merge_and_unload.
    """
    model._need_build()
    modules = model.get_modules()
    paths = lora_paths(model)
    if not paths:
        raise ModelError(f"{type(model).__name__} has no adapters to merge: labdl.nn.add_lora adds them")
    _refuse_shared(model, paths)
    for path in paths:
        adapter = modules[path]
        _replace(model, adapter, _merge(adapter))
    _build_again(model, None)
    return model


def lora_paths(model: Module) -> list[str]:
    """Paths of the layers of a model that have an adapter."""
    return [path for path, part in model.named_modules() if type(part) is LoRALinear]


# -- layers


def _can_have_adapter(part: Module) -> bool:
    """Whether a module is a Linear, with an adapter or not, and has weights: inputs that are left out may have layers too."""
    return type(part) in (Linear, LoRALinear) and bool(part._parameters)


def _adapter(path: str, linear: Module, settings: Mapping[str, Any]) -> LoRALinear:
    """A LoRALinear with the parameters of a Linear. Raises ModelError for a layer that cannot have one."""
    if type(linear) is LoRALinear:
        raise ModelError(f"{path} has an adapter already: merge it with labdl.nn.merge_lora, or load the base again")
    if type(linear) is not Linear:
        raise ModelError(f"{path} is a {type(linear).__name__}: adapters are for Linear layers")
    if not path:
        raise ModelError("the model is itself a Linear layer: put it into a nn.Sequential to give it an adapter")
    given = params_of(linear)
    for name in ("weight_norm", "spectral_norm"):
        if given.pop(name, None) is not None:
            raise ModelError(f"{path} has {name}: an adapter needs the kernel itself, leave the layer out")
    if isinstance(linear.__dict__.get("forward"), Hooks):
        raise ModelError(f"{path} has forward hooks, which an adapter would lose: remove them, and add them afterwards")
    adapter = LoRALinear(**{**given, **settings})
    adapter.prepare(Spec((None, linear._parameters["kernel"].shape[0])))
    _share(linear, adapter)
    return adapter


def _merge(adapter: Module) -> Linear:
    """A Linear with the parameters of an adapter, of which the kernel gets the update."""
    names = ("r", "lora_alpha", "lora_dropout")
    linear = Linear(**{name: value for name, value in params_of(adapter).items() if name not in names})
    kernel, left, right = (adapter._parameters[name] for name in ("kernel", "lora_a", "lora_b"))
    owner = dispatch.owner(kernel.value)
    first, second, third = (np.asarray(owner.to_numpy(each.value), "float64") for each in (kernel, left, right))
    merged = first + adapter.lora_alpha / adapter.r * (second @ third)  # type: ignore[attr-defined]
    owner.assign(kernel.value, merged.astype(kernel.array_dtype))
    linear.prepare(Spec((None, kernel.shape[0])))
    _share(adapter, linear)
    return linear


def _share(source: Module, target: Module) -> None:
    """Give a layer the kernel and the bias of another one, the same variables."""
    for name in ("kernel", "bias"):
        if name in source._parameters:
            setattr(target, name, source._parameters[name])
    target.train(source.training)


def _replace(model: Module, former: Module, new: Module) -> None:
    for home in list(model.modules()):
        for name, part in list(home._modules.items()):
            if part is former:
                setattr(home, name, new)


def _build_again(model: Module, seed: int | None) -> None:
    build.mark_unbuilt(model)
    model.build(*model.input_specs, backend=model.backend, seed=seed, **model._input_options)


def _refuse_shared(model: Module, paths: Collection[str]) -> None:
    """Raise ModelError for a kernel that other modules have too: its merged value would change them."""
    owners: dict[int, set[str]] = {}
    for path, part in model.named_modules():
        for name, parameter in part._parameters.items():
            owners.setdefault(id(parameter), set()).add(f"{path}/{name}:0")
    for path in paths:
        both = sorted(owners[id(model.get_module(path)._parameters["kernel"])])
        if len(both) > 1:
            raise ModelError(
                f"{' and '.join(both)} are one parameter, which an adapter cannot change: leave {path} out"
            )


# -- names


def _find_targets(model: Module, names: Names, others: Collection[str]) -> list[str]:
    """Paths of the Linear layers that names stand for. Raises ConfigError for a name without any."""
    linear = {path: part for path, part in model.named_modules() if _can_have_adapter(part)}
    kept = [path for path in linear if any(path == other or path.startswith(f"{other}/") for other in others)]
    if names == "all-linear":
        head = find_head(model)
        chosen = [path for path, part in linear.items() if part is not head and path not in kept]
        if not chosen:
            raise ConfigError(
                f"{type(model).__name__} has no Linear layers beside its head: name them, target_modules="
            )
        return chosen
    known = _show_paths(linear)
    chosen = []
    for name in _as_list(names, "target_modules"):
        matches = [path for path in model.get_modules() if path and _is_named(path, name)]
        layers = [path for path in matches if path in linear and path not in chosen]
        if not any(path in linear for path in matches):
            _refuse_target(model, name, matches, known)
        chosen += layers
    both = sorted(set(chosen) & set(kept))
    if both:
        raise ConfigError(f"{both[0]} is in target_modules and in modules_to_save: name it in one of them")
    return chosen


def _refuse_target(model: Module, name: str, matches: Sequence[str], known: str) -> NoReturn:
    """Raise ConfigError that says why a name of target_modules stands for no Linear layer."""
    if not matches:
        raise ConfigError(f"{type(model).__name__} has no module {name!r:.80} to adapt; its Linear layers are {known}")
    part = model.get_module(matches[0])
    inner = [path for path, each in part.named_modules() if type(each) is Linear]
    kind = type(part).__name__
    if inner == [""]:
        raise ConfigError(f"{matches[0]} has no weights: the inputs that the model was built for do not reach it")
    if inner:
        raise ConfigError(
            f"{matches[0]} is a {kind}, which has Linear layers: name them, such as {', '.join(inner[:_SHOWN])}"
        )
    raise ConfigError(
        f"{matches[0]} is a {kind}, which has no Linear layer: adapters are for Linear layers, here {known}"
    )


def _find_all(model: Module, names: Names, argument: str) -> list[str]:
    """Paths of the modules that names stand for. Raises ConfigError for a name without any."""
    chosen: list[str] = []
    for name in _as_list(names, argument):
        matches = [path for path in model.get_modules() if path and _is_named(path, name)]
        if not matches:
            known = _show_paths(model._modules)
            raise ConfigError(f"{type(model).__name__} has no module {name!r:.80} of {argument}: it has {known}")
        chosen += matches
    return chosen


def _as_list(names: Names, argument: str) -> list[str]:
    listed = [names] if isinstance(names, str) else list(names) if isinstance(names, Sequence) else [names]
    if not all(isinstance(name, str) and name for name in listed) or (not listed and argument == "target_modules"):
        raise ConfigError(f"{argument} wants names of modules, such as 'query', received {names!r:.80}")
    return [name.replace(".", "/") for name in listed]


def _is_named(path: str, name: str) -> bool:
    return fnmatchcase(path, name) or fnmatchcase(path, f"*/{name}")


def _show_paths(paths: Collection[str]) -> str:
    """The ends of paths, those of blocks once."""
    ends = list(dict.fromkeys("/".join("*" if word.isdigit() else word for word in path.split("/")) for path in paths))
    more = f" and {len(ends) - _SHOWN} more" if len(ends) > _SHOWN else ""
    return f"{', '.join(ends[:_SHOWN]) or 'none'}{more}"


def adapted_blocks(model: Module) -> set[int]:
    """Ids of the registered layers, such as MultiHeadAttention, inside of which a layer has an adapter."""
    modules = model.get_modules()
    paths = lora_paths(model)
    blocks = (
        {path for path, part in modules.items() if is_layer(part) and type(part) is not LoRALinear} if paths else ()
    )
    return {id(modules[block]) for block in blocks for path in paths if not block or path.startswith(f"{block}/")}
