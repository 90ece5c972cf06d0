"""`open_splits` opens the training, validation and test part of a data set that has them, with one list of classes."""

import json

import numpy as np
import pytest

from labdl import data
from labdl.data import transforms as T
from labdl.data.codecs.audio import encode_audio
from labdl.data.codecs.image import encode_image
from labdl.errors import ConfigError, DataError, MissingFileError

PICTURE = encode_image(np.full((24, 32, 3), 90, np.uint8), "png")


def write(folder, *names, content=PICTURE):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def sizes(splits):
    return {name: len(dataset) for name, dataset in splits.items()}


@pytest.mark.parametrize(
    ("folders", "expected"),
    [
        (("train", "val"), {"training": 1, "validation": 1}),
        (("Train", "valid", "TEST"), {"training": 1, "validation": 1, "test": 1}),
        (("testing", "training", "validation"), {"training": 1, "validation": 1, "test": 1}),
        (("train2017", "dev"), {"training": 1, "validation": 1}),
        (("train", "eval", "__MACOSX"), {"training": 1, "test": 1}),
        (("val", "test"), {"validation": 1, "test": 1}),
    ],
)
def test_names_of_folders(tmp_path, folders, expected):
    write(tmp_path, *(f"{folder}/rose/1.png" for folder in folders))
    splits = data.open_splits(tmp_path)
    assert sizes(splits) == expected
    assert list(splits) == list(expected)
    assert {type(dataset) for dataset in splits.values()} == {data.ImageFolder}


def test_a_class_that_one_part_lacks_does_not_shift_the_labels(tmp_path):
    root = write(
        tmp_path / "flowers", "train/daisy/1.png", "train/rose/1.png", "train/tulip/1.png", "train/tulip/2.png"
    )
    write(root, "val/rose/1.png", "val/tulip/1.png", "test/tulip/1.png", "test/daisy/1.png")
    splits = data.open_splits(root)
    classes = ["daisy", "rose", "tulip"]
    assert {name: dataset.classes for name, dataset in splits.items()} == dict.fromkeys(splits, classes)
    for dataset in splits.values():
        for index in range(len(dataset)):
            own = dataset.path(index).parent.name  # the label that the folder says
            assert classes[dataset[index]["label"]] == classes[dataset.label_of(index)] == own
        assert [classes[label] for label in dataset.labels()] == [
            dataset.path(i).parent.name for i in range(len(dataset))
        ]
    assert [splits[name].name for name in splits] == ["flowers/train", "flowers/val", "flowers/test"]


@pytest.mark.parametrize("part", ["val", "test"])
def test_a_class_that_the_training_part_lacks_is_named(tmp_path, part):
    root = write(
        tmp_path / "flowers", "train/rose/1.png", "train/tulip/1.png", f"{part}/Rose/1.png", f"{part}/tulip/1.png"
    )
    with pytest.raises(DataError, match=rf"flowers/{part} has the class 'Rose'.*training part.*did you mean 'rose'"):
        data.open_splits(root)


def test_a_part_without_labels(tmp_path):
    """Pictures to predict, flat or in the one folder that other libraries want."""
    root = write(tmp_path / "pets", "train/cat/1.png", "train/dog/1.png", "val/dog/1.png", "test/1.png", "test/2.png")
    splits = data.open_splits(root)
    assert (list(splits["test"][0]), splits["test"].classes, splits["test"].targets) == (["image"], None, ())
    (root / "test" / "1.png").unlink()
    (root / "test" / "2.png").unlink()
    write(root, "test/unknown/1.png", "test/unknown/2.png")
    splits = data.open_splits(root)
    assert (len(splits["test"]), splits["test"].targets) == (2, ())
    assert splits["validation"].labels().tolist() == [1]


def test_sounds_and_manifests(tmp_path):
    sound = encode_audio(data.Audio(np.zeros(80), sample_rate=8000))
    write(tmp_path / "words", "train/no/1.wav", "train/yes/1.wav", "val/yes/1.wav", content=sound)
    assert data.open_splits(tmp_path / "words")["validation"].labels().tolist() == [1]
    for part, rows in (("train", "1.png,cat\n1.png,dog\n"), ("test", "1.png,dog\n")):
        write(tmp_path / "listed", f"{part}/1.png")
        write(tmp_path / "listed", f"{part}/metadata.csv", content=b"file_name,label\n" + rows.encode())
    splits = data.open_splits(tmp_path / "listed")
    assert (splits["test"].labels().tolist(), splits["test"].classes) == ([1], ["cat", "dog"])
    assert splits["test"][0]["label"] == 1


def test_a_manifest_of_all_folders_is_one_data_set(tmp_path):
    write(tmp_path, "train/1.png", "val/2.png")
    write(tmp_path, "metadata.csv", content=b"file_name,label\ntrain/1.png,cat\nval/2.png,dog\n")
    with pytest.raises(DataError, match="open_dataset"):
        data.open_splits(tmp_path)
    assert data.open_dataset(tmp_path).classes == ["cat", "dog"]


def test_archives_and_arrays_of_other_classes_cannot_be_numbered_again(tmp_path):
    for part, classes in (("train", ["cat", "dog"]), ("val", ["dog"])):
        samples = data.SampleDataset([{"x": np.float32([1]), "label": 0}])
        samples.classes = classes
        data.pack(samples, tmp_path / part)
    with pytest.raises(DataError, match=r"PackedDataset.*dog.*cat, dog"):
        data.open_splits(tmp_path)


def coco(folder, name, *, file, categories=("cat", "dog"), label="dog"):
    listed = [{"id": 10 + at, "name": each} for at, each in enumerate(categories)]
    content = {
        "images": [{"id": 7, "file_name": file, "width": 32, "height": 24}],
        "annotations": [{"id": 1, "image_id": 7, "category_id": 10 + categories.index(label), "bbox": [2, 3, 10, 11]}],
        "categories": listed,
    }
    write(folder, name, content=json.dumps(content).encode())


@pytest.mark.parametrize("pictures", ["", "images/"])
def test_coco(tmp_path, pictures):
    for part in ("train2017", "val2017"):
        write(tmp_path, f"{pictures}{part}/{part}.png")
        coco(tmp_path, f"annotations/instances_{part}.json", file=f"{part}.png")
        coco(tmp_path, f"annotations/person_keypoints_{part}.json", file=f"{part}.png")
        write(tmp_path, f"annotations/captions_{part}.json", content=b'{"images": [], "annotations": []}')
    splits = data.open_splits(tmp_path)
    assert sizes(splits) == {"training": 1, "validation": 1}
    for dataset in splits.values():
        assert isinstance(dataset, data.CocoDetection)
        assert (dataset.classes, dataset[0]["labels"].tolist()) == (["cat", "dog"], [1])
        np.testing.assert_allclose(dataset[0]["boxes"].array, [[2, 3, 12, 14]])


def test_coco_of_two_folders_with_their_own_categories(tmp_path):
    """As Roboflow exports it; the categories of a part may be fewer."""
    write(tmp_path, "train/1.png", "valid/2.png")
    coco(tmp_path, "train/_annotations.coco.json", file="1.png")
    coco(tmp_path, "valid/_annotations.coco.json", file="2.png", categories=("dog",))
    splits = data.open_splits(tmp_path)
    assert (splits["validation"].classes, splits["validation"][0]["labels"].tolist()) == (["cat", "dog"], [1])
    coco(tmp_path, "valid/_annotations.coco.json", file="2.png", categories=("cow",), label="cow")
    with pytest.raises(DataError, match="'cow'"):
        data.open_splits(tmp_path)


def test_yolo(tmp_path):
    names = b"names: [cat, dog]\n"
    root = write(tmp_path / "ultralytics", "images/train/1.png", "images/val/2.png", "images/test/3.png")
    write(root, "data.yaml", content=names)
    write(root, "labels/train/1.txt", "labels/val/2.txt", content=b"1 0.5 0.5 0.5 0.5\n")
    splits = data.open_splits(root)
    assert [dataset.paths for name, dataset in splits.items() if name != "test"] == [["train/1.png"], ["val/2.png"]]
    other = write(tmp_path / "roboflow", "train/images/1.png", "valid/images/2.png")
    write(other, "data.yaml", content=names)
    write(other, "train/labels/1.txt", "valid/labels/2.txt", content=b"1 0.5 0.5 0.5 0.5\n")
    for opened in (splits, data.open_splits(other)):
        for name in ("training", "validation"):
            assert opened[name].classes == ["cat", "dog"]
            assert opened[name][0]["labels"].tolist() == [1]
            np.testing.assert_allclose(opened[name][0]["boxes"].array, [[8, 6, 24, 18]])
    assert list(data.open_splits(root)["test"][0]) == ["image"]  # it has no labels, which is not "no objects"


def test_voc(tmp_path):
    box = "<bndbox><xmin>3</xmin><ymin>4</ymin><xmax>9</xmax><ymax>9</ymax></bndbox>"
    for number, name in enumerate(("wheel", "door", "door")):
        write(tmp_path, f"JPEGImages/{number}.png")
        xml = f"<annotation><object><name>{name}</name>{box}</object></annotation>"
        write(tmp_path, f"Annotations/{number}.xml", content=xml.encode())
    for name, rows in (("train", b"0\n"), ("val", b"1\n2\n"), ("trainval", b"0\n1\n2\n"), ("wheel_train", b"0 1\n")):
        write(tmp_path, f"ImageSets/Main/{name}.txt", content=rows)
    splits = data.open_splits(tmp_path)
    assert sizes(splits) == {"training": 1, "validation": 2}
    assert [dataset[0]["labels"].tolist() for dataset in splits.values()] == [[1], [0]]
    for name in ("train", "val"):
        (tmp_path / "ImageSets" / "Main" / f"{name}.txt").unlink()
    write(tmp_path, "ImageSets/Main/test.txt", content=b"2\n")
    assert sizes(data.open_splits(tmp_path)) == {"training": 3, "test": 1}


def test_masks(tmp_path):
    write(tmp_path, "images/training/1.png", "images/validation/2.png")
    mask = encode_image(np.ones((24, 32, 1), np.uint8), "png")
    write(tmp_path, "annotations/training/1.png", "annotations/validation/2.png", content=mask)
    splits = data.open_splits(tmp_path)
    assert sizes(splits) == {"training": 1, "validation": 1}
    assert splits["validation"][0]["mask"].max() == 1


def test_what_has_no_splits_says_what_to_do(tmp_path):
    write(tmp_path / "classes", "cat/1.png", "dog/1.png")
    with pytest.raises(DataError, match=r"train, val or test.*open_dataset.*split"):
        data.open_splits(tmp_path / "classes")
    with pytest.raises(MissingFileError, match="there is no"):
        data.open_splits(tmp_path / "nothing")
    write(tmp_path / "twice", "train/a/1.png", "val/a/1.png", "valid/a/1.png")
    with pytest.raises(DataError, match="several names for validation: val, valid"):
        data.open_splits(tmp_path / "twice")
    sound = encode_audio(data.Audio(np.zeros(80), sample_rate=8000))
    write(tmp_path / "mixed", "train/a/1.png")
    write(tmp_path / "mixed", "val/a/1.wav", content=sound)
    with pytest.raises(DataError, match=r"mixed/train has image, mixed/val audio"):
        data.open_splits(tmp_path / "mixed")
    (tmp_path / "both").mkdir()
    write(tmp_path / "both", "train/a/1.png", "val/a/1.png")
    with pytest.raises(DataError, match=r"the parts train, val.*open_splits"):
        data.open_dataset(tmp_path / "both")


def test_an_empty_folder_is_no_part(tmp_path):
    write(tmp_path, "train/a/1.png", "val/a/1.png")
    (tmp_path / "test").mkdir()
    assert list(data.open_splits(tmp_path)) == ["training", "validation"]


def test_links_out_of_the_folder_are_refused(tmp_path):
    write(tmp_path / "outside", "a/1.png")
    root = write(tmp_path / "inside", "train/a/1.png")
    (root / "val").symlink_to(tmp_path / "outside")
    with pytest.raises(DataError, match="val is a link out of the folder"):
        data.open_splits(root)


# -- pipelines


def numbered(folder, *names):
    """Pictures of one color each, by which they are known again."""
    for number, name in enumerate(names):
        write(folder, name, content=encode_image(np.full((6, 6, 3), number, np.uint8), "png"))
    return folder


def colors(dataset):
    return sorted(int(dataset[i]["image"].array[0, 0, 0]) for i in range(len(dataset)))


TRAIN = [f"train/{name}/{i}.png" for name in "ab" for i in range(5)]


def save(folder, name="flowers", steps=(), **settings):
    data.Pipeline(list(steps), dataset=name, **settings).save(folder / f"{name}.pipeline.json")
    return data.Pipeline.load(folder / f"{name}.pipeline.json")


def test_a_pipeline_takes_the_parts_of_its_folder(tmp_path):
    numbered(tmp_path / "flowers", *TRAIN, "val/b/0.png", "val/b/1.png", "test/a/0.png")
    steps = [T.HorizontalFlip(), T.ToDtype()]
    pipeline = save(tmp_path, steps=steps, phases=["training", "always"])
    train, validation = pipeline.datasets()
    assert (colors(train), colors(validation)) == (list(range(10)), [10, 11])
    assert (validation.labels().tolist(), validation.classes) == ([1, 1], ["a", "b"])
    assert (train.pipeline, validation.pipeline) == (pipeline, pipeline.evaluation())
    assert colors(pipeline.evaluation_dataset()) == [12]
    assert pipeline.evaluation_dataset().pipeline == pipeline.evaluation()
    assert list(data.open_splits(tmp_path / "flowers.pipeline.json")) == ["training", "validation", "test"]


def test_without_a_validation_part_the_training_part_is_split(tmp_path):
    numbered(tmp_path / "flowers", *TRAIN, "test/a/0.png")
    pipeline = save(tmp_path, split=data.Split(fraction=0.6, seed=3))
    train, validation = pipeline.datasets()
    own = data.ImageFolder(tmp_path / "flowers" / "train").split(0.6, seed=3, stratify=True)
    assert (colors(train), colors(validation)) == (colors(own[0]), colors(own[1]))
    assert colors(pipeline.evaluation_dataset()) == [10]


def test_what_is_evaluated_without_a_test_part_of_labels(tmp_path):
    numbered(tmp_path / "flowers", *TRAIN, "val/b/0.png", "test/0.png")
    assert colors(save(tmp_path).evaluation_dataset()) == [10]
    numbered(tmp_path / "whole", "a/0.png", "a/1.png", "b/0.png", "b/1.png")
    pipeline = save(tmp_path, "whole", split=data.Split(fraction=0.5))
    assert colors(pipeline.evaluation_dataset()) == colors(pipeline.datasets()[1])


def test_steps_are_fitted_to_the_training_part_of_the_folder(tmp_path):
    for part, shift in (("train", 0), ("val", 100)):
        samples = data.SampleDataset([{"x": float(i + shift), "label": i % 2} for i in range(8)])
        data.pack(samples, tmp_path / "rows" / part)
    train, validation = save(tmp_path, "rows", [T.Standardize(columns=("x",))]).datasets()
    values = np.array([train[i]["x"] for i in range(8)])
    np.testing.assert_allclose([values.mean(), values.std()], [0, 1], atol=1e-6)
    assert min(validation[i]["x"] for i in range(8)) > 30


def test_parts_that_cannot_train_are_sentences(tmp_path):
    numbered(tmp_path / "flowers", "val/a/0.png", "test/a/0.png")
    with pytest.raises(ConfigError, match="no training part"):
        save(tmp_path).datasets()
    numbered(tmp_path / "other", *TRAIN, "val/0.png")
    with pytest.raises(ConfigError, match=r"other/val has no labels"):
        save(tmp_path, "other").datasets()


# -- parts that are files


def write_texts(folder, **files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        stem, _, suffix = name.rpartition("_")
        (folder / f"{stem}.{suffix}").write_text(content)
    return folder


def test_tables_beside_each_other(tmp_path):
    """Kinds of columns and numbers of classes are those of the training part, whatever the others would say alone."""
    rows = "\n".join(f"{i},p{i % 3},{['no', 'yes', 'maybe'][i % 3]}" for i in range(30))
    root = write_texts(
        tmp_path / "shop",
        train_csv=f"age,plan,label\n{rows}\n",
        test_csv="age,plan,label\n3,p1,yes\n4,p1,no\n",
        readme_md="about",
        sample_submission_csv="id\n1\n",
    )
    splits = data.open_splits(root)
    assert sizes(splits) == {"training": 30, "test": 2}
    assert {name: dataset.name for name, dataset in splits.items()} == {
        "training": "shop/train.csv",
        "test": "shop/test.csv",
    }
    assert splits["test"].classes == ["maybe", "no", "yes"]
    assert splits["test"].labels().tolist() == [2, 1]
    assert splits["test"].kinds == splits["training"].kinds == {"age": "number", "plan": "category"}
    with pytest.raises(DataError, match=r"shop has the parts train\.csv, test\.csv: open them with .*open_splits"):
        data.open_dataset(root)


def test_a_number_to_predict_stays_a_number_in_a_small_part(tmp_path):
    many = "\n".join(f"{i},{i * 7}" for i in range(30))
    root = write_texts(tmp_path, train_csv=f"x,target\n{many}\n", val_csv="x,target\n1,7\n2,14\n")
    splits = data.open_splits(root)
    assert splits["validation"].classes is None
    np.testing.assert_array_equal(splits["validation"].labels(), np.array([7, 14], "float32"))


def test_a_table_to_predict_has_no_label(tmp_path):
    root = write_texts(tmp_path, train_csv="x,label\n1,a\n2,b\n", test_csv="x\n3\n")
    test = data.open_splits(root)["test"]
    assert (test.label, test.classes, test[0]) == (None, None, {"x": 3})


def test_texts_share_their_classes(tmp_path):
    row = '{{"text": "{}", "label": "{}"}}\n'.format
    root = write_texts(
        tmp_path,
        train_jsonl=row("a", "bad") + row("b", "good") + row("c", "mixed"),
        dev_jsonl=row("d", "mixed") + row("e", "good"),
    )
    splits = data.open_splits(root)
    assert splits["validation"].classes == ["bad", "good", "mixed"]
    assert [splits["validation"][i]["label"] for i in range(2)] == splits["validation"].labels().tolist() == [2, 1]
    (root / "dev.jsonl").write_text(row("d", "mixd"))
    with pytest.raises(DataError, match=r"has the class 'mixd'.*did you mean 'mixed'"):
        data.open_splits(root)


def test_several_files_of_one_part(tmp_path):
    """As Hugging Face's datasets writes Parquet."""
    rows = data.Table({"x": np.arange(5, dtype="int64"), "label": np.arange(5, dtype="int64") % 2})
    for name, indices in (
        ("train-00000-of-00002", [0, 1]),
        ("train-00001-of-00002", [2]),
        ("test-00000-of-00001", [3, 4]),
    ):
        data.write_parquet(rows.select(indices), tmp_path / f"{name}.parquet")
    splits = data.open_splits(tmp_path)
    assert sizes(splits) == {"training": 3, "test": 2}
    assert [int(splits["training"][i]["x"]) for i in range(3)] == [0, 1, 2]


def test_parts_of_two_formats_are_refused(tmp_path):
    root = write_texts(
        tmp_path / "two", train_csv="x\n1\n", test_csv="x\n1\n", train_jsonl='{"text": "a"}\n', test_jsonl="{}\n"
    )
    with pytest.raises(DataError, match=r"two has parts in files \.csv and \.jsonl: keep those of one format"):
        data.open_splits(root)


def test_a_link_out_of_the_folder_is_no_part(tmp_path):
    outside = write_texts(tmp_path / "outside", secret_csv="x\n1\n") / "secret.csv"
    root = write_texts(tmp_path / "shop", train_csv="x\n1\n")
    (root / "test.csv").symlink_to(outside)
    with pytest.raises(DataError, match="link"):
        data.open_splits(root)


def test_lists_beside_folders_are_no_parts(tmp_path):
    """train.txt of YOLO, and of folders of classes, names pictures."""
    yolo = write(tmp_path / "yolo", "images/a.png", "images/b.png")
    write(yolo, "labels/a.txt", "labels/b.txt", content=b"0 0.5 0.5 0.2 0.2\n")
    write(yolo, "train.txt", "val.txt", content=b"images/a.png\n")
    assert type(data.open_dataset(yolo)) is data.YOLODetection
    classes = write(tmp_path / "flowers", "rose/1.png", "tulip/1.png")
    write(classes, "train.txt", "test.txt", content=b"rose/1.png\n")
    assert type(data.open_dataset(classes)) is data.ImageFolder
    for root in (yolo, classes):
        with pytest.raises(DataError, match="open it with"):
            data.open_splits(root)


def test_folders_of_parts_come_before_their_tables(tmp_path):
    root = write(tmp_path / "kaggle", "train/rose/1.png", "train/tulip/1.png", "test/rose/1.png")
    write_texts(root, train_csv="id,label\n1,rose\n", test_csv="id\n2\n")
    assert {type(dataset) for dataset in data.open_splits(root).values()} == {data.ImageFolder}
