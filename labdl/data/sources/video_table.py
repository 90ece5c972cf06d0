"""The known sets of videos; hashes are those in TensorFlow Datasets."""

from __future__ import annotations

from labdl.data.sources.known_set import KnownSet, RemoteFile
from labdl.data.sources.ucf101 import read_ucf101

_UCF101 = (
    RemoteFile(
        "UCF101_videos.zip",  # the authors' own archive, UCF101.rar, wants a program for rar
        ("https://storage.googleapis.com/thumos14_files/UCF101_videos.zip",),
        "sha256:dabf56f573cd19c79e096563529fec8126a2a34e18e10c72eb621dd687532b0d",
        6_960_400_115,
    ),
    RemoteFile(
        "UCF101TrainTestSplits-RecognitionTask.zip",
        ("https://www.crcv.ucf.edu/data/UCF101/UCF101TrainTestSplits-RecognitionTask.zip",),
        "sha256:5c0d1a53b8ed364a2ac830a73f405e51bece7d98ce1254fd19ed4a36b224bd27",
        113_943,
    ),
)

VIDEOS = [
    KnownSet(
        "ucf101",
        "UCF101: videos of 101 human actions, 320 × 240, in three ways of splitting",
        {f"{part}{n}": _UCF101 for n in (1, 2, 3) for part in ("train", "test")},
        read_ucf101,
        '{"video": Video, "label": int}',
        "https://www.crcv.ucf.edu/data/UCF101.php",
        "none stated",
        "K. Soomro, A. R. Zamir, M. Shah: UCF101: a dataset of 101 human actions classes, arXiv:1212.0402, 2012",
        pair=("train1", "test1"),
        classes=101,
        samples={"train1": 9_537, "test1": 3_783, "train2": 9_586, "test2": 3_734, "train3": 9_624, "test3": 3_696},
        settings=("frames", "stride", "sampling", "clips", "step", "fps", "seed", "sound", "sample_rate"),
    ),
]
