"""The one table of what each operator of ONNX means.

A meaning is called with the `Run`, the node, and the values of its inputs: tensors of the trace, `Known` numbers, or None
for what is left out. It gives the value of its result, or a list of them.
"""

from __future__ import annotations

from collections.abc import Callable

from labdl.saving.onnx.reading import arrays, elementwise, filling, neural, pictures, recurrence, reductions

MEANINGS: dict[str, Callable] = {
    **elementwise.TABLE,
    **reductions.TABLE,
    **filling.TABLE,
    **arrays.TABLE,
    **neural.TABLE,
    **pictures.TABLE,
    **recurrence.TABLE,
}
