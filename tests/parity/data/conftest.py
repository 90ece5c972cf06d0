"""Imports the frameworks in the only order in which one process can hold them all."""

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # what the frameworks say of the machine
    import mindspore  # noqa: F401
    import paddle  # noqa: F401
    import tensorflow  # noqa: F401
