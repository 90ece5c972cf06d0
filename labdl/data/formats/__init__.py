"""Data sets in the files of other software: WebDataset, TFRecord, Parquet, HDF5."""

from labdl.data.formats.hdf5 import HDF5Dataset, write_hdf5
from labdl.data.formats.parquet import ParquetDataset, write_parquet
from labdl.data.formats.tfrecord import TFRecordDataset, write_tfrecord
from labdl.data.formats.webdataset import WebDataset, write_webdataset

__all__ = [
    "HDF5Dataset",
    "ParquetDataset",
    "TFRecordDataset",
    "WebDataset",
    "write_hdf5",
    "write_parquet",
    "write_tfrecord",
    "write_webdataset",
]
