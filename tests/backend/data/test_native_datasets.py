"""Data sets of the backend's framework as ours and back, in the framework's own loaders, and trainings on them."""

import importlib
import itertools
import subprocess
import sys

import numpy as np
import pytest

from labdl import data, nn
from labdl.data import transforms as T
from labdl.errors import ConfigError, DataError
from labdl.train import SGD, Trainer

pytestmark = pytest.mark.sample(backends=2)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 4)).astype("float32")
Y = (X.sum(1) > 0).astype("int64")
ARRAYS = data.ArrayDataset(X, Y, name="points")


class Pictures(data.Dataset):
    """Dictionaries of every kind of part; numbers of boxes differ."""

    name, classes, inputs, targets = "pictures", ("even", "odd"), ("image",), ("label",)

    def __len__(self):
        return 7

    def read(self, index, epoch=0):
        return {
            "image": data.Image(np.full((2, 3, 3), 30 * index, "uint8") + np.arange(3, dtype="uint8")),
            "label": index % 2,
            "score": index / 2,
            "name": f"picture {index}",
            "boxes": data.BoundingBoxes(np.full((index + 1, 4), index), canvas_size=(2, 3)),
            "odd": bool(index % 2),
        }


class Triples(data.Dataset):
    """Tuples of an array, a number and a text, of which the numbers depend on the epoch."""

    name = "triples"

    def __len__(self):
        return 10

    def read(self, index, epoch=0):
        return np.float16([index, epoch]), index, f"é{index}"


def native_loader(backend, native, size, **settings):
    """The framework's own loader of its own data set."""
    if backend.name == "torch":
        return importlib.import_module("torch.utils.data").DataLoader(native, size, **settings)
    if backend.name == "paddle":
        return importlib.import_module("paddle.io").DataLoader(native, batch_size=size, **settings)
    return native.batch(size)


def assert_same(ours, theirs):
    if isinstance(ours, dict):
        assert list(ours) == list(theirs)
        for name, value in ours.items():
            assert_same(value, theirs[name])
    elif isinstance(ours, tuple):
        assert type(theirs) is tuple
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            assert_same(a, b)
    elif isinstance(ours, str):
        assert ours == theirs
    else:
        array = np.asarray(ours, {int: "int64", float: "float32"}.get(type(ours)))
        assert (array.dtype, array.shape) == (theirs.dtype, theirs.shape)
        np.testing.assert_array_equal(array, theirs)


def plain(sample):
    """A sample with the channels of its picture first."""
    return {**sample, "image": np.moveaxis(sample["image"].array, -1, 0)}


@pytest.mark.parametrize("as_stream", [False, True])
def test_round_trips_keep_samples_order_length_and_dtypes(backend, as_stream):
    for dataset, expected in (
        (Pictures(), [plain(sample) for sample in Pictures()]),
        (Triples(), list(Triples())),
        (ARRAYS, [ARRAYS[i] for i in range(50)]),
    ):
        native = (data.IterableDataset(dataset) if as_stream else dataset).to_native(backend.name)
        assert any(kind.__module__.startswith(f"{backend.name}.") for kind in type(native).__mro__)
        back = data.from_native(native)
        samples = list(back)
        assert len(samples) == len(expected)
        if not as_stream:
            assert (len(back) if isinstance(back, data.Dataset) else back.length) == len(expected)
        for ours, theirs in zip(expected, samples, strict=True):
            assert_same(ours, theirs)
        assert len(list(back)) == len(expected)  # a second pass begins again


def test_channels_stay_last_by_an_argument(backend):
    native = Pictures().to_native(backend.name, data_format="channels_last")
    assert next(iter(data.from_native(native)))["image"].shape == (2, 3, 3)


@pytest.mark.backends("torch", "paddle")
def test_metadata_and_random_access_survive(backend):
    back = data.from_native(Pictures().to_native(backend.name))
    assert (back.classes, back.inputs, back.targets) == (["even", "odd"], ("image",), ("label",))
    np.testing.assert_array_equal(back.labels(), [0, 1, 0, 1, 0, 1, 0])
    assert back[5]["name"] == "picture 5"
    native = Pictures().to_native(backend.name)
    assert_same(back[6], data.from_native(native).select([6])[0])
    with pytest.raises(IndexError, match="pictures has 7 samples, received the index 7"):
        native[7]


def test_batches_of_the_frameworks_loader_are_ours(backend):
    dataset = Triples().map(lambda s: (s[0].astype("float32"), s[1], s[2]))
    theirs = data.from_native(native_loader(backend, dataset.to_native(backend.name), 4))
    assert (theirs.length, theirs.batched) == (3, True)
    for ours, batch in zip(dataset.loader(4), theirs, strict=True):
        np.testing.assert_array_equal(ours[0], batch[0])
        np.testing.assert_array_equal(ours[1], batch[1])
        assert list(ours[2]) == list(batch[2])
    rows = list(theirs.unbatch())
    assert len(rows) == 10
    assert rows[9][2] == "é9"


def numbers(backend, native, count):
    """The epochs that samples of two passes carry."""
    epochs = []
    for number in range(count):
        if backend.name in ("torch", "paddle"):
            native.set_epoch(number)
        elif backend.name == "mindspore":
            native.source.set_epoch(number)
        epochs.append([int(sample[0][1]) for sample in data.from_native(native)])
    return epochs


def test_each_pass_has_random_numbers_of_its_own(backend):
    dataset = Triples().map(lambda s: (s[0].astype("float32"), s[1], s[2]))
    assert numbers(backend, dataset.to_native(backend.name), 2) == [[0] * 10, [1] * 10]


def test_random_transforms_are_those_of_our_loader(backend):
    dataset = Pictures().project("image").map([T.RandomCrop(2), T.ToFloat(), T.GaussianNoise(sigma=0.5)], seed=5)
    theirs = list(data.from_native(dataset.to_native(backend.name)))
    for ours, sample in zip(dataset.loader(1, shuffle=False), theirs, strict=True):
        value = sample["image"] if isinstance(sample, dict) else sample
        np.testing.assert_array_equal(ours["image"][0], value)


# -- training


def train(backend, dataset, **options):
    trainer = Trainer(nn.Sequential(nn.Linear(8), nn.ReLU(), nn.Linear(2)), "cross_entropy", SGD(0.1), seed=0,
                      metrics=["accuracy"], backend=backend.name)  # fmt: skip
    return trainer, dict(trainer.fit(dataset, epochs=2, progress=False, **options))


def assert_close(a, b):
    assert a.keys() == b.keys()
    for name in a:
        np.testing.assert_allclose(a[name], b[name], rtol=1e-6, err_msg=name)


def test_a_training_takes_the_batches_of_the_frameworks_loader(backend):
    own, expected = train(backend, ARRAYS, batch_size=16, shuffle=False, validation=ARRAYS)

    def batches():
        return native_loader(backend, ARRAYS.to_native(backend.name), 16)

    trainer, history = train(backend, batches(), validation=batches())
    assert_close(history, expected)
    for name, value in own.model.state_dict().items():
        np.testing.assert_array_equal(value, trainer.model.state_dict()[name])
    assert_close(trainer.evaluate(batches()), own.evaluate(ARRAYS))
    assert_close(trainer.test(batches()), own.test(ARRAYS))


def test_a_training_takes_batches_of_our_own(backend):
    _, expected = train(backend, ARRAYS, batch_size=16, shuffle=False)
    for dataset in (ARRAYS.batch(16), data.IterableDataset(ARRAYS).batch(16), ARRAYS.batch(5).unbatch().batch(16)):
        assert_close(train(backend, dataset)[1], expected)


@pytest.mark.backends("torch", "paddle")
def test_a_training_takes_a_data_set_of_samples(backend):
    for shuffle in (False, True):
        _, expected = train(backend, ARRAYS, batch_size=16, shuffle=shuffle)
        assert_close(train(backend, ARRAYS.to_native(backend.name), batch_size=16, shuffle=shuffle)[1], expected)


def test_samples_of_a_pipeline_are_batched_here_on_request(backend):
    _, expected = train(backend, ARRAYS, batch_size=16, shuffle=False)
    samples = data.from_native(ARRAYS.to_native(backend.name), batched=False)
    order = {} if isinstance(samples, data.IterableDataset) else {"shuffle": False}
    assert_close(train(backend, samples, batch_size=16, **order)[1], expected)


def test_settings_of_batches_are_refused_for_batches(backend):
    with pytest.raises(ConfigError, match=r"gives batches, received batch_size=8: leave it out"):
        train(backend, native_loader(backend, ARRAYS.to_native(backend.name), 16), batch_size=8)
    with pytest.raises(ConfigError, match=r"makes its own batches, of 16 samples: accumulate and batch_size want"):
        Trainer(nn.Linear(2), "cross_entropy", SGD(0.1), accumulate=2, backend=backend.name).fit(
            native_loader(backend, ARRAYS.to_native(backend.name), 16), progress=False
        )


def test_elements_without_an_axis_of_samples_are_no_batches(backend):
    numbers = data.from_native(
        data.IterableDataset(lambda: iter([(1.0, 1.0)]), length=1).to_native(backend.name), batched=True
    )
    with pytest.raises(DataError, match=r"no batches, they have no axis of samples: call its method batch first"):
        train(backend, numbers)


# -- PyTorch


@pytest.mark.backends("torch")
def test_pytorchs_own_data_sets():
    import torch
    from torch.utils.data import DataLoader, Subset, TensorDataset

    tensors = TensorDataset(torch.from_numpy(X), torch.from_numpy(Y).requires_grad_(False))
    back = data.from_native(tensors)
    assert isinstance(back, data.Dataset)
    assert_same((X[3], Y[3]), back[3])
    assert_same((X[7], Y[7]), data.from_native(Subset(tensors, [5, 7]))[1])
    odd = [
        torch.tensor([1.5], dtype=torch.bfloat16),
        torch.tensor([[0, 2.0]]).to_sparse(),
        torch.ones(1, requires_grad=True),
    ]
    values = (
        data.from_native(DataLoader(odd, batch_size=None)).peek(),
        *data.from_native(DataLoader(odd, batch_size=None)),
    )
    assert [v.tolist() for v in values] == [[1.5], [1.5], [[0, 2.0]], [1.0]]

    class Unsized(torch.utils.data.Dataset):
        def __getitem__(self, index):
            return index

    with pytest.raises(ConfigError, match="the data set Unsized has no length: give it a method __len__"):
        data.from_native(Unsized())


@pytest.mark.backends("torch")
def test_pillow_pictures_become_images():
    import PIL.Image
    import torch

    class Faces(torch.utils.data.Dataset):
        classes = ["a", "b"]  # noqa: RUF012  # as torchvision's

        def __len__(self):
            return 2

        def __getitem__(self, index):
            if index:
                return PIL.Image.fromarray(np.full((4, 5), 7, "uint8")), index
            return PIL.Image.new("CMYK", (5, 4)), index

    faces = data.from_native(Faces())
    assert faces.classes == ["a", "b"]
    assert [type(x) for x, _ in faces] == [data.Image, data.Image]
    assert [x.shape for x, _ in faces] == [(4, 5, 3), (4, 5, 1)]
    x, y = next(iter(faces.map([T.GrayscaleToRGB(), T.Resize((2, 2))]).loader(2)))
    assert (x.shape, y.tolist()) == ((2, 3, 2, 2), [0, 1])


# The loaders fork. A child that inherits the locks of other threads may wait for ever, so the process has none of its own.
PROCESSES = """
import importlib, sys
import numpy as np
import labdl
from labdl import data

framework, module = sys.argv[1:]
labdl.use(framework)

class Pairs(data.Dataset):
    def __len__(self):
        return 10

    def read(self, index, epoch=0):
        return np.float32([index, epoch]), index

for source in (Pairs(), data.IterableDataset(Pairs())):
    loader = importlib.import_module(module).DataLoader(source.to_native(framework), batch_size=3, num_workers=2)
    print(sorted(int(i) for batch in data.from_native(loader) for i in batch[1]))
"""


@pytest.mark.sample(backends=1)
@pytest.mark.backends("torch", "paddle")
def test_processes_of_the_frameworks_loader_read_each_sample_once(backend):
    module = {"torch": "torch.utils.data", "paddle": "paddle.io"}[backend.name]
    command = [sys.executable, "-c", PROCESSES, backend.name, module]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert done.stdout == f"{list(range(10))}\n" * 2, done.stderr


@pytest.mark.backends("torch")
def test_a_shuffling_loader_is_read_once_an_epoch():
    import torch
    from torch.utils.data import DataLoader

    seen = []

    class Recording(torch.utils.data.Dataset):
        def __len__(self):
            return 6

        def __getitem__(self, index):
            seen.append(index)
            return X[index], Y[index]

    def loader():
        return DataLoader(Recording(), 2, shuffle=True, generator=torch.Generator().manual_seed(3))

    Trainer(nn.Linear(2), "cross_entropy", SGD(0.1), backend="torch").fit(loader(), epochs=2, progress=False)
    trained, again = list(seen), loader()
    seen.clear()
    for _ in range(2):
        list(again)
    assert trained == seen  # the order of PyTorch's own loop, and no sample read for nothing


@pytest.mark.backends("torch")
def test_a_sampler_learns_the_epoch():
    from torch.utils.data import DataLoader, DistributedSampler

    native = Triples().to_native("torch")
    sampler = DistributedSampler(native, num_replicas=2, rank=0, shuffle=True, seed=1)
    stream = data.from_native(DataLoader(native, 5, sampler=sampler))
    orders = [[int(i) for batch in stream.read(epoch) for i in batch[1]] for epoch in (0, 1, 0)]
    assert orders[0] == orders[2] != orders[1]


# -- TensorFlow


@pytest.mark.backends("tensorflow")
def test_tf_data_of_every_kind():
    import tensorflow as tf

    ragged = tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[1, 2], [3]]))
    assert [v.tolist() for v in data.from_native(ragged)] == [[1, 2], [3]]
    files = tf.data.Dataset.from_tensors({"a": b"\xff\xd8", "b": ["é", "x"], "c": tf.constant([[1]], tf.bfloat16)})
    element = data.from_native(files).peek()
    assert element["a"] == b"\xff\xd8"
    assert element["b"].tolist() == ["é", "x"]
    assert element["c"].astype("float32").tolist() == [[1.0]]
    counted = tf.data.Dataset.range(9).filter(lambda i: i % 2 == 0)
    assert data.from_native(counted).length is None
    assert list(data.from_native(counted)) == [0, 2, 4, 6, 8]
    endless = data.from_native(tf.data.Dataset.range(9).repeat())
    assert (endless.endless, endless.length) == (True, None)
    assert list(itertools.islice(endless, 8, 11)) == [8, 0, 1]


@pytest.mark.backends("tensorflow")
def test_a_training_on_an_endless_tf_dataset_wants_steps(backend):
    import tensorflow as tf

    def batches():
        return tf.data.Dataset.from_tensor_slices((X, Y)).batch(25).repeat()

    with pytest.raises(ConfigError, match=r"the stream tf.data.Dataset has no end: give steps_per_epoch="):
        train(backend, batches())
    _, expected = train(backend, ARRAYS, batch_size=25, shuffle=False)
    assert_close(train(backend, batches(), steps_per_epoch=2)[1], expected)


@pytest.mark.backends("tensorflow")
def test_shapes_that_differ_are_unknown_in_the_signature():
    import tensorflow as tf

    spec = Pictures().to_native("tensorflow").element_spec
    assert spec["image"].shape == (3, 2, 3)
    assert spec["boxes"].shape.as_list() == [None, 4]
    assert spec["name"].dtype == tf.string
    signature = (tf.TensorSpec([2], tf.float16), tf.TensorSpec([], tf.int32), tf.TensorSpec([], tf.string))
    assert Triples().to_native("tensorflow", output_signature=signature).element_spec == signature
    with pytest.raises(ConfigError, match=r"triples as a data set of TensorFlow: .*unexpected keyword argument 'size'"):
        Triples().to_native("tensorflow", size=3)
    with pytest.raises(ConfigError, match=r"hold None, which is no tensor: leave the entry out with Dataset.project"):
        data.SampleDataset([{"a": None}]).to_native("tensorflow")


@pytest.mark.backends("tensorflow")
def test_keras_pydataset(backend):
    import keras

    class Batches(keras.utils.PyDataset):
        epochs = 0

        def __len__(self):
            return 2

        def __getitem__(self, index):
            return X[index * 25 : index * 25 + 25], Y[index * 25 : index * 25 + 25]

        def on_epoch_end(self):
            self.epochs += 1

    batches = Batches()
    _, expected = train(backend, ARRAYS, batch_size=25, shuffle=False)
    assert_close(train(backend, batches)[1], expected)
    assert batches.epochs == 2


@pytest.mark.backends("tensorflow")
def test_keras_fits_our_data_set():
    import keras

    model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(2)])
    model.compile(loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    pairs = data.SampleDataset(list(zip(X, Y, strict=True))).to_native("tensorflow")
    history = model.fit(pairs.batch(10), epochs=2, shuffle=False, verbose=0).history
    assert history["loss"][1] < history["loss"][0]


# -- Paddle


@pytest.mark.backends("paddle")
def test_paddles_own_data_sets():
    import paddle
    from paddle.io import DataLoader, IterableDataset, TensorDataset

    back = data.from_native(TensorDataset([paddle.to_tensor(X), paddle.to_tensor(Y)]))
    assert isinstance(back, data.Dataset)
    assert_same((X[3], Y[3]), back[3])

    class Counting(IterableDataset):
        def __iter__(self):
            return iter(range(5))

    assert list(data.from_native(Counting())) == [0, 1, 2, 3, 4]
    batches = data.from_native(DataLoader(Counting(), batch_size=2))
    assert batches.length is None
    assert [np.ravel(b).tolist() for b in batches] == [[0, 1], [2, 3], [4]]


# -- MindSpore


@pytest.mark.backends("mindspore")
def test_mindspores_own_data_sets(backend):
    import mindspore.dataset as ds

    def named():
        return ds.NumpySlicesDataset({"x": X, "y": Y}, shuffle=False).batch(25)

    assert data.from_native(named()).length == 2
    assert (data.from_native(named()).inputs, data.from_native(named()).targets) == (("x",), ("y",))
    _, expected = train(backend, ARRAYS, batch_size=25, shuffle=False)
    assert_close(train(backend, named())[1], expected)

    def endless():
        for i in itertools.count():
            yield (np.float32(i),)

    stream = data.from_native(ds.GeneratorDataset(endless, ["value"]))  # is not counted
    assert stream.length is None
    assert stream.peek() == {"value": 0.0}
    assert data.from_native(ds.NumpySlicesDataset([1, 2], ["a"]).repeat()).endless


@pytest.mark.backends("mindspore")
def test_columns_of_mindspore_are_arrays_and_texts():
    with pytest.raises(ConfigError, match=r"the entry a of list is a dict, columns of MindSpore"):
        data.SampleDataset([{"a": {"b": 1}}]).to_native("mindspore")
    native = ARRAYS.to_native("mindspore", num_parallel_workers=1, shuffle=True)
    assert sorted(y for _, y in data.from_native(native)) == sorted(Y)


# -- Hugging Face, on every backend


@pytest.mark.sample(backends=1)
def test_a_training_on_a_hugging_face_data_set(backend):
    import datasets

    native = ARRAYS.map(lambda s: {"x": s[0], "label": int(s[1])}).to_native("datasets")
    native = native.cast_column("label", datasets.ClassLabel(names=["below", "above"]))
    _, expected = train(backend, ARRAYS, batch_size=16, shuffle=True)
    trainer, history = train(backend, native, batch_size=16, shuffle=True)
    assert_close(history, expected)
    assert list(trainer.model.class_names) == ["below", "above"]
    _, expected = train(backend, ARRAYS, batch_size=25, shuffle=False)
    assert_close(train(backend, native.to_iterable_dataset(), batch_size=25, steps_per_epoch=2)[1], expected)
    with pytest.raises(ConfigError, match="data wants one data set, received the splits train: give one of them"):
        train(backend, datasets.DatasetDict({"train": native}))
