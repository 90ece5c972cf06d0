"""The known sets of pictures; hashes are those published by the authors or in torchvision."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from labdl.data.annotations.coco import CocoDetection
from labdl.data.annotations.voc import VOCDetection, VOCSegmentation
from labdl.data.dataset import Dataset
from labdl.data.sources.cifar import read_cifar10, read_cifar100
from labdl.data.sources.idx import read_idx_pictures
from labdl.data.sources.known_set import KnownSet, RemoteFile
from labdl.data.sources.pets import OxfordPets
from labdl.data.sources.svhn import read_svhn

_MNIST = ("https://ossci-datasets.s3.amazonaws.com/mnist/", "https://storage.googleapis.com/cvdf-datasets/mnist/")
_FASHION = ("http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",)
_VOC = ("https://thor.robots.ox.ac.uk/pascal/VOC/", "http://host.robots.ox.ac.uk/pascal/VOC/")
_PETS = ("https://www.robots.ox.ac.uk/~vgg/data/pets/data/", "https://thor.robots.ox.ac.uk/datasets/pets/")
_COCO = ("http://images.cocodataset.org/",)
_CLOTHES = ["T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"]


def _file(bases: tuple[str, ...], path: str, hash: str, size: int | None = None) -> RemoteFile:
    return RemoteFile(path.rpartition("/")[2], tuple(base + path for base in bases), hash, size)


def _idx_files(
    bases: tuple[str, ...], train: tuple[str, str], test: tuple[str, str]
) -> dict[str, tuple[RemoteFile, ...]]:
    """Files of a set in the form of MNIST, by the MD5 of pictures and labels."""
    kinds = ("images-idx3", "labels-idx1")
    return {
        split: tuple(
            _file(bases, f"{prefix}-{kind}-ubyte.gz", f"md5:{md5}") for kind, md5 in zip(kinds, hashes, strict=True)
        )
        for split, prefix, hashes in (("train", "train", train), ("test", "t10k", test))
    }


def _read_voc(split: str, folder: Path, *, year: int) -> Dataset:
    data = VOCDetection(folder / "VOCdevkit" / f"VOC{year}", split=split)
    data.name = f"VOC {year} ({split})"
    return data


def _read_voc_masks(split: str, folder: Path, *, year: int, target: Literal["class", "object"] = "class") -> Dataset:
    data = VOCSegmentation(folder / "VOCdevkit" / f"VOC{year}", split=split, target=target)
    data.name = f"VOC {year} masks ({split})"
    return data


def _read_coco(split: str, images: Path, annotations: Path, *, task: str = "instances", **settings: Any) -> Dataset:
    file = annotations / "annotations" / f"{task}_{split}2017.json"
    data = CocoDetection(images / f"{split}2017", file, **settings)
    data.name = f"COCO 2017 {'' if task == 'instances' else 'key points '}({split})"
    return data


_CIFAR10 = RemoteFile(
    "cifar-10-binary.tar.gz",
    ("https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",),
    "md5:c32a1d4ab5d03f1284b67883e8d87530",
    170_052_171,
)
_CIFAR100 = RemoteFile(
    "cifar-100-binary.tar.gz",
    ("https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz",),
    "md5:03b5dce01913d631647c71ecec9e9cb8",
)
_SVHN = {
    split: (_file(("http://ufldl.stanford.edu/housenumbers/",), f"{split}_32x32.mat", f"md5:{md5}"),)
    for split, md5 in (
        ("train", "e26dedcc434d2e4c54c9b2d4a06d8373"),
        ("test", "eb5a983be6a315427106f1b164d9cef3"),
        ("extra", "a93ce644f1a588dc4d68dda5feec44a7"),
    )
}
_PET_FILES = (
    _file(_PETS, "images.tar.gz", "md5:5c4f3ee8e5d25df40f4fd59a7f44e54c"),
    _file(_PETS, "annotations.tar.gz", "md5:95a8c909bbe2e81eed6a22bccdf3f68f"),
)
_VOC2007 = _file(_VOC, "voc2007/VOCtrainval_06-Nov-2007.tar", "md5:c52e279531787c972589f7e41ab4ae64")
_VOC2007_TEST = _file(_VOC, "voc2007/VOCtest_06-Nov-2007.tar", "md5:b6e924de25625d8de591ea690078ad9f")
_VOC2012 = _file(_VOC, "voc2012/VOCtrainval_11-May-2012.tar", "md5:6cd6e144f989b92b3379bac3b3de84fd")
_COCO_LABELS = _file(
    _COCO, "annotations/annotations_trainval2017.zip", "md5:f4bbac642086de4f52a3fdda2de5fa2c", 252_907_541
)
_COCO_FILES = {
    "train": (_file(_COCO, "zips/train2017.zip", "md5:cced6f7f71b7629ddf16f17bbcfab6b2", 19_336_861_798), _COCO_LABELS),
    "val": (_file(_COCO, "zips/val2017.zip", "md5:442b8da7639aecaf257c1dceb8ba8c80", 815_585_330), _COCO_LABELS),
}
_PICTURE = '{"image": Image, "label": int}'
_BOXES = '{"image": Image, "boxes": BoundingBoxes (objects, 4), "labels": (objects,), "difficult": (objects,)}'
_MASKS = '{"image": Image, "mask": Mask of 0 background, 1 to 20 classes, 255 border}'

_MNIST_SET = KnownSet(
    "mnist",
    "MNIST: handwritten digits, 28 × 28, grey",
    _idx_files(
        _MNIST,
        ("f68b3c2dcbeaaa9fbdd348bbdeb94873", "d53e105ee54ea40749a09fcbcd1e9432"),
        ("9fb629c4189551a2d022fa330f9573f3", "ec29112dd5afa0611ce80d1b7f02629c"),
    ),
    partial(read_idx_pictures, name="MNIST", classes=[str(n) for n in range(10)]),
    f"{_PICTURE}, (28, 28, 1) uint8",
    "http://yann.lecun.com/exdb/mnist/",
    "CC BY-SA 3.0",
    "Y. LeCun, L. Bottou, Y. Bengio, P. Haffner: Gradient-based learning applied to document recognition, 1998",
    classes=10,
    samples={"train": 60_000, "test": 10_000},
)
_CIFAR10_SET = KnownSet(
    "cifar10",
    "CIFAR-10: small color pictures of 10 classes, 32 × 32",
    {"train": (_CIFAR10,), "test": (_CIFAR10,)},
    read_cifar10,
    f"{_PICTURE}, (32, 32, 3) uint8",
    "https://www.cs.toronto.edu/~kriz/cifar.html",
    "none stated",
    "A. Krizhevsky: Learning multiple layers of features from tiny images, 2009",
    classes=10,
    samples={"train": 50_000, "test": 10_000},
)
_PETS_SET = KnownSet(
    "oxford_iiit_pet",
    "Oxford-IIIT Pet: cats and dogs of 37 breeds",
    {"trainval": _PET_FILES, "test": _PET_FILES},
    OxfordPets,
    _PICTURE,
    "https://www.robots.ox.ac.uk/~vgg/data/pets/",
    "CC BY-SA 4.0",
    "O. M. Parkhi, A. Vedaldi, A. Zisserman, C. V. Jawahar: Cats and dogs, CVPR 2012",
    pair=("trainval", "test"),
    classes=37,
    samples={"trainval": 3_680, "test": 3_669},
)
_VOC2007_SET = KnownSet(
    "voc2007",
    "Pascal VOC 2007: boxes of 20 classes",
    {"train": (_VOC2007,), "val": (_VOC2007,), "trainval": (_VOC2007,), "test": (_VOC2007_TEST,)},
    partial(_read_voc, year=2007),
    _BOXES,
    "http://host.robots.ox.ac.uk/pascal/VOC/voc2007/",
    "terms of use of Flickr",
    "M. Everingham and others: The Pascal visual object classes (VOC) challenge, IJCV 2010",
    pair=("trainval", "test"),
    classes=20,
    samples={"train": 2_501, "val": 2_510, "trainval": 5_011, "test": 4_952},
)
_VOC2012_SET = KnownSet(
    "voc2012",
    "Pascal VOC 2012: boxes of 20 classes",
    {"train": (_VOC2012,), "val": (_VOC2012,), "trainval": (_VOC2012,)},
    partial(_read_voc, year=2012),
    _BOXES,
    "http://host.robots.ox.ac.uk/pascal/VOC/voc2012/",
    "terms of use of Flickr",
    "M. Everingham and others: The Pascal visual object classes challenge: a retrospective, IJCV 2015",
    pair=("train", "val"),
    classes=20,
    samples={"train": 5_717, "val": 5_823, "trainval": 11_540},
)
_COCO_SET = KnownSet(
    "coco2017",
    "COCO 2017: boxes and masks of 80 classes",
    _COCO_FILES,
    _read_coco,
    '{"image": Image, "boxes": BoundingBoxes (objects, 4), "labels": (objects,), "area", "iscrowd", "image_id"}',
    "https://cocodataset.org",
    "annotations CC BY 4.0, pictures by the terms of use of Flickr",
    "T.-Y. Lin and others: Microsoft COCO: common objects in context, ECCV 2014",
    pair=("train", "val"),
    classes=80,
    samples={"train": 118_287, "val": 5_000},
    settings=("masks", "crowds"),
)

# sets that share files with another one differ in what they read
PICTURES = [
    _MNIST_SET,
    KnownSet(
        "fashion_mnist",
        "Fashion-MNIST: clothes, 28 × 28, grey",
        _idx_files(
            _FASHION,
            ("8d4fb7e6c68d591d4c3dfef9ec88bf0d", "25c81989df183df01b3e8a0aad5dffbe"),
            ("bef4ecab320f06d8554ea6380940ec79", "bb300cfdad3c16e7a12a480ee83cd310"),
        ),
        partial(read_idx_pictures, name="Fashion-MNIST", classes=_CLOTHES),
        _MNIST_SET.sample,
        "https://github.com/zalandoresearch/fashion-mnist",
        "MIT",
        "H. Xiao, K. Rasul, R. Vollgraf: Fashion-MNIST: a novel image dataset for benchmarking, arXiv:1708.07747, 2017",
        classes=10,
        samples=_MNIST_SET.samples,
    ),
    _CIFAR10_SET,
    replace(
        _CIFAR10_SET,
        name="cifar100",
        title="CIFAR-100: small color pictures of 100 classes, 32 × 32",
        files={"train": (_CIFAR100,), "test": (_CIFAR100,)},
        read=read_cifar100,
        sample='{"image": Image, "label": int, "superclass": int}, (32, 32, 3) uint8',
        classes=100,
    ),
    KnownSet(
        "svhn",
        "SVHN: digits of house numbers, 32 × 32, color",
        _SVHN,
        read_svhn,
        _CIFAR10_SET.sample,
        "http://ufldl.stanford.edu/housenumbers/",
        "non-commercial use only",
        "Y. Netzer and others: Reading digits in natural images with unsupervised feature learning, 2011",
        classes=10,
        samples={"train": 73_257, "test": 26_032, "extra": 531_131},
    ),
    _PETS_SET,
    replace(
        _PETS_SET,
        name="oxford_iiit_pet_masks",
        title="Oxford-IIIT Pet: masks of cats and dogs",
        read=partial(OxfordPets, masks=True),
        sample='{"image": Image, "mask": Mask of 0 animal, 1 background, 2 border, "label": int}',
        classes=3,
    ),
    _VOC2007_SET,
    replace(
        _VOC2007_SET,
        name="voc2007_masks",
        title="Pascal VOC 2007: masks of 20 classes and the background",
        read=partial(_read_voc_masks, year=2007),
        sample=_MASKS,
        classes=21,
        samples={"train": 209, "val": 213, "trainval": 422, "test": 210},
        settings=("target",),
    ),
    _VOC2012_SET,
    replace(
        _VOC2012_SET,
        name="voc2012_masks",
        title="Pascal VOC 2012: masks of 20 classes and the background",
        read=partial(_read_voc_masks, year=2012),
        sample=_MASKS,
        classes=21,
        samples={"train": 1_464, "val": 1_449, "trainval": 2_913},
        settings=("target",),
    ),
    _COCO_SET,
    replace(
        _COCO_SET,
        name="coco2017_keypoints",
        title="COCO 2017: key points of people",
        read=partial(_read_coco, task="person_keypoints", keypoints=True),
        sample='{"image": Image, "boxes": BoundingBoxes, "keypoints": KeyPoints (objects, 17, 3), "labels": (objects,), ...}',
        classes=1,
    ),
]
