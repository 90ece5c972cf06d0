"""Bugs that were reported for other libraries' transforms, splits, streams and archives, tried here.

| source | subject | here |
|---|---|---|
| albumentations-team/albumentations#961, #1149 | boxes lie beside their objects in a rotated picture that grows | on them |
| pytorch/vision#8654 | a rotated picture and its boxes are of sizes that differ by one | one size |
| facebookresearch/AugLy#249 | boxes after a quarter turn and back are others | the same |
| albumentations-team/albumentations#2018, #1765, kornia/kornia#1735 | key points and boxes beside the crop | on it |
| pytorch/vision#7268 | IoUCrop empties the boxes inside instead of those outside | those outside |
| pytorch/vision#7878 | SanitizeBoundingBoxes takes another entry for the labels | entries of as many rows |
| kornia/kornia#2002, albumentations-team/albumentations#66 | masks get class numbers that there are not | none |
| pytorch/vision#6568 | the margin of a mask is the picture's fill | its own |
| pytorch/pytorch#5059, Lightning-AI/pytorch-lightning#20412 | workers and epochs draw the same numbers | others |
| BatteryDEV/AutoECM#13, marin-community/marin#2700 | parts of a shuffled set overlap | no sample in both |
| tensorflow/tensorflow#38430, keras-team/keras-preprocessing#205 | a sorted set splits into classes | drawn from all |
| mjkvaak/ImageDataAugmentor#12 | the validation part is augmented too | only the part that is mapped |
| huggingface/datasets#7156, #7196 | joined streams are not shuffled anew in each pass | they are |
| huggingface/datasets#5812 | a joined stream that is shuffled loses samples | none |
| huggingface/datasets#7901 | a shuffled set cannot go on in the middle | the same rest |
| huggingface/datasets#7868, #7567 | shards of joined sets have samples twice | once |
| webdataset/webdataset#428 | keys of more than 128 letters are cut | whole |
| webdataset/webdataset#237, huggingface/datasets#7144 | "22.05.png" is the entry "05.png" | so by the format; not written |
| webdataset/webdataset#463 | archives of one name in two folders hide each other | both are read |
| webdataset/webdataset#157 | a member twice in a sample | was silent, the last one; refused |
| NVIDIA-NeMo/Speech#3298 | masks of time all begin at 0 | anywhere |
| mlcommons/training#492 | masks never reach the last frame | so here too, as in torchaudio |
"""

import io
import itertools
import tarfile

import numpy as np
import pytest

from labdl import data
from labdl.data import transforms as T
from labdl.errors import DataError, FileFormatError

HEIGHT, WIDTH = 40, 64
BOX = [12, 10, 30, 24]  # left, top, right, bottom


def sample():
    """A white rectangle on black with its box, mask and corners."""
    left, top, right, bottom = BOX
    image = np.zeros((HEIGHT, WIDTH, 3), "uint8")
    image[top:bottom, left:right] = 255
    canvas = HEIGHT, WIDTH
    return {
        "image": data.Image(image),
        "mask": data.Mask((image[..., 0] > 0) * np.uint8(7)),
        "boxes": data.BoundingBoxes([BOX, [50, 30, 60, 38]], canvas_size=canvas),
        "labels": np.array([3, 4]),
        "keypoints": data.KeyPoints([[left, top], [right - 1, bottom - 1]], canvas_size=canvas),
    }


def extent(image) -> list[int]:
    rows, columns = np.nonzero(np.asarray(image)[..., 0] > 127)
    return [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]


@pytest.mark.parametrize("degrees", [-37.0, 20.0, 45.0, 90.0])
def test_a_rotation_that_grows_moves_boxes_with_the_picture(degrees):
    turned = T.Rotate(degrees, expand=True)(sample())
    assert turned["boxes"].canvas_size == turned["image"].canvas == turned["mask"].canvas
    np.testing.assert_allclose(turned["boxes"][0], extent(turned["image"]), atol=1.5)


def test_quarter_turns_come_back():
    turn, back = T.Rot90(k=1), T.Rot90(k=3)
    for name, part in back(turn(sample())).items():
        np.testing.assert_array_equal(part, sample()[name])


@pytest.mark.parametrize("seed", range(4))
def test_crops_that_resize_move_boxes_and_points_with_the_picture(seed):
    crop = T.RandomResizedCrop((80, 96), scale=(0.6, 0.9))(sample(), rng=seed)
    left, top, right, bottom = extent(crop["image"])
    np.testing.assert_allclose(crop["boxes"][0], [left, top, right, bottom], atol=2)
    if left > 1 and top > 1:  # the corner is inside
        np.testing.assert_allclose(crop["keypoints"][0], [left, top], atol=2.5)


def test_iou_crop_empties_the_boxes_outside():
    for seed in range(20):
        crop = T.IoUCrop(sampler_options=(0.3, 1.0))(sample(), rng=seed)
        areas = (crop["boxes"][:, 2] - crop["boxes"][:, 0]) * (crop["boxes"][:, 3] - crop["boxes"][:, 1])
        white = int((crop["image"][..., 0] > 127).sum())
        assert white > 0 or areas[0] == 0
        assert areas[0] == 0 or abs(areas[0] - white) <= 1
        kept = T.SanitizeBoundingBoxes()(crop)
        np.testing.assert_array_equal(kept["labels"], crop["labels"][areas > 0])


@pytest.mark.parametrize(
    "warp",
    [
        T.Elastic(alpha=40.0),
        T.Affine(degrees=20.0, shear=(10.0, 0.0)),
        T.Perspective(p=1.0),
        T.Rotate(33.0),
        T.Resize(25),
    ],
    ids=lambda warp: type(warp).__name__,
)
def test_masks_have_no_new_class_numbers(warp):
    assert set(np.unique(warp(sample(), rng=2)["mask"])) <= {0, 7}


def test_the_margin_of_a_mask_is_its_own():
    padded = T.Pad(4, fill=9, mask_fill=255)(sample())
    assert (padded["image"][0] == 9).all()
    assert (padded["mask"][0] == 255).all()


class Draws:
    def __len__(self):
        return 12

    def __getitem__(self, index, rng):
        return np.float32(rng.random()), index


@pytest.mark.parametrize("workers", [0, 3])
def test_workers_and_epochs_draw_other_numbers(workers):
    loader = data.SampleDataset(Draws(), seed=1).loader(4, workers=workers)
    epochs = [np.concatenate([batch[0] for batch in loader.epoch(epoch)]) for epoch in range(2)]
    assert len(np.unique(np.concatenate(epochs))) == 24


def numbers(count=100):
    return data.SampleDataset([(np.float32(i), i // (count // 4)) for i in range(count)])


def test_parts_of_a_shuffled_set_do_not_overlap_and_have_all_classes():
    for dataset in (numbers(), numbers().shuffle(seed=5)):
        train, test = dataset.split(0.8, seed=3)
        ours, theirs = ({float(x) for x, _ in part} for part in (train, test))
        assert not ours & theirs
        assert len(ours | theirs) == 100
        assert set(test.labels().tolist()) == {0, 1, 2, 3}
    train, test = numbers().split(0.8, seed=3, stratify=True)
    assert np.bincount(test.labels()).tolist() == [5] * 4
    assert train.map(lambda pair: (pair[0] + 1000, pair[1]))[0][0] >= 1000
    assert max(x for x, _ in test) < 1000


def stream(start):
    return data.IterableDataset([np.float32(start + i) for i in range(25)]).shuffle(8, seed=1)


@pytest.mark.parametrize("join", ["interleave", "concat"])
def test_joined_streams_are_shuffled_in_each_pass_and_lose_nothing(join):
    joined = getattr(stream(0), join)(stream(100))
    first, second = (list(map(float, joined.read(epoch))) for epoch in (0, 1))
    assert first != second
    expected = sorted([*range(25), *range(100, 125)])
    assert sorted(first) == sorted(second) == expected
    assert sorted(map(float, joined.shuffle(1000, seed=2))) == expected


def test_a_shuffled_set_goes_on_in_the_middle():
    loader = numbers(32).shuffle(seed=4).loader(4, shuffle=True, seed=9)
    batches = [batch[0].tolist() for batch in loader.epoch(1)]
    assert [batch[0].tolist() for batch in loader.epoch(1, start=3)] == batches[3:]


def test_shards_of_joined_sets_have_each_sample_once():
    joined = numbers(20).interleave(numbers(24), block=3)
    shards = [[float(x) for x, _ in joined.shard(4, i)] for i in range(4)]
    assert sorted(itertools.chain(*shards)) == sorted([*range(20), *range(24)])
    parts = [list(map(float, stream(0).interleave(stream(100)).shard(4, i))) for i in range(4)]
    assert len(set(itertools.chain(*parts))) == 50


# -- WebDataset


def archive(path, members):
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as tar:
        for name, content in members:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return path


def test_long_keys_are_whole_and_keys_with_dots_are_not_written(tmp_path):
    key = "k" * 300
    data.write_webdataset([{"__key__": key, "label": 3}], tmp_path / "long.tar")
    assert data.WebDataset(tmp_path / "long.tar")[0] == {"__key__": key, "label.cls": 3}
    with pytest.raises(DataError, match=r"the key '22\.05' of sample 0 cannot be the name of a file"):
        data.write_webdataset([{"__key__": "22.05", "label": 3}], tmp_path / "dots.tar")


def test_archives_of_one_name_in_two_folders(tmp_path):
    paths = [archive(tmp_path / part / "0.tar", [("1.txt", part.encode())]) for part in ("a", "b")]
    assert [s["txt"] for s in data.WebDataset(paths)] == ["a", "b"]


def test_a_member_twice_in_a_sample_is_refused(tmp_path):
    path = archive(tmp_path / "twice.tar", [("1.txt", b"first"), ("1.cls", b"0"), ("1.txt", b"second")])
    with pytest.raises(FileFormatError, match=r"twice\.tar has 1\.txt twice in a sample"):
        data.WebDataset(path)


def test_masks_of_time_lie_anywhere():
    spectrogram = data.Spectrogram(np.ones((1, 8, 30), "float32"))
    zero = np.stack([T.TimeMasking(10)(spectrogram, rng=seed)[0, 0] == 0 for seed in range(300)])
    assert zero[:, 0].any()
    assert zero[:, -2].any()
    assert zero[:, :-1].any(0).all()
    assert not zero.all(1).any()
