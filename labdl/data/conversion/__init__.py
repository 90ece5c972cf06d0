"""Rules by which data as people have it become what a model takes; training, evaluation and inference share them.

1. Lists, pandas frames and series, and tensors on the CPU become NumPy arrays in the byte order of this machine (`as_array`).
2. Inputs take the dtype that the model was built for: float64 becomes float32, and integers, uint8 pictures and booleans become
   floating-point numbers unless the model takes indices. Values are not scaled. (N,) becomes (N, 1) for a model of one feature
   (`fit_input`).
3. Text labels become class numbers in the order of the class names, which are sorted where the data set names none
   (`encode_labels`).
4. Targets take the dtype of their loss, integers for classes and floating-point numbers for values, and as many axes as the
   output: (N,) and (N, 1) are aligned (`fit_target`).
5. A list of arrays is one input with a row for each sample, or several inputs, as in Keras, if each of them has all samples
   (`as_inputs`). A list of tuples (x, y) is a data set of these samples.
6. Sparse matrices, generators and loaders are refused with what to write instead (`advice_for`).
"""

from labdl.data.conversion.arrays import advice_for, as_array, as_inputs, is_table, native_order
from labdl.data.conversion.inputs import INDICES, fit_input
from labdl.data.conversion.labels import encode_labels, find_class_names, is_text
from labdl.data.conversion.targets import TargetRule, align, fit_target

__all__ = [
    "INDICES",
    "TargetRule",
    "advice_for",
    "align",
    "as_array",
    "as_inputs",
    "encode_labels",
    "find_class_names",
    "fit_input",
    "fit_target",
    "is_table",
    "is_text",
    "native_order",
]
