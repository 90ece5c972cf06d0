"""TFRecord files against TensorFlow, in both directions."""

import numpy as np
import pytest

from labdl import data
from labdl.data.formats import TFRecordDataset, write_tfrecord

tf = pytest.importorskip("tensorflow")


def test_tensorflow_reads_our_records(tmp_path):
    path = tmp_path / "a.tfrecord"
    numbers = np.array([0, 1, -1, 127, 128, 2**40, 2**63 - 1, -(2**63)])
    rows = [{"x": np.arange(4, dtype="float32") + i, "n": numbers, "text": f"é{i}"} for i in range(3)]
    write_tfrecord(data.SampleDataset(rows), path)
    features = {
        "x": tf.io.FixedLenFeature((2, 2), tf.float32),
        "n": tf.io.VarLenFeature(tf.int64),
        "text": tf.io.FixedLenFeature((), tf.string),
    }
    found = [tf.io.parse_single_example(record, features) for record in tf.data.TFRecordDataset([str(path)])]
    assert len(found) == 3
    for row, read in zip(rows, found, strict=True):
        np.testing.assert_array_equal(read["x"].numpy().reshape(-1), row["x"])
        np.testing.assert_array_equal(read["n"].values.numpy(), numbers)
        assert read["text"].numpy().decode() == row["text"]


def test_we_read_records_of_tensorflow(tmp_path):
    path = tmp_path / "a.tfrecord"
    numbers = [0, 1, -1, 127, 128, 2**40, 2**63 - 1, -(2**63)]
    with tf.io.TFRecordWriter(str(path)) as writer:
        for index in range(3):
            feature = {
                "x": tf.train.Feature(float_list=tf.train.FloatList(value=[index, 0.5])),
                "n": tf.train.Feature(int64_list=tf.train.Int64List(value=numbers)),
                "raw": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"a" * 5000, b""])),
                "empty": tf.train.Feature(int64_list=tf.train.Int64List(value=[])),
            }
            example = tf.train.Example(features=tf.train.Features(feature=feature))
            writer.write(example.SerializeToString())
    found = TFRecordDataset(path, shapes={"x": (2, 1)})
    assert len(found) == 3
    assert found[2]["x"].tolist() == [[2], [0.5]]
    assert found[2]["n"].tolist() == numbers
    assert found[2]["raw"] == [b"a" * 5000, b""]
    assert len(found[2]["empty"]) == 0
