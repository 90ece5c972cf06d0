"""Bugs that were reported for other readers of annotations, videos and tokenizers, tried here.

| source | subject | here |
|---|---|---|
| cocodataset/cocoapi#355 | a box of height 0 stops the training | kept, SanitizeBoundingBoxes drops it |
| ppwwyyxx/cocoapi#12, deepinsight/insightface#2889 | run lengths beyond the picture write past the memory | refused |
| talmolab/sleap-io#487 | run lengths as text fail | read |
| thtrieu/darkflow#151, zzh8829/yolov3-tf2#214 | right edge left of the left one, loss NaN | was kept; refused, with the file |
| facebookresearch/detectron2#788, #1861 | objects drawn on a picture that EXIF turns | was shifted; stays as stored |
| facebookresearch/detectron2#3328 | size in the annotations is not that of the picture | was silent; refused |
| open-edge-platform/datumaro#16 | merged files with one id twice lose objects | was silent; refused |
| wkentaro/labelme#1784, encord-team/encord-active#218 | names of pictures with \\ | was not found; read |
| open-mmlab/mmdetection#4729 | VOC without "difficult" | read |
| blue-oil/blueoil#1228 | VOC with fractions of pixels | read |
| Lab41/pelops#72, alek-sys/sublimetext_indentxml#104 | XML in gb2312 | was refused; read |
| ultralytics/yolov5#10685, ultralytics/ultralytics#7907 | labels with commas | was refused; read |
| ultralytics/yolov5#10632 | polygon slightly outside | read up to 1 % |
| ultralytics/yolov5#5210 | an object twice | kept as in the file |
| ultralytics/ultralytics#18891, #1970 | key points behind the box | was a polygon or refused; read by kpt_shape |
| ultralytics/ultralytics#1593 | nc and names differ, numbers of names have gaps | was silent; refused |
| open-edge-platform/anomalib#3058 | suffixes in capitals | read |
| dmlc/decord#373, #375 | more frames in the head than in the file: endless loop | refused |
| dmlc/decord#91, #54, gcanat/video_reader-rs#78 | random access gives other frames than reading on | the same frames |
| meta-pytorch/torchcodec#1209, pytorch/audio#3824 | a video that begins later than 0 | was refused in matroska and webm; read |
| huggingface/tokenizers#517 | unknown characters vanish | number of the unknown token |
| huggingface/tokenizers#156, #81, #215 | offsets of bytes and of Chinese | places in the text |
| huggingface/transformers#43459, openai/tiktoken#82 | half of a surrogate pair is a TypeError | was; refused in a sentence |
| huggingface/transformers#24179, spiceai/spiceai#13416 | padding of tokenizer.json counts as text | was; left out |
| meta-llama/llama3#276, huggingface/tokenizers#1609 | numbers of tokens above vocab_size | was; the highest counts |
| google/sentencepiece#605, #4 | vocabulary larger than the texts allow | becomes smaller |
"""

import fractions
import io
import json

import numpy as np
import PIL.Image
import pytest

from labdl import data
from labdl.data import transforms as T
from labdl.errors import DataError, FileFormatError

HEIGHT, WIDTH = 20, 30


def picture(path, orientation=1):
    path.parent.mkdir(parents=True, exist_ok=True)
    exif = PIL.Image.Exif()
    exif[0x0112] = orientation
    PIL.Image.fromarray(np.zeros((HEIGHT, WIDTH, 3), "uint8")).save(path, "jpeg", exif=exif)


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


# -- COCO


@pytest.fixture
def coco(tmp_path):
    def build(*objects, images=({"id": 1, "file_name": "a.jpg"},), categories=({"id": 1, "name": "cat"},), **settings):
        picture(tmp_path / "a.jpg")
        known = {"image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4]}
        annotations = [{"id": number, **known, **entry} for number, entry in enumerate(objects)]
        content = {"images": images, "categories": categories, "annotations": annotations}
        write(tmp_path / "objects.json", b"\xef\xbb\xbf" + json.dumps(content).encode())
        return data.CocoDetection(tmp_path, tmp_path / "objects.json", **settings)

    return build


def test_boxes_without_area_are_dropped_by_a_transform(coco):
    flat = {"bbox": [9, 8, 5, 0], "area": None, "segmentation": [[9, 8, 15, 8, 15, 8, 11, 8]]}
    sample = coco(flat, {}, masks=True)[0]
    np.testing.assert_array_equal(sample["boxes"], [[9, 8, 14, 8], [1, 2, 4, 6]])
    np.testing.assert_array_equal(sample["area"], [0, 12])
    assert not sample["masks"][0].any()
    assert T.SanitizeBoundingBoxes()(sample)["boxes"].tolist() == [[1, 2, 4, 6]]


def test_run_lengths_fill_the_picture_exactly(coco):
    for counts in ([0, 700], [600, 1], [-5, 605], [599], "0" * 50, "\\UbU7"):
        with pytest.raises(DataError, match="run lengths"):
            coco({"segmentation": {"size": [HEIGHT, WIDTH], "counts": counts}}, masks=True)[0]
    mask = np.zeros((HEIGHT, WIDTH), np.uint8)
    mask[3:9, 4:6] = 1
    for counts in ([83, 6, 14, 6, 491], "c26>0m>"):
        sample = coco(
            {"iscrowd": 1, "segmentation": {"size": [HEIGHT, WIDTH], "counts": counts}}, masks=True, crowds=True
        )[0]
        np.testing.assert_array_equal(sample["masks"][0], mask)


@pytest.mark.parametrize("box", [[10, 2, -3, 4], [1, 2, 3, -4], [1, 2, 3], [1, 2, 3, 4, 5], [], None, "1234"])
def test_a_box_is_four_numbers_in_order(coco, box):
    with pytest.raises(DataError, match=r"a\.jpg are damaged.*(bbox of four numbers|has the box)"):
        coco({"bbox": box})[0]


def test_key_points_are_three_numbers_each(coco):
    with pytest.raises(DataError, match="no keypoints of three numbers"):
        coco({"keypoints": [1, 2, 2, 3]}, keypoints=True)[0]


def test_objects_of_a_picture_that_is_stored_turned(coco, tmp_path):
    picture(tmp_path / "turned.jpg", orientation=6)
    stored = {"id": 1, "file_name": "turned.jpg", "height": HEIGHT, "width": WIDTH}
    assert coco({}, images=[stored])[0]["image"].canvas == (HEIGHT, WIDTH)
    upright = {**stored, "height": WIDTH, "width": HEIGHT}
    assert coco({}, images=[upright])[0]["image"].canvas == (WIDTH, HEIGHT)
    with pytest.raises(DataError, match=r"turned\.jpg has 30 × 20 pixels, its annotations are of 200 × 300"):
        coco({}, images=[{**stored, "height": 200, "width": 300}])[0]


def test_ids_are_unique_and_names_of_windows_are_found(coco, tmp_path):
    twice = [{"id": 1, "file_name": "a.jpg"}, {"id": 1, "file_name": "b.jpg"}]
    with pytest.raises(FileFormatError, match="the id 1 is that of 2 images"):
        coco({}, images=twice)
    with pytest.raises(FileFormatError, match="the id 1 is that of 2 categories"):
        coco({}, categories=[{"id": 1, "name": "cat"}, {"id": 1, "name": "dog"}])
    picture(tmp_path / "part" / "b.jpg")
    assert len(coco({}, images=[{"id": 1, "file_name": "part\\b.jpg"}])[0]["boxes"]) == 1
    with pytest.raises(DataError, match="is not below"):
        coco({}, images=[{"id": 1, "file_name": "..\\..\\b.jpg"}])[0]


# -- VOC

OBJECT = "<object><name>{}</name><bndbox><xmin>{}</xmin><ymin>2</ymin><xmax>{}</xmax><ymax>9</ymax></bndbox></object>"


@pytest.fixture
def voc(tmp_path):
    def build(body, head="", encoding="utf-8", name="a"):
        picture(tmp_path / "JPEGImages" / f"{name}.jpg")
        write(tmp_path / "Annotations" / f"{name}.xml", f"{head}<annotation>{body}</annotation>".encode(encoding))
        write(tmp_path / "ImageSets" / "Main" / "train.txt", f"{name}\n")
        write(tmp_path / "ImageSets" / "Main" / "cat_train.txt", f"{name}  -1\n")
        return data.VOCDetection(tmp_path, classes=["cat", "猫"], split="train")

    return build


def test_voc_without_difficult_and_with_fractions(voc):
    sample = voc(OBJECT.format("cat", 1.5, 5.25))[0]
    assert (sample["boxes"].tolist(), sample["difficult"].tolist()) == ([[0.5, 1, 5.25, 9]], [False])


@pytest.mark.parametrize("encoding", ["gb2312", "GBK", "gb18030", "utf-8"])
def test_voc_in_chinese(voc, encoding):
    sample = voc(OBJECT.format("猫", 1, 5), f'<?xml version="1.0" encoding="{encoding}"?>\n', encoding)[0]
    assert sample["labels"].tolist() == [1]


def test_voc_that_is_wrong_names_the_file(voc):
    for body, head, words in (
        (OBJECT.format("cat", 9, 5), "", "an object has the box"),
        (OBJECT.format("cat", "nan", 5), "", "an object has the box"),
        (OBJECT.format("cat", 1, 5), '<?xml version="1.0" encoding="unicode"?>', "no XML of annotations"),
        ("\N{CJK UNIFIED IDEOGRAPH-732B}", '<?xml version="1.0" encoding="gbk"?>', "no XML of annotations"),
    ):
        with pytest.raises(DataError, match=rf"a\.xml.*{words}"):
            voc(body, head)[0]
    size = "<size><width>{}</width><height>{}</height></size>"
    with pytest.raises(DataError, match="its annotations are of 200 × 300"):
        voc(size.format(300, 200))[0]
    assert len(voc(size.format(0, 0))[0]["boxes"]) == 0


def test_voc_names_with_blanks(voc, tmp_path):
    assert len(voc(OBJECT.format("cat", 1, 5), name="my picture 1")) == 1
    assert data.VOCDetection(tmp_path, split="train").names == ["my picture 1"[:-2]]
    assert data.VOCDetection(tmp_path, split="cat_train").names == ["my picture 1"]


# -- YOLO


@pytest.fixture
def yolo(tmp_path):
    def build(labels, settings=None):
        picture(tmp_path / "images" / "a.JPG")
        write(tmp_path / "labels" / "a.txt", labels)
        if settings is not None:
            write(tmp_path / "data.yaml", settings)
        return data.YOLODetection(tmp_path)

    return build


@pytest.mark.parametrize(
    "labels", ["0 .5 .5 .2 .2", "\ufeff0 .5 .5 .2 .2", "0.0 .5 .5 .2 .2", "0,.5,.5,.2,.2", "0, .5, .5, .2, .2\r\n\r\n"]
)
def test_forms_of_a_yolo_line(yolo, labels):
    sample = yolo(labels)[0]
    np.testing.assert_allclose(sample["boxes"], [[12, 8, 18, 12]])
    assert sample["labels"].tolist() == [0]


def test_yolo_objects_at_the_edge_and_twice(yolo):
    assert "masks" in yolo("0 .1 .1 1.0021 .1 .5 .9")[0]
    assert len(yolo("0 .5 .5 .2 .2\n" * 2)[0]["boxes"]) == 2
    for line in ("0 .5 .5 -.005 .2", "0.5 .5 .5 .2 .2", "inf .5 .5 .2 .2", "nan .5 .5 .2 .2", "0 .5 .5 .2 1.5"):
        with pytest.raises(DataError, match=r"a\.txt"):
            yolo(line)[0]


def test_yolo_key_points(yolo):
    names = "names: [cat]\nkpt_shape: [2, {}]\nflip_idx: [1, 0]"
    flat = yolo("0 .5 .5 .2 .2 .4 .4 .6 .6", names.format(2))[0]
    np.testing.assert_allclose(flat["keypoints"], [[[12, 8], [18, 12]]], rtol=1e-6)
    assert "masks" not in flat
    sample = yolo("0 .5 .5 .2 .2 .4 .4 2 .6 .6 0", names.format(3))[0]
    mirrored = T.HorizontalFlip(p=1)(sample)
    np.testing.assert_allclose(mirrored["keypoints"], [[[11, 12, 0], [17, 8, 2]]], rtol=1e-6)
    assert yolo("", names.format(3))[0]["keypoints"].shape == (0, 2, 3)
    with pytest.raises(DataError, match="2 points of 3 numbers, as kpt_shape says, received 8 numbers"):
        yolo("0 .5 .5 .2 .2 .4 .4 .6 .6", names.format(3))[0]
    for wrong in ("kpt_shape: [2, 4]", "kpt_shape: [0, 2]", "kpt_shape: 17", "kpt_shape: [2, 2]\nflip_idx: [1, 1]"):
        with pytest.raises(FileFormatError, match=r"data\.yaml: (kpt_shape|flip_idx)"):
            yolo("", f"names: [cat]\n{wrong}")


def test_yolo_names_are_numbered_from_0(yolo):
    by_text = ", ".join(f"'{i}': c{i}" for i in range(11))
    assert yolo("", f"names: {{{by_text}}}").classes == [f"c{i}" for i in range(11)]
    for wrong in ("names: {0: a, 2: c}", "names: {1: a, 2: c}", "names: {a: 0}", "nc: 3\nnames: [a]", "- a"):
        with pytest.raises(FileFormatError, match=r"data\.yaml"):
            yolo("", wrong)


# -- videos


def video(kind, codec, start=0, uneven=False) -> bytes:
    import av

    stream_of_bytes = io.BytesIO()
    with av.open(stream_of_bytes, "w", format=kind) as container:
        stream = container.add_stream(codec, rate=25)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        stream.codec_context.gop_size, stream.codec_context.time_base = 12, fractions.Fraction(1, 1000)
        if codec == "libvpx":
            stream.options = {"deadline": "realtime", "cpu-used": "8"}
        stamp = start
        for number in range(30):
            frame = av.VideoFrame.from_ndarray(np.full((48, 64, 3), 8 * number, "uint8"), format="rgb24")
            frame.pts, frame.time_base = stamp, fractions.Fraction(1, 1000)
            stamp += (20, 97, 20)[number % 3] if uneven else 40
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return stream_of_bytes.getvalue()


@pytest.mark.sample(every=2)
@pytest.mark.parametrize(
    ("kind", "codec", "start", "uneven"),
    [
        ("webm", "libvpx", 5000, False),
        ("matroska", "libx264", 5000, True),
        ("mp4", "libx264", 5000, True),
        ("mpegts", "libx264", 5000, False),
    ],
)
def test_frames_by_number_are_those_in_order(kind, codec, start, uneven):
    from labdl.data.codecs.video import decode_video

    encoded = video(kind, codec, start, uneven)
    whole = decode_video(encoded).array
    assert len(whole) == 30
    assert np.diff(whole.reshape(30, -1).mean(1)).min() > 4  # in the order of time
    for number in (29, 0, 12, 11, 13, 24, 1):
        np.testing.assert_array_equal(decode_video(encoded, frames=[number])[0], whole[number])
    for first in (10, 11, 12):
        np.testing.assert_array_equal(decode_video(encoded, frames=range(first, first + 4)), whole[first : first + 4])


def test_a_head_with_more_frames_than_the_file():
    from labdl.data.codecs.video import decode_video

    encoded = bytearray(video("mp4", "libx264"))
    at = encoded.index(b"stts")
    encoded[at + 12 : at + 16] = (400).to_bytes(4, "big")
    with pytest.raises(DataError, match="cut off"):
        decode_video(bytes(encoded), frames=[0, 200, 399])
    with pytest.raises(DataError, match="cut off"):
        decode_video(video("matroska", "libx264", 5000)[:-400])


# -- tokenizers

TEXTS = ["the quick brown fox jumps", "a fox and a dog", "今天天气很好", "naïve café ⭢ 😀"] * 6
KINDS = ["bpe", "wordpiece", "unigram"]


@pytest.fixture(scope="module")
def tokenizers():
    return {kind: data.text.Tokenizer.train(TEXTS, kind, 300 if kind == "bpe" else 60) for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_unknown_characters_stay_and_offsets_are_places_in_the_text(tokenizers, kind):
    tokenizer, text = tokenizers[kind], "fox ☃今天 ⭢ x"
    tokens = tokenizer.tokens(text, with_offsets=True)
    assert tokens.offsets.min() >= 0
    assert tokens.offsets.max() == len(text)
    covered = set().union(*(range(*pair) for pair in tokens.offsets.tolist()))
    assert {at for at, character in enumerate(text) if character != " "} <= covered
    if kind != "bpe":
        assert 0 in tokenizer.encode("☃", add_special_tokens=False)


@pytest.mark.parametrize("kind", [*KINDS, "sentencepiece"])
def test_half_of_a_surrogate_pair_is_refused_in_a_sentence(tokenizers, kind):
    tokenizer = tokenizers[kind] if kind in KINDS else data.text.SentencePiece.train(TEXTS, 60)
    for call in (tokenizer.encode, tokenizer.tokens, lambda text: tokenizer.encode_batch(["a", text])):
        with pytest.raises(DataError, match="without halves of characters"):
            call("a \ud800 b")


def test_padding_and_truncation_of_a_file_are_left_out(tokenizers):
    content = json.loads(tokenizers["wordpiece"].to_text())
    content["truncation"] = {"direction": "Right", "max_length": 4, "strategy": "LongestFirst", "stride": 0}
    fixed = {"strategy": {"Fixed": 12}, "direction": "Right", "pad_to_multiple_of": None}
    content["padding"] = {**fixed, "pad_id": 1, "pad_type_id": 0, "pad_token": "[PAD]"}
    tokenizer = data.text.Tokenizer.from_text(json.dumps(content))
    text = "the quick brown fox jumps"
    np.testing.assert_array_equal(tokenizer.encode(text), tokenizers["wordpiece"].encode(text))
    assert tokenizer.encode_batch(["a", "a fox"]).mask.sum(1).tolist() == [3, 4]


def test_the_highest_number_counts_where_numbers_are_left_out(tokenizers):
    content = json.loads(tokenizers["wordpiece"].to_text())
    content["model"]["vocab"]["a"] = 900
    tokenizer = data.text.Tokenizer.from_text(json.dumps(content))
    ids = tokenizer.encode("a fox")
    assert ids.max() == 900 < tokenizer.vocab_size == 901
    assert tokenizer.decode(ids) == "a fox"


def test_vocabularies_larger_than_the_texts_allow_become_smaller():
    assert data.text.SentencePiece.train(["a b c"], 8000).vocab_size < 20
    assert data.text.Tokenizer.train(["a b c"], "unigram", 8000).vocab_size < 20
    for train in (data.text.SentencePiece.train, data.text.Tokenizer.train):
        with pytest.raises(DataError, match="wants texts to be trained on, received none"):
            train(["", " \n"])


def test_suffixes_in_capitals(tmp_path):
    for name in ("1.JPG", "2.Jpeg"):
        picture(tmp_path / "cat" / name)
    assert len(data.ImageFolder(tmp_path)) == 2
