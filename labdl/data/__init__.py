"""Data sets, transforms, samplers and loaders, of NumPy arrays; batches become tensors when they reach the model."""

from labdl.data import samplers, sklearn_images, sklearn_tables
from labdl.data.annotations.coco import CocoDetection
from labdl.data.annotations.segmentation_folder import SegmentationFolder
from labdl.data.annotations.voc import VOCDetection, VOCSegmentation
from labdl.data.annotations.yolo import YOLODetection
from labdl.data.array_dataset import ArrayDataset
from labdl.data.batches import stack_samples
from labdl.data.codecs.image import EncodedImage
from labdl.data.dataset import Dataset
from labdl.data.file_datasets import csv, npz
from labdl.data.flow.sampling import sample_from
from labdl.data.folders.image_folder import ImageFolder
from labdl.data.loader import Loader
from labdl.data.opening import open_dataset
from labdl.data.parts import (
    Audio,
    BoundingBoxes,
    Image,
    KeyPoints,
    Mask,
    Spectrogram,
    Text,
    TokenIds,
    Tokens,
    Video,
)
from labdl.data.pipeline import Pipeline, Split
from labdl.data.registry import SOURCES, Source
from labdl.data.sample_dataset import SampleDataset
from labdl.data.sklearn_images import *
from labdl.data.sklearn_tables import *
from labdl.data.streams.iterable_dataset import IterableDataset

__all__ = [
    "SOURCES",
    "ArrayDataset",
    "Audio",
    "BoundingBoxes",
    "CocoDetection",
    "Dataset",
    "EncodedImage",
    "Image",
    "ImageFolder",
    "IterableDataset",
    "KeyPoints",
    "Loader",
]
__all__ += [
    "Mask",
    "Pipeline",
    "SampleDataset",
    "SegmentationFolder",
    "Source",
    "Spectrogram",
    "Split",
    "Text",
    "TokenIds",
    "Tokens",
    "Video",
    "csv",
]
__all__ += ["VOCDetection", "VOCSegmentation", "YOLODetection", "npz", "open_dataset", "sample_from", "samplers"]
__all__ += ["stack_samples"]
__all__ += sklearn_images.__all__
__all__ += sklearn_tables.__all__


# loaded on first use: they import OpenCV, decoders and others
_ON_USE = {
    "AudioFolder": "folders.audio_folder",
    "FileDataset": "folders.file_dataset",
    "ManifestDataset": "folders.manifest",
    "VideoFolder": "folders.video_folder",
    "HDF5Dataset": "formats",
    "ParallelTextDataset": "text_files.text_dataset",
    "SquadDataset": "text_files.squad",
    "Table": "tables.table",
    "TaggedTextDataset": "text_files.tagged_texts",
    "TextDataset": "text_files.text_dataset",
    "TextFolder": "text_files.text_folder",
    "ParquetDataset": "formats",
    "TFRecordDataset": "formats",
    "WebDataset": "formats",
    "write_hdf5": "formats",
    "write_parquet": "formats",
    "write_tfrecord": "formats",
    "write_webdataset": "formats",
    "open_splits": "splits",
    "PackedDataset": "packing",
    "pack": "packing",
    "from_native": "native",
    "sources": "sources",
    "text": "text",
    "transforms": "transforms",
    "vision": "vision",
}
__all__ += list(_ON_USE)


def __getattr__(name: str):
    """Load a class or a package of `_ON_USE`."""
    if name in _ON_USE:
        import importlib

        module = importlib.import_module(f"labdl.data.{_ON_USE[name]}")
        return getattr(module, name, module)
    raise AttributeError(f"module 'labdl.data' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
