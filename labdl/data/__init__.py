"""Datasets and loaders of NumPy arrays; batches become tensors when they reach the model."""

from labdl.data import sklearn_images, sklearn_tables
from labdl.data.dataset import ArrayDataset
from labdl.data.file_datasets import csv, npz
from labdl.data.loader import Loader
from labdl.data.registry import SOURCES, Source
from labdl.data.sklearn_images import *
from labdl.data.sklearn_tables import *

__all__ = ["SOURCES", "ArrayDataset", "Loader", "Source", "csv", "npz"]
__all__ += sklearn_images.__all__
__all__ += sklearn_tables.__all__


def __dir__() -> list[str]:
    return sorted(__all__)
