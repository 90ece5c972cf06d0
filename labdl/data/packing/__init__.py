"""Packed data sets: samples in sharded, checksummed files of Arrow IPC, read at random from mapped memory.

The format was chosen by ``tests/bench/packing.py``: pictures of 12 kB and labels, read at random from the page cache.
Arrow IPC 2.8 µs a sample (0.1 % of bytes besides the values), WebDataset tar with an index 8.7 µs (15 %), HDF5 14.5 µs, with
a lock for all threads (0.1 %), Parquet in groups of 64 rows 880 µs (0.1 %). Only Arrow gives arrays without a copy. With
parts, structure and checksums, `PackedDataset` takes 14 µs.
"""

from labdl.data.packing.pack import pack
from labdl.data.packing.packed_dataset import PackedDataset

__all__ = ["PackedDataset", "pack"]
