"""Module: the base class of layers and models. Once built, calling one does nothing but call its ``forward``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, ClassVar

import numpy as np

from labdl import dispatch
from labdl.display import model_mimebundle, model_widget
from labdl.errors import ConfigError, ModelError
from labdl.habits import refuse_attributes
from labdl.interop.key_map import Keys
from labdl.nn import build, gradients, state_dict, trainable
from labdl.nn.failing_layer import name_failing_layer
from labdl.nn.hooks import Hooks
from labdl.nn.input_arrays import has_data, tensors_for_call
from labdl.nn.names import fault_of
from labdl.nn.parameter import Parameter
from labdl.nn.signature import Argument, arguments_of, check_setup, place_inputs, refuse_nested, refuse_settings
from labdl.nn.state_dict import LoadReport
from labdl.ops.infix import scope
from labdl.spec import Spec

observer: ContextVar[Any] = ContextVar("observer", default=None)  # the recorder of the trace being taken


@refuse_attributes("model")
class Module:
    """Base class of all layers and models (T/AII 008-2023, A.2).

    Subclass it as in PyTorch: create layers in ``__init__`` and use them in ``forward``. Sizes of inputs may be omitted;
    `build` (or the first call) infers them, initializes the weights and places them on a backend.

    A call takes tensors of the model's backend, and NumPy arrays, lists of numbers and frames of pandas, which are
    converted to the dtype that the model was built for, or one dictionary with the inputs by name; it returns tensors.
    ``class_names`` are the names of the classes of a classifier, in the order of its outputs: a training with text labels
    sets them. ``preprocessing`` is a pipeline or a transform of `labdl.data` that makes inputs of samples: it is saved with
    the model, and `labdl.infer.Inference` applies it. ``task_name`` is the task of `labdl.tasks` that a fine-tuning trained it
    for, by which `labdl.infer.Inference.of` reads its outputs.
    """

    _repr_mimebundle_ = model_mimebundle
    _display_ = model_widget
    is_source: ClassVar[bool] = False  # an input of a graph, without incoming edges
    class_names: Sequence[str] | None = (
        None  # of a classifier: set by a training with text labels, saved with the model
    )
    preprocessing: Any = None
    task_name: str | None = None  # the task of `labdl.tasks` that trained it, saved with the model

    training: bool
    _modules: dict[str, Module]
    _parameters: dict[str, Parameter]
    _ready: bool
    _set_up: bool
    _backend: str | None
    _input_specs: tuple[Spec | None, ...] | None
    _input_options: dict[str, Any]  # what the forward was given by name at build: Specs and settings
    _ties: dict[str, str]
    _trainable: bool  # see labdl.nn.trainable
    _frozen_later: tuple[tuple[str, bool], ...]

    def __new__(cls, *args, **kwargs):
        if (args or kwargs) and cls.__init__ is object.__init__:
            refuse_settings(cls, args, kwargs)
        self = super().__new__(cls)
        # set here, not in __init__, so that a subclass may assign layers before or without calling super().__init__()
        self.__dict__.update(
            _modules={},
            _parameters={},
            _ready=False,
            _set_up=False,
            training=True,
            _backend=None,
            _input_specs=None,
            _input_options={},
            _ties={},
            _trainable=True,
            _frozen_later=(),
        )
        return self

    def __setattr__(self, name: str, value) -> None:
        if isinstance(value, Module | Parameter) and is_reserved(name):
            raise ConfigError(
                f"{type(self).__name__} cannot hold a layer or parameter named {name!r}, because every module "
                "has an attribute of that name: choose another name"
            )
        # the parameter of a Weight has the name of its node, and none of its own
        if isinstance(value, Module | Parameter) and (name or isinstance(value, Module)) and (fault := fault_of(name)):
            raise ConfigError(f"{type(self).__name__} cannot hold a layer or parameter of the name {fault}")
        if isinstance(value, Module):
            self._modules[name] = value
            Parameter.changes += 1
            if self._backend is not None:
                build.place_containers(self, name, value)
            self.__dict__["_ready"] = self._ready and value._ready
        elif isinstance(value, Parameter):
            if not self._trainable and value.learnable:
                value.trainable = False
            if self._backend is not None:
                build.place_parameter(self, name, value)
            self._parameters[name] = value
            value = Spec(value.shape, value.dtype) if value.value is None else value.value
        else:
            self._modules.pop(name, None)
            self._parameters.pop(name, None)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        if self._modules.pop(name, None) is not None:
            Parameter.changes += 1
        self._parameters.pop(name, None)
        object.__delattr__(self, name)

    # -- running

    def forward(self, *inputs):
        """Compute the outputs; overridden by every layer and model."""
        raise ModelError(f"{type(self).__name__} has no forward: write `def forward(self, x): ...`")

    def setup(self, *inputs: Spec) -> None:
        """Create the parameters whose shape depends on the inputs; called once, before the first forward.

        One that needs no shape may be written without arguments: ``def setup(self)``.
        """

    def __call__(self, *inputs, **options):
        forward = self.forward if self._ready else self._slow_call
        if scope.on:
            return forward(*inputs, **options)
        if has_data(inputs, self._backend) and observer.get() is None:
            inputs, options = tensors_for_call(self, inputs, options)
        refuse_nested(self, inputs)
        scope.on = True  # inside a forward, infix operators have the same semantics on every framework
        if self._ready:
            self.__dict__["_called"] = inputs, options  # for `backward`
        try:
            return forward(*inputs, **options)
        except (ValueError, TypeError) as error:
            if self._ready:
                name_failing_layer(self, error)
            raise
        finally:
            scope.on = False

    def _slow_call(self, *inputs, **options):
        """Call for shape inference, during a trace, or before the model is built."""
        refuse_nested(self, inputs)
        recorder = observer.get()
        if recorder is not None:
            return recorder.call(self, inputs, options)
        values = (*inputs, *options.values())
        if any(v is not None for v in values) and not any(isinstance(v, Spec) for v in values):
            owner = dispatch.owner(*values)
            named = {k: dispatch.spec_of(v) for k, v in options.items() if dispatch.owner_of_type(type(v))}
            specs = (v if v is None else dispatch.spec_of(v) for v in inputs)
            self.build(*specs, backend=owner.name, **{**options, **named})
            return self.forward(*inputs, **options)
        return self.infer(*inputs, **options)

    def infer(self, *inputs, **options):
        """`forward` on Specs, after `setup` if that has not happened yet."""
        named = {k: dispatch.spec_of(v) for k, v in options.items() if dispatch.owner_of_type(type(v)) is not None}
        before, scope.infers = scope.infers, True
        try:
            self.prepare(*(v if v is None else dispatch.spec_of(v) for v in inputs), **named)
            return self.forward(*inputs, **options)
        finally:
            scope.infers = before

    def prepare(self, *inputs, **named) -> None:
        """Call `setup` unless it has been called; inputs given by name are for a setup that has arguments of these names."""
        if not self._set_up:
            known = inspect.signature(self.setup).parameters
            named = {name: spec for name, spec in named.items() if name in known}
            check_setup(self, inputs if known else (), named)
            self.setup(*(inputs if known else ()), **named)
            self.__dict__["_set_up"] = True

    # -- building

    def _place_constants(self, backend) -> None:
        """Put what is no parameter on a backend, such as constants; called by `build` and `to`."""

    def build(self, *inputs, backend: str | None = None, seed: int | None = None, **options) -> Module:
        """Infer all sizes from the inputs' Specs or shapes, and initialize the weights as variables of a backend.

        ``model.build((None, 1, 8, 8), backend="paddle")``; None is an unknown size, or in place of a shape an optional input
        that is omitted. ``options`` are inputs and settings of the forward by name: ``build((None, 16), mask=(None, 16))``.
        A tuple that contains None is the shape of an input, as is a `Spec`; other values are passed to the forward as they
        are. Without inputs it is built for those that it was built with before, or, as a model of `labdl.models`, for its
        usual ones. Building again keeps the weights and moves them if the backend differs. Returns the model. Raises
        ModelError for layers whose shapes do not match.
        """
        if not inputs and not options and self._input_specs is not None:
            specs, named = self._input_specs, self._input_options
        else:
            specs, named = place_inputs(self, inputs, options)
        build.build(self, specs, backend, seed, named)
        return self

    def _arguments(self) -> list[Argument]:
        """The arguments of a call."""
        return arguments_of(self)

    def _shapes_of(self, *specs: Spec | None, **options):
        """Specs of the outputs; calls `setup` of modules where necessary, and undoes that if the shapes do not match."""
        return build.shapes_of(self, specs, options)

    @property
    def built(self) -> bool:
        return self._ready

    @property
    def backend(self) -> str | None:
        """Name of the backend that holds the parameters, None before building."""
        return self._backend

    @property
    def input_specs(self) -> tuple[Spec | None, ...]:
        """The Specs that the model was built with."""
        if self._input_specs is None:
            raise ModelError(f"{type(self).__name__} is not built: call build((None, ...)) with the shape of its input")
        return self._input_specs

    @property
    def output_specs(self):
        """The Spec of the output for the inputs that the model was built with, or a tuple of several."""
        return self._shapes_of(*self.input_specs, **self._input_options)

    @property
    def unbuilt(self) -> list[str]:
        """Paths of the modules that are not built, such as a layer that replaced another."""
        return [path or type(m).__name__ for path, m in self.named_modules() if not m._ready]

    def to(self, place: str) -> Module:
        """Move the parameters, in place, to another backend ("paddle") or to a device of the current one ("cuda:0").

        A `Trainer` of this model moves its optimizer's state as well. Raises BackendError for a name that is neither.
        """
        build.move(self, place)
        return self

    def fuse(self) -> Module:
        """A copy for deployment in which batch normalizations are folded into the convolutions or linear layers before them.

        The copy is in evaluation mode and gives the same outputs up to rounding, in less time and memory. Folded are
        normalizations (also inside of `ConvNormAct`) that take the output of a Conv, DepthwiseConv, ConvTranspose or Linear
        that nothing else takes; an `Identity` stands in their place. Convolutions of one tensor whose results are added, with a
        normalization of that tensor or without, become one, as the blocks of YOLOv6 and YOLOv7 in deployment (RepVGG, Ding et
        al., 2021); the copy of such a model is a module of its graph. Layers stay that are called twice, share a parameter or
        have hooks, weight norm or spectral norm. The model itself is unchanged::

            labdl.save(model.fuse(), "model.labdl")

        Raises ModelError for a model that is not built or cannot be traced.
        """
        from labdl.graph.fusion import fuse  # graph imports nn

        return fuse(self)

    def to_native(self):
        """Convert the model to a module of its framework that shares the parameters: training either trains both.

        The result is a ``torch.nn.Module``, ``paddle.nn.Layer``, ``mindspore.nn.Cell``, or a ``keras.Model`` that is also a
        ``tf.Module`` (called with ``training=True`` for training). Parameters of layers that the framework has are named as
        there. Submodules hold parameters only; call the whole model.
        """
        from labdl.nn.native import to_native  # it imports this module

        return to_native(self)

    # -- contents

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, Module]]:
        """Every module once, with its path: the model itself (path ``""``), then its children in order."""
        seen: set[int] = set()
        stack: list[tuple[str, Module]] = [(prefix, self)]
        while stack:
            path, module = stack.pop()
            if id(module) in seen:
                continue
            seen.add(id(module))
            yield path, module
            stack.extend(
                (f"{path}/{name}" if path else name, child) for name, child in reversed(list(module._modules.items()))
            )

    def modules(self) -> Iterator[Module]:
        return (module for _, module in self.named_modules())

    def named_parameters(self) -> Iterator[tuple[str, Parameter]]:
        """Every parameter and buffer once, with its standard name such as ``conv1/kernel:0``."""
        seen: set[int] = set()
        for path, module in self.named_modules():
            for name, parameter in module._parameters.items():
                if id(parameter) not in seen:
                    seen.add(id(parameter))
                    yield "/".join(filter(None, (path, name))) + ":0", parameter

    def parameters(self) -> Iterator[Parameter]:
        return (parameter for _, parameter in self.named_parameters())

    def get_parameters(self) -> dict[str, Parameter]:
        """``{standard name: parameter}``, each once (T/AII 008-2023, A.2)."""
        return dict(self.named_parameters())

    def get_modules(self) -> dict[str, Module]:
        """``{path: module}``, each once, the module itself under "" (T/AII 008-2023, A.2)."""
        return dict(self.named_modules())

    def get_module(self, path: str) -> Module:
        """The submodule at a path such as "encoder/0/linear". Raises ModelError that lists the submodules."""
        found, words = self, path.split("/") if path else []
        while words:  # the model of a graph has layers under names that contain "/", and these may have submodules
            count = next((n for n in range(len(words), 0, -1) if "/".join(words[:n]) in found._modules), None)
            if count is None:
                raise ModelError(
                    f"{type(self).__name__} has no module {path!r}: {type(found).__name__} has "
                    f"{', '.join(found._modules) or 'none'}"
                )
            found, words = found._modules["/".join(words[:count])], words[count:]
        return found

    def get_parameter(self, name: str) -> Parameter:
        """The parameter or buffer of a standard name such as ``conv1/kernel:0``, or of a name that it is tied to."""
        home, word = self._locate_parameter(name)
        return home._parameters[word]

    def _locate_parameter(self, name: str) -> tuple[Module, str]:
        """The module that holds a parameter, and its name there."""
        whole = name.removesuffix(":0")
        home, _, word = whole.rpartition("/")
        for path, inside in ((home, word), (whole, "")):  # a Weight's parameter has the name of the node
            try:
                found = self.get_module(path)
            except ModelError:
                continue
            if inside in found._parameters:
                return found, inside
        raise ModelError(
            f"{type(self).__name__} has no parameter {name!r}: it has {', '.join(self.get_parameters()) or 'none'}"
        )

    def add_module(self, path: str, module: Module) -> Module:
        """Add a module at a path, or replace the one there; the next call builds it.

        The other layers keep their weights. Returns the module itself, so that calls can be chained.
        """
        home, _, name = path.rpartition("/")
        if not isinstance(module, Module):
            raise ConfigError(f"add_module wants a module for {path!r}, received {type(module).__name__}")
        setattr(self.get_module(home), name, module)
        build.mark_unbuilt(self)
        return self

    def remove_module(self, path: str) -> Module:
        """Remove the module at a path, and return it. Raises ModelError when there is none."""
        found = self.get_module(path)
        home, _, name = path.rpartition("/")
        delattr(self.get_module(home), name)
        return found

    def replace_head(self, classes: int, path: str | None = None) -> Module:
        """Give the model a new head for so many classes; all other layers keep their weights. Returns the model.

        The head is the last layer with parameters, a Linear or a convolution, in the order of execution, or of definition
        before the shapes of the inputs are known; ``path`` names it where that is another layer, such as one of two heads.
        The new head has the old one's settings and is trained, also in a frozen model; `class_names` of another number of
        classes are removed::

            model = labdl.models.create("resnet18", weights="torchvision").freeze().replace_head(5)

        A built model stays built, on its backend. Raises ModelError for a model that ends with something else, and where the
        head is not clear; ConfigError for a number of classes below 1.
        """
        from labdl.nn.head import replace_head  # it imports this module

        replace_head(self, classes, path)
        return self

    def tie(self, name: str, to: str) -> None:
        """Share one parameter in two places: ``tie("head/kernel:0", to="embed/kernel:0")``; saved once, and restored tied.

        Both must have the same shape. May be called before the model is built.
        """
        self._ties[name] = to
        if self.built:
            build.apply_ties(self)

    @property
    def trainable(self) -> bool:
        """Whether training changes a parameter in here; assigning sets all of this module and its submodules, as in Keras.

        ``model.backbone.trainable = False`` freezes, before or after build and during a training; True includes the parameters
        again. `freeze` does the same for patterns of names. A frozen parameter has no state in the optimizer, and the
        framework's variable says so (``requires_grad``, ``trainable``, ``stop_gradient``). A frozen `BatchNorm` normalizes
        with its running statistics, which no longer move; a frozen `Dropout` goes on dropping in training. A layer that is
        added later is trained until it is frozen itself, unlike in Keras: ``model.head = nn.Linear(2)`` on a frozen model
        learns. Raises ConfigError for a value that is not a bool.
        """
        return trainable.is_trainable(self)

    @trainable.setter
    def trainable(self, value: bool) -> None:
        trainable.set_trainable(self, value)

    @property
    def requires_grad(self) -> bool:
        """`trainable`, under PyTorch's name."""
        return self.trainable

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.trainable = value

    def requires_grad_(self, requires_grad: bool = True) -> Module:
        """Set `trainable`, as ``torch.nn.Module.requires_grad_`` does. Returns the module."""
        self.trainable = requires_grad
        return self

    def freeze(self, names: str = "*") -> Module:
        """Exclude parameters from training, also during one: all of this module, or those whose name matches a pattern.

        ``model.freeze("encoder/*")``; `trainable` has the rules, also for batch normalization. Before build a pattern waits
        for the names. Returns the module. Raises ModelError for a pattern that matches nothing, at build if it waited.
        """
        trainable.switch(self, names, False)
        return self

    def unfreeze(self, names: str = "*") -> Module:
        """Include parameters in training again: all of this module, or those whose standard name matches a pattern."""
        trainable.switch(self, names, True)
        return self

    def trainable_variables(self) -> list:
        """The backend's own variables that training updates."""
        return [p.value for p in self.parameters() if p.trainable]

    def count_parameters(self) -> int:
        """Number of trainable values."""
        return sum(p.size for p in self.parameters() if p.trainable)

    def train(self, mode: bool = True) -> Module:
        """Training behavior of dropout and batch normalization, here and in all sub-modules."""
        for module in self.modules():
            module.__dict__["training"] = mode
        return self

    def eval(self) -> Module:
        """Evaluation behavior of dropout and batch normalization."""
        return self.train(False)

    # -- hooks and gradients

    def register_forward_hook(self, hook: Callable, *, before: bool = False) -> Callable[[], None]:
        """Call ``hook(module, inputs, outputs)`` after each forward, or ``hook(module, inputs)`` before it.

        A return value other than None replaces the outputs, or as a tuple the inputs. Returns a function that removes the
        hook. Modules without hooks have no overhead.
        """
        return Hooks.of(self).add(hook, before)

    def backward(self, gradient=None, *inputs):
        """Gradients of the last call, given the gradient of its output (T/AII 008-2023, A.9).

        ``gradient`` is a tensor in the shape of the output, or a tuple for several outputs; None stands for ones. Returns
        the gradient of each floating-point input, None for the others (one value for one input); in training mode the
        gradients of the parameters are added to `Parameter.gradient`. For a module inside a model, or another point, give the
        ``inputs``: ``model.head.backward(gradient, features)``.
        """
        self._need_build()
        return gradients.backward(self, gradient, inputs)

    def register_backward_function(self, function: Callable) -> Callable:
        """Compute the gradient of this module with ``function(gradient, *inputs)``, in training as well.

        ``gradient`` has the shape of the output (a tuple for several outputs); inputs given by name follow the others in the
        order of the forward. The function returns the gradients of the inputs, None for zeros, optionally followed by a
        dictionary of those of the parameters: ``(gx, {"kernel:0": gk})``. Each has the shape of its tensor, is a tensor or a
        NumPy array, and is converted to the dtype of its tensor. Raises GradientError for another number or shape.
        """
        gradients.replace(self, function)
        return function

    def zero_gradient(self) -> None:
        """Reset the gradients accumulated by `backward`."""
        for parameter in self.parameters():
            parameter.gradient = None

    # -- values

    def state_dict(self) -> dict[str, np.ndarray]:
        """``{standard name: NumPy array in the standard shape}`` of all parameters and buffers; independent of the backend."""
        self._need_build()
        return state_dict.state_dict(self)

    def load_state_dict(
        self,
        values: Mapping[str, np.ndarray],
        names: str = "*",
        strict: bool = True,
        *,
        prefix: str = "",
        keys: Keys | None = None,
    ) -> LoadReport:
        """Assign values to the parameters, in place, and return a report: ``loaded`` are the names of those that were set.

        ``names`` is a pattern such as "encoder/*" that restricts both the model's parameters and ``values``. With ``strict``,
        every parameter needs a value of its shape and every value a parameter, or StateDictError names missing, unexpected and
        wrongly shaped keys, and the model is unchanged. Without, only what fits is assigned, a warning names what has another
        shape, and the report has ``missing_keys``, ``unexpected_keys`` and ``mismatched``; StateDictError if nothing fits.

        Values under other names: only keys that begin with ``prefix`` are taken, without it; ``keys`` gives new names, as a
        function (None leaves a key out) or as patterns, of which the first that matches counts::

            model.load_state_dict(values, prefix="module.", keys={"fc/*": "head/*", "aux/*": None})
        """
        self._need_build()
        return state_dict.load_state_dict(self, values, names, strict, prefix, keys)

    def _fitting(self, given: Mapping[str, Any], names: str = "*", strict: bool = True) -> dict[str, Parameter]:
        """The parameters that arrays, or Specs, are for. Raises StateDictError if names, shapes or dtypes do not match."""
        return state_dict.fitting(self, given, names, strict)

    def _need_build(self) -> None:
        if unbuilt := self.unbuilt:
            raise ModelError(
                f"not built yet: {', '.join(unbuilt[:5])}; call build((None, ...)) with the shape of the input"
            )

    # -- display

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__}({self._describe()})"]
        for name, child in self._modules.items():
            head, *rest = repr(child).splitlines()
            lines += [f"  {name}: {head}", *(f"  {line}" for line in rest)]
        return "\n".join(lines)

    def _describe(self) -> str:
        return ""

    def summary(self, depth: int | None = None) -> str:
        """A table of layers with output shapes, parameters, floating-point operations and memory.

        ``depth`` is the number of levels of submodules that are listed: 1 for the model's own, None for all.
        """
        from labdl.graph import trace  # the table is made from a trace, and graph imports nn

        return trace(self).summary(depth)


_STATE = frozenset(Module().__dict__)


def reserved_names() -> frozenset[str]:
    """Attributes of every module, which a layer or parameter of the same name would hide."""
    return _STATE | frozenset(filter(is_reserved, dir(Module)))


def is_reserved(name: str) -> bool:
    """Whether every module has an attribute of this name, which a layer or parameter would hide."""
    return name in _STATE or hasattr(Module, name)
