"""Tensors that a model holds beside its layers: what it learns, and what it only knows."""

from __future__ import annotations

from typing import Literal

import numpy as np

from labdl.nn.module import Module
from labdl.nn.parameter import Buffer, Parameter
from labdl.nn.schema import layer
from labdl.nn.types import Initialiser, Whole
from labdl.spec import Spec

Values = int | float | bool | tuple["Values", ...]


@layer({"shape": (4,)}, category="input")
class Weight(Module):
    """A tensor of its own, learnt in training unless ``learnt`` is false: a class token, a table of positions.

    In a trace it stands for a `Parameter` or `Buffer` of a model that is no layer. ``standard`` is the order of axes in the
    parameter file, where that is another.
    """

    shape: tuple[Whole, ...]
    init: Initialiser = "zeros"
    dtype: str = "float32"
    learnt: bool = True
    standard: tuple[Whole, ...] | None = None

    def setup(self):
        # without a word of its own the parameter's name is the path of this node, as it was in the model
        made = (
            Parameter(self.shape, self.init, self.dtype) if self.learnt else Buffer(self.shape, self.init, self.dtype)
        )
        made.standard = self.standard
        setattr(self, "", made)

    def forward(self):
        return self.__dict__[""]

    def infer(self):
        self.prepare()
        return Spec(self.shape, self.dtype)


@layer({"value": (1.0, 2.0)}, category="input")
class Constant(Module):
    """Fixed numbers: one, or lists of them for each axis."""

    value: int | float | bool | tuple
    dtype: Literal["float32", "float64", "int64", "int32", "bool"] = "float32"

    def setup(self):
        self._array = np.array(self.value, self.dtype)

    def forward(self):
        if "_array" not in self.__dict__:
            self.setup()
        return self._array

    def infer(self):
        return Spec(np.shape(np.array(self.value)), self.dtype)
