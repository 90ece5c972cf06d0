"""tf.data: decoding of the crop alone, and channels last."""

from pathlib import Path

import tensorflow as tf
from loaders import work


def _read(path, label, antialias):
    file = tf.io.read_file(path)
    shape = tf.io.extract_jpeg_shape(file)
    begin, size, _ = tf.image.sample_distorted_bounding_box(
        shape,
        tf.zeros((1, 0, 4)),
        aspect_ratio_range=(3 / 4, 4 / 3),
        area_range=(0.08, 1.0),
        use_image_if_no_bounding_boxes=True,
    )
    window = tf.stack([begin[0], begin[1], size[0], size[1]])
    crop = tf.image.decode_and_crop_jpeg(file, window, channels=3)
    crop = tf.image.resize(crop, (work.SIZE, work.SIZE), antialias=antialias)
    crop = tf.image.random_flip_left_right(crop)
    return (crop - [255 * m for m in work.MEAN]) / [255 * s for s in work.STD], label


def loaders(folder: Path):
    paths, labels = work.paths(folder), work.labels(folder)
    x, y = work.arrays()

    def pictures(antialias):
        rows = tf.data.Dataset.from_tensor_slices((paths, labels)).shuffle(len(paths))
        rows = rows.map(lambda p, t: _read(p, t, antialias), num_parallel_calls=tf.data.AUTOTUNE)
        rows = rows.batch(work.BATCH, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)
        return lambda: work.count(rows)

    arrays = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(x)).batch(work.ROWS_OF_A_BATCH)
    arrays = arrays.prefetch(tf.data.AUTOTUNE)
    return {
        "tf.data": pictures(True),
        "tf.data, no antialias": pictures(False),
        "arrays: tf.data": lambda: work.count(arrays),
    }
