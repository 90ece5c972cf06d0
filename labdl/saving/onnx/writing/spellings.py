"""The one table of what is written for each operator; composites that are not in it are written as what they are made of.

A spelling is called with an `Emit` and all arguments of the operator in order: tensors as `Value`, operands that meet in one
dtype in that. It gives the name of its result or a `Value`, a list of them for several, or NotImplemented for arguments
that only the composite's body can do.
"""

from __future__ import annotations

from collections.abc import Callable

from labdl.saving.onnx.writing import arrays, elementwise, indexing, neural, recurrence, reductions

SPELLINGS: dict[str, Callable] = {
    **elementwise.TABLE,
    **reductions.TABLE,
    **arrays.TABLE,
    **indexing.TABLE,
    **neural.TABLE,
    **recurrence.TABLE,
}
