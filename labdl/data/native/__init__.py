"""Conversion between LabDL's data sets and those of other libraries, in both directions."""

from labdl.data.native.reading import from_native
from labdl.data.native.writing import to_native

__all__ = ["from_native", "to_native"]
