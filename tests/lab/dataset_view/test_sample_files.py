"""The file of a sample, for those who want to look at a broken one."""

import json

import numpy as np
import pytest

from labdl import data
from labdl.data.codecs.image import encode_image
from labdl.lab.dataset_view.source import sample_file

PICTURE = encode_image(np.zeros((8, 8, 3), np.uint8), "png")


def write(root, *names):
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(PICTURE)


@pytest.fixture
def folder(tmp_path):
    write(tmp_path, "d/a/1.png", "d/a/2.png", "d/b/3.png")
    return data.ImageFolder(tmp_path / "d")


def test_folders_and_what_is_selected_from_them(tmp_path, folder):
    assert sample_file(folder, 1) == tmp_path / "d/a/2.png"
    assert sample_file(folder.map(data.transforms.ToFloat()), 2) == tmp_path / "d/b/3.png"
    assert sample_file(folder.concat(folder.take(1)), 3) == tmp_path / "d/a/1.png"


def test_annotated_pictures(tmp_path):
    write(tmp_path, "yolo/images/1.png", "coco/sub/7.png", "masks/images/m.png", "masks/masks/m.png")
    coco = {
        "images": [{"id": 1, "file_name": "sub/7.png", "width": 8, "height": 8}],
        "annotations": [],
        "categories": [],
    }
    (tmp_path / "c.json").write_text(json.dumps(coco))
    assert sample_file(data.YOLODetection(tmp_path / "yolo"), 0) == tmp_path / "yolo/images/1.png"
    assert sample_file(data.CocoDetection(tmp_path / "coco", tmp_path / "c.json"), 0) == tmp_path / "coco/sub/7.png"
    masks = data.SegmentationFolder(tmp_path / "masks/images", tmp_path / "masks/masks")
    assert sample_file(masks, 0) == tmp_path / "masks/images/m.png"


def test_what_is_in_no_file_has_none(tmp_path, folder):
    assert sample_file(data.ArrayDataset(np.zeros((2, 3))), 1) is None
    (tmp_path / "d/a/2.png").unlink()
    (tmp_path / "d/a/2.png").symlink_to(tmp_path / "elsewhere")
    assert sample_file(folder, 1) is None  # a link out of the folder

    class Own(data.Dataset):
        def __len__(self):
            return 1

        def read(self, index, epoch=0):
            return 1

        def path(self, index):
            raise RuntimeError("of the user")

    assert sample_file(Own(), 0) is None
