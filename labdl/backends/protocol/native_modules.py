"""Models as modules of the framework, and modules of the framework in models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from labdl.backends.protocol.types import NativeModule, Tensor, Variable


class NativeModules(Protocol):
    """Conversion between LabDL's modules and the framework's."""

    def native_module(self, call: Callable[..., Any], branch: Any, mode: Callable[[bool], Any] | None) -> NativeModule:
        """A module of the framework that runs ``call`` and holds the parameters of a `labdl.nn.native.Branch`.

        The parameters have the framework's names; ``mode`` sets training (True) or evaluation.
        """
        ...

    def is_native(self, value: Any) -> bool:
        """Whether a value is a module of the framework."""
        ...

    def native_parameters(self, module: NativeModule) -> Mapping[str, tuple[Variable, bool]]:
        """For each parameter and buffer its name, the variable, and whether it is trained."""
        ...

    def native_call(self, module: NativeModule, training: bool, inputs: Sequence[Tensor]) -> Any:
        """The module's result for inputs, in training or evaluation mode."""
        ...
