"""Typed contract of a backend: the protocols that the ``backend.py`` of each framework's folder implements.

A backend is a module: the methods of these protocols are its functions, the attributes its variables. NumPy implements
`ReferenceBackend`, a framework `Backend`; those in `OPTIONAL` need not be there.
"""

from __future__ import annotations

from typing import Protocol

from labdl.backends.protocol.array_api import ArrayNamespaces, DeviceObjects
from labdl.backends.protocol.autograd import Autograd, CheckpointingBackend
from labdl.backends.protocol.call_recorder import CallRecorders, SourceWords, Tape
from labdl.backends.protocol.control_flow import ControlFlow, ControlFlowBackend
from labdl.backends.protocol.custom_operators import CompiledHostCalls, CustomOperators
from labdl.backends.protocol.datasets import NativeDatasets, NativeSource, SampleSource
from labdl.backends.protocol.determinism import Determinism
from labdl.backends.protocol.devices import CopyingBackend, Devices, ExclusiveBackend, ThreadedBackend
from labdl.backends.protocol.layout import ChannelsLast, ChannelsLastBackend
from labdl.backends.protocol.native_modules import NativeModules
from labdl.backends.protocol.operators import Interpreter, Operators
from labdl.backends.protocol.optimizers import BoundOptimizer, OptimizerRule, Optimizers
from labdl.backends.protocol.random import RandomNumbers, RandomState
from labdl.backends.protocol.tensors import Tensors, Variables
from labdl.backends.protocol.tracing import TracingBackend
from labdl.backends.protocol.training import Evaluation, Training

__all__ = [
    "OPTIONAL",
    "ArrayNamespaces",
    "Autograd",
    "Backend",
    "BoundOptimizer",
    "CallRecorders",
    "ChannelsLast",
    "ChannelsLastBackend",
    "CheckpointingBackend",
    "CompiledHostCalls",
    "ControlFlow",
    "ControlFlowBackend",
    "CopyingBackend",
    "CustomOperators",
    "Determinism",
    "DeviceObjects",
    "Devices",
    "Evaluation",
    "ExclusiveBackend",
    "Interpreter",
    "NativeDatasets",
    "NativeModules",
    "NativeSource",
    "Operators",
    "OptimizerRule",
    "Optimizers",
    "RandomNumbers",
    "RandomState",
    "ReferenceBackend",
    "SampleSource",
    "SourceWords",
    "Tape",
    "Tensors",
    "ThreadedBackend",
    "TracingBackend",
    "Training",
    "Variables",
]


class ReferenceBackend(Tensors, Variables, Devices, RandomState, Evaluation, Optimizers, Interpreter, Protocol):
    """The members of NumPy's backend, which interprets the bodies of the operators and does not train."""


class Backend(
    Operators,
    Tensors,
    Variables,
    Devices,
    Determinism,
    RandomState,
    RandomNumbers,
    Autograd,
    Evaluation,
    Training,
    Optimizers,
    NativeModules,
    NativeDatasets,
    CustomOperators,
    CallRecorders,
    ArrayNamespaces,
    Protocol,
):
    """The members of a framework's backend."""


OPTIONAL: tuple[type, ...] = (
    ChannelsLastBackend,
    CheckpointingBackend,
    CompiledHostCalls,
    ControlFlowBackend,
    CopyingBackend,
    DeviceObjects,
    ExclusiveBackend,
    ThreadedBackend,
    TracingBackend,
)
"""Optional protocols; their users look members up with ``getattr``."""
