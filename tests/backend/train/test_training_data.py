"""Data as people have it, through `fit`, `start`, `evaluate`, `predict`, `Inference` and a call of the model."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import labdl
from labdl import nn, ops
from labdl.data import ArrayDataset, Loader
from labdl.errors import ConfigError, ModelError
from labdl.infer import Evaluator, Inference
from labdl.train import SGD, Trainer

pytestmark = pytest.mark.sample(backends=1)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(24, 4))  # float64, as scikit-learn gives it
NUMBERS = np.arange(24) % 3
NAMES = np.array(["cat", "dog", "eel"])
VALUES = X @ np.array([1.0, -2.0, 0.5, 0.0])


def trainer(backend, outputs=3, loss="cross_entropy", **options):
    model = nn.Sequential(nn.Linear(outputs))
    return Trainer(model, loss, SGD(0.1), backend=backend.name, seed=0, **options)


def run(t, way, x, y, **options):
    if way == "fit":
        return t.fit(x, y, epochs=2, progress=False, **options)
    return t.start(x, y, epochs=2, **options).wait().history


@pytest.fixture
def reference(backend):
    """The history of a training with data that need no conversion."""
    return run(trainer(backend), "fit", X.astype("float32"), NUMBERS.astype("int64"))


INPUTS = {
    "float64": X,
    "other byte order": X.astype(X.dtype.newbyteorder("S")),
    "list": X.tolist(),
    "frame": pd.DataFrame(X),
}
LABELS = {
    "int32": NUMBERS.astype("int32"),
    "other byte order": NUMBERS.astype(np.dtype("int32").newbyteorder("S")),
    "float64": NUMBERS.astype("float64"),
    "column": NUMBERS[:, None],
    "list": NUMBERS.tolist(),
    "series": pd.Series(NUMBERS),
    "text": NAMES[NUMBERS],
    "text list": NAMES[NUMBERS].tolist(),
    "categories": pd.Series(NAMES[NUMBERS]).astype("category"),
}


@pytest.mark.parametrize("way", ["fit", "start"])
def test_inputs_and_labels_as_people_have_them(backend, subtests, reference, way, tmp_path):
    cases = [(x, "list") for x in INPUTS] + [("float64", y) for y in LABELS]
    for x, y in cases if way == "fit" else [("frame", "text")]:
        with subtests.test(f"{x} {y}"):
            options = {} if way == "fit" else {"folder": tmp_path / "run"}
            t = trainer(backend)
            assert run(t, way, INPUTS[x], LABELS[y], **options) == reference
            if "text" in y or y == "categories":
                assert t.model.class_names == tuple(NAMES)
            assert t.evaluate((INPUTS[x], LABELS[y])) == t.evaluate((X.astype("float32"), NUMBERS))


def test_text_labels_return_from_predictions_and_files(backend, tmp_path):
    t = trainer(backend, metrics=["accuracy"])
    t.fit(X, NAMES[NUMBERS], validation=(X[:6], NAMES[NUMBERS][:6]), progress=False)
    scores = labdl.predict(t.model, X)
    np.testing.assert_array_equal(labdl.predict(t.model, X, labels=True), NAMES[scores.argmax(-1)])
    with pytest.raises(ConfigError, match="the label 'fox' is none of the model's classes cat, dog, eel"):
        t.evaluate((X[:1], ["fox"]))
    labdl.save(t.model, tmp_path / "net")
    results = Inference(tmp_path / "net", postprocess="classification", backend=backend.name).infer(X)
    assert [result.label for result in results] == NAMES[scores.argmax(-1)].tolist()

    other = trainer(backend)
    other.model.build((None, 4), backend=backend.name)
    other.load_checkpoint(t.save_checkpoint(tmp_path / "checkpoints"))
    assert other.model.class_names == tuple(NAMES)
    assert other.evaluate((X, NAMES[NUMBERS]))["loss"] == t.evaluate((X, NUMBERS))["loss"]


def test_as_many_classes_as_outputs(backend):
    with pytest.raises(
        ConfigError, match=r"3 classes \(cat, dog, eel\), the output .* room for 5: give its last layer 3"
    ):
        trainer(backend, 5).fit(X, NAMES[NUMBERS], progress=False)


def test_validation_by_the_name_of_keras(backend, reference):
    found = trainer(backend).fit(X, NUMBERS, epochs=2, progress=False, validation_data=(X, NUMBERS))
    assert found["loss"] == reference["loss"]
    assert len(found["val_loss"]) == 2
    with pytest.raises(ConfigError, match="validation_data is another name of validation: give one of them"):
        trainer(backend).fit(X, NUMBERS, validation=(X, NUMBERS), validation_data=(X, NUMBERS))


class Sum(nn.Module):
    """A model of two inputs."""

    def __init__(self):
        self.first, self.second = nn.Linear(3), nn.Linear(3)

    def forward(self, a, b):
        return self.first(a) + self.second(b)


def test_several_inputs_as_in_keras(backend):
    results = []
    for x in ((X, X), [X, X], [pd.DataFrame(X), X]):
        t = Trainer(Sum(), optimizer=SGD(0.1), backend=backend.name, seed=0)
        results.append((t.fit(x, NUMBERS, epochs=2, progress=False), t.evaluate(x, NUMBERS)))
        wanted = labdl.predict(t.model, (X, X))
        for data in (x, (x, NUMBERS), (X, X, NUMBERS)):
            np.testing.assert_array_equal(labdl.predict(t.model, data), wanted)
    assert results[1:] == results[:1] * 2


def test_lists_of_samples_and_of_rows(backend, reference):
    for labels in (NUMBERS, NAMES[NUMBERS]):
        t = trainer(backend)
        samples = list(zip(X, labels, strict=True))
        np.testing.assert_allclose(t.fit(samples, epochs=2, progress=False)["loss"], reference["loss"], rtol=1e-5)
        for data in (samples, (X, labels), list(X)):
            np.testing.assert_array_equal(labdl.predict(t.model, data), labdl.predict(t.model, X))
    assert t.model.class_names == tuple(NAMES)
    assert trainer(backend).fit(list(X), NUMBERS, epochs=2, progress=False) == reference


def test_single_batches_as_people_have_them(backend):
    def results(x, y):
        t = trainer(backend)
        return t.train_one_batch(x, y), t.gradients(x, y)

    wanted = results(X, NUMBERS)
    for x, y in ((X.tolist(), NUMBERS.tolist()), (pd.DataFrame(X), pd.Series(NUMBERS))):
        found = results(x, y)
        assert found[0] == wanted[0]
        np.testing.assert_array_equal(found[1]["0/kernel:0"], wanted[1]["0/kernel:0"])


REFUSED = {
    "sparse": (lambda: scipy.sparse.csr_matrix(X), r"csr_matrix: a sparse matrix becomes an array by .toarray\(\)"),
    "generator": (lambda: (row for row in X), r"generator: collect its samples first, as list"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_data_that_are_no_arrays(backend, kind):
    make, message = REFUSED[kind]
    t = trainer(backend)
    calls = [
        lambda: t.fit(make(), NUMBERS),
        lambda: t.fit(make()),
        lambda: t.evaluate(make(), NUMBERS),
        lambda: t.train_one_batch(make(), NUMBERS),
        lambda: labdl.predict(t.model, make()),
        lambda: t.fit(X, NUMBERS, validation=make()),
    ]
    for call in calls:
        with pytest.raises(ConfigError, match=message):
            call()


def test_a_loader_trains_as_its_data_set_does(backend):
    wanted = trainer(backend).fit(X, NUMBERS, batch_size=8, epochs=2, progress=False)
    loader = Loader(ArrayDataset(X, NUMBERS), 8, shuffle=True)
    t = trainer(backend)
    assert t.fit(loader, epochs=2, progress=False) == wanted
    assert t.evaluate(Loader(ArrayDataset(X, NUMBERS), 8)) == pytest.approx(t.evaluate(X, NUMBERS))
    with pytest.raises(ConfigError, match="the loader has its own batch_size, received batch_size=4"):
        t.fit(loader, batch_size=4)
    with pytest.raises(ConfigError, match="validation_split wants a data set, received Loader"):
        t.fit(loader, validation_split=0.5)


def test_reports_name_the_classes(backend):
    t = trainer(backend)
    t.fit(X, NAMES[NUMBERS], epochs=20, progress=False)
    for data in [(X, NAMES[NUMBERS]), (X, NUMBERS)]:
        t.test(*data)
        assert all(name in str(t.report()) for name in NAMES)
        assert all(name in Evaluator(t.model, data).report() for name in NAMES)


def test_text_labels_whose_classes_are_not_known(backend):
    """A batch, or a sample, does not tell all classes, and reading all samples may take hours."""

    class Samples:
        def __len__(self):
            return len(X)

        def __getitem__(self, i):
            return X[i], NAMES[NUMBERS[i]]

    known = "names of all classes are not known: set model.class_names .* attribute classes"
    for call in (lambda t: t.train_one_batch(X, NAMES[NUMBERS]), lambda t: t.fit(Samples(), progress=False)):
        t = trainer(backend)
        with pytest.raises(ConfigError, match=known):
            call(t)
        t.model.class_names = tuple(NAMES)
        call(t)
    named = Samples()
    named.classes = list(NAMES)  # type: ignore[attr-defined]
    t = trainer(backend)
    t.fit(named, progress=False)
    assert t.model.class_names == tuple(NAMES)


def test_two_text_classes_for_one_output(backend):
    t = trainer(backend, 1, "bce")
    t.fit(X, np.where(VALUES > 0, "yes", "no"), epochs=100, progress=False)
    found = labdl.predict(t.model, X, labels=True)
    assert (found == np.where(VALUES > 0, "yes", "no")).mean() > 0.9


@pytest.mark.parametrize(("loss", "target"), [("mse", VALUES), ("mae", VALUES), ("huber", VALUES), ("bce", VALUES > 0)])
def test_targets_are_aligned_with_the_output(backend, loss, target):
    results = []
    for y in (target, target[:, None], target.astype("float32")[:, None], pd.Series(target), target.tolist()):
        t = trainer(backend, 1, loss)
        results.append((t.fit(X, y, progress=False), t.evaluate((X, y))))
    assert all(result == results[0] for result in results)


def mean_square(output, target):
    return ops.mean(ops.square(output - target))


def mean_square_of_column(output, target):
    return ops.mean(ops.square(output[:, 0] - target))


@pytest.mark.parametrize("loss", [mean_square, mean_square_of_column, lambda o, t: ops.mean_squared_error(o, t)])
def test_loss_functions_do_not_broadcast_to_pairs(backend, loss):
    wanted = trainer(backend, 1, "mse").fit(X, VALUES, progress=False)["loss"]
    np.testing.assert_allclose(trainer(backend, 1, loss).fit(X, VALUES, progress=False)["loss"], wanted, rtol=1e-5)


def test_pictures_of_bytes(backend):
    pictures = RNG.integers(0, 256, (12, 1, 4, 4), "uint8")
    model = nn.Sequential(nn.Conv2d(2), nn.Flatten(), nn.Linear(3))
    t = Trainer(model, optimizer=SGD(1e-4), backend=backend.name, seed=0)
    with pytest.warns(UserWarning, match=r"uint8 and become float32 as they are.*astype\('float32'\) / 255"):
        history = t.fit(pictures, NUMBERS[:12], progress=False)
    assert np.isfinite(history["loss"]).all()
    wanted = labdl.predict(model, pictures.astype("float32"))
    np.testing.assert_array_equal(labdl.predict(model, pictures), wanted)
    np.testing.assert_allclose(Inference(model).infer(pictures), wanted, rtol=1e-5)


def test_tokens_stay_integers(backend):
    tokens = RNG.integers(0, 9, (12, 5))
    model = nn.Sequential(nn.Embedding(9, 4), nn.Flatten(), nn.Linear(3))
    Trainer(model, backend=backend.name, seed=0).fit(tokens.astype("int16"), NUMBERS[:12], progress=False)
    wanted = labdl.predict(model, tokens)
    np.testing.assert_array_equal(labdl.predict(model, tokens.astype("float64")), wanted)
    with pytest.raises(ConfigError, match=r"the inputs hold \d.5, the model takes indices"):
        labdl.predict(model, tokens + 0.5)


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(9, 4), nn.Linear(3)

    def forward(self, tokens, table):
        return self.head(ops.concat([ops.mean(self.embed(tokens), axis=1), table], axis=-1))


def test_several_inputs(backend):
    tokens, table = RNG.integers(0, 9, (24, 5)), RNG.integers(0, 9, (24, 2))
    model = Pair()
    t = Trainer(model, backend=backend.name, seed=0)
    t.fit((tokens.tolist(), pd.DataFrame(table)), NAMES[NUMBERS].tolist(), progress=False)
    assert [spec.dtype for spec in model.input_specs] == ["int64", "float32"]
    wanted = labdl.predict(model, (tokens, table.astype("float32")))
    np.testing.assert_array_equal(labdl.predict(model, ArrayDataset(tokens, table, NUMBERS)), wanted)


class Rows:
    """A data set that is read sample by sample."""

    classes = tuple(NAMES)

    def __len__(self):
        return 24

    def __getitem__(self, i):
        return X[i], str(NAMES[NUMBERS[i]])


def test_samples_one_by_one(backend, reference):
    t = trainer(backend)
    assert t.fit(Rows(), epochs=2, progress=False)["loss"] == pytest.approx(reference["loss"], rel=1e-6)
    assert t.model.class_names == Rows.classes
    split = {"validation_split": 0.25, "validation_from": "last"}
    half = trainer(backend).fit(Rows(), **split, progress=False)
    whole = trainer(backend).fit(X, NUMBERS, **split, progress=False)
    assert half["val_loss"] == pytest.approx(whole["val_loss"], rel=1e-6)


def test_preprocess_gets_the_data_as_they_are(backend, reference):
    class Own(Trainer):
        def preprocess(self, batch):
            x, y = batch
            assert x.dtype == "float64"
            assert y.dtype.kind == "U"
            return x, np.searchsorted(NAMES, y)

    t = Own(nn.Sequential(nn.Linear(3)), optimizer=SGD(0.1), backend=backend.name, seed=0)
    assert t.fit(X, NAMES[NUMBERS], epochs=2, progress=False)["loss"] == pytest.approx(reference["loss"], rel=1e-6)
    assert t.model.class_names is None


def test_predictions_for_any_data(backend):
    model = nn.Sequential(nn.Linear(3)).build((None, 4), backend=backend.name)
    wanted = labdl.predict(model, X.astype("float32"))
    data = ArrayDataset(X, NUMBERS)
    for x in (X, X.tolist(), pd.DataFrame(X), (X,), data, Loader(data, 7), Rows()):
        np.testing.assert_allclose(labdl.predict(model, x), wanted, rtol=1e-5)
    for samples in (X, X.tolist(), pd.DataFrame(X), data, Loader(data, 32), Rows()):
        np.testing.assert_allclose(Inference(model).infer(samples), wanted, rtol=1e-5)
    row = pd.DataFrame(X).iloc[0]
    np.testing.assert_allclose(Inference(model).infer_one(row), wanted[0], rtol=1e-5)


def test_models_take_arrays(backend):
    model = nn.Sequential(nn.Linear(3)).build((None, 4), backend=backend.name)
    wanted = labdl.to_numpy(model(labdl.tensor(X.astype("float32"), backend=backend.name)))
    for x in (X.astype("float32"), X, X.tolist(), pd.DataFrame(X)):
        found = model(x)
        assert isinstance(found, backend.tensor_types())
        np.testing.assert_array_equal(labdl.to_numpy(found), wanted)
    head = model[0](X)  # a layer of it
    np.testing.assert_array_equal(labdl.to_numpy(head), wanted)
    first = nn.Sequential(nn.Linear(3))
    assert isinstance(first(X), backend.tensor_types())
    assert (first.backend, first.input_specs[0].dtype) == (backend.name, "float32")


def test_evaluators_take_data_as_people_have_it(backend):
    t = trainer(backend, metrics=["accuracy"])
    t.fit(X, NAMES[NUMBERS], progress=False)
    evaluator = Evaluator(Inference(t.model), metrics=["accuracy"], loss="cross_entropy", batch_size=256)
    found = evaluator.evaluate((pd.DataFrame(X), pd.Series(NAMES[NUMBERS])))
    assert found == pytest.approx(t.evaluate((X, NUMBERS)))
    line = trainer(backend, 1, "mse")
    line.fit(X, VALUES, progress=False)
    found = Evaluator(Inference(line.model), (X, VALUES), metrics=["mae"], loss="mse").evaluate()
    assert found["loss"] == pytest.approx(line.evaluate((X, VALUES))["loss"])


# -- a loss and metrics of other types


def test_a_loss_for_each_sample_is_refused(backend):
    def square(output, target):
        return ops.mean(ops.square(output - ops.one_hot(target, 3)), axis=-1)

    message = r"the loss square gave values of shape \(24,\), training wants one number .*ops\.mean"
    with pytest.raises(ConfigError, match=message):
        trainer(backend, loss=square).fit(X, NUMBERS, progress=False)
    with pytest.raises(ConfigError, match=message):
        trainer(backend, loss=square).evaluate((X, NUMBERS))
    with pytest.raises(ConfigError, match="the loss nothing gave None"):
        trainer(backend, loss=nothing).fit(X, NUMBERS, progress=False)


def nothing(output, target):
    return None


@pytest.mark.parametrize(
    ("value", "came"), [("good", "'good'"), (None, "None"), (np.ones(3), r"values of shape \(3,\)")]
)
def test_a_metric_that_is_no_number_is_named(backend, value, came):
    def verdict(output, target):
        return value

    message = f"the metric verdict gave {came}, a metric is one number for a batch"
    with pytest.raises(ModelError, match=message):
        trainer(backend, metrics=[verdict]).fit(X, NUMBERS, progress=False)
    with pytest.raises(ModelError, match=message):
        trainer(backend, metrics=[verdict]).evaluate((X, NUMBERS))
