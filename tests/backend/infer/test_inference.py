"""Inference and evaluation on a backend: batches, streams, threads, modes, several inputs and outputs, files."""

import threading

import numpy as np
import pytest
import sklearn.metrics as sk

import labdl
from labdl import nn, ops
from labdl.data import ArrayDataset, Loader
from labdl.errors import ConfigError, ModelError
from labdl.infer import Classification, Detection, Evaluator, Inference, PreparedSample
from labdl.train.metrics import F1, ConfusionMatrix, TopKAccuracy

pytestmark = pytest.mark.sample(backends=2)

X = np.random.default_rng(0).normal(size=(23, 3)).astype("float32")
Y = np.random.default_rng(1).integers(0, 4, 23)


@pytest.fixture
def model(backend):
    made = nn.Sequential(nn.Linear(8), nn.BatchNorm(), nn.Tanh(), nn.Dropout(0.5), nn.Linear(4))
    return made.build((None, 3), backend=backend.name, seed=0)


@pytest.fixture
def expected(model):
    """The outputs, from the parameters."""
    state = {name: value.astype("float64") for name, value in model.state_dict().items()}
    (k1, b1), (k2, b2) = [(state[f"{at}/kernel:0"], state[f"{at}/bias:0"]) for at in (0, 4)]
    hidden = (X @ k1 + b1) / np.sqrt(1 + 1e-5)
    return np.tanh(hidden) @ k2 + b2


class Two(nn.Module):
    def __init__(self):
        self.head = nn.Linear(2)

    def forward(self, a, b):
        return self.head(a), {"sum": ops.add(a, b), "pair": (a, b)}


class Looks(nn.Module):
    """What it does depends on values, which no compiler can read."""

    def __init__(self):
        self.one, self.other = nn.Linear(2), nn.Linear(2)

    def forward(self, x):
        one, other = self.one(x), self.other(x)
        return one if isinstance(x, labdl.Spec) or labdl.to_numpy(ops.sum(x)) > 0 else other


# -- results


@pytest.mark.filterwarnings("ignore:the model is not compiled but runs as it is")
def test_a_model_that_looks_at_values_is_used_as_it_is(backend):
    inference = Inference(Looks().build((None, 3), backend=backend.name, seed=0))
    state = inference.model.state_dict()
    for x, part in ((np.ones((1, 3)), "one"), (-np.ones((1, 3)), "other")):
        wanted = x @ state[f"{part}/kernel:0"] + state[f"{part}/bias:0"]
        np.testing.assert_allclose(inference.infer(x.astype("float32")), wanted, rtol=1e-5)


def test_one_many_and_a_stream_give_the_same(model, expected):
    inference = Inference(model, batch_size=5)
    np.testing.assert_allclose(inference.infer_one(X[3]), expected[3], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(np.stack(inference.infer(list(X))), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(np.stack(inference.infer(X)), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(np.stack(list(inference.stream(x for x in X))), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(labdl.predict(model, X, batch_size=5), expected, rtol=1e-4, atol=1e-5)
    assert inference.infer([]) == []
    assert inference.infer(np.zeros((0, 3), "float32")) == []


def test_data_sets_and_loaders_may_hold_targets(model, expected):
    inference = Inference(model, batch_size=5)
    data = ArrayDataset(X, Y)
    for source in (data, Loader(data, 7), ArrayDataset(X)):
        np.testing.assert_allclose(np.stack(inference.infer(source)), expected, rtol=1e-4, atol=1e-5)
    shuffled = Loader(data, 7, shuffle=True, seed=3)
    order = np.random.default_rng([3, 0]).permutation(23)
    np.testing.assert_allclose(np.stack(inference.infer(shuffled)), expected[order], rtol=1e-4, atol=1e-5)


def test_any_indexed_data_set_will_do(model, expected):
    class Rows:
        def __len__(self):
            return 23

        def __getitem__(self, at):
            return X[at], Y[at]

    found = Inference(model, batch_size=4).infer(Rows())
    np.testing.assert_allclose(np.stack(found), expected, rtol=1e-4, atol=1e-5)


def test_a_stream_reads_no_more_than_the_batch_it_answers(model):
    read = []

    def samples():
        at = 0
        while True:  # without end
            read.append(at)
            yield X[at % 23]
            at += 1

    results = Inference(model, batch_size=4).stream(samples())
    assert read == []
    for n in range(1, 10):
        next(results)
        assert len(read) == -(-n // 4) * 4
    results.close()


def test_several_inputs_and_outputs_of_any_structure(backend):
    a, b = X[:, :2], X[:, 1:]
    model = Two().build((None, 2), (None, 2), backend=backend.name)
    inference = Inference(model, batch_size=10)
    results = inference.infer(list(zip(a, b, strict=True)))
    kernel = model.state_dict()["head/kernel:0"]
    for i, (head, rest) in enumerate(results):
        np.testing.assert_allclose(head, a[i] @ kernel, rtol=1e-4, atol=1e-5)
        np.testing.assert_array_equal(rest["sum"], a[i] + b[i])
        np.testing.assert_array_equal(rest["pair"][1], b[i])
    first, second = inference.infer_one((a[0], b[0])), results[0]
    np.testing.assert_allclose(first[0], second[0], rtol=1e-5)
    head, rest = labdl.predict(model, (a, b), batch_size=10)
    np.testing.assert_allclose(head, np.stack([r[0] for r in results]), rtol=1e-5)
    np.testing.assert_array_equal(rest["sum"], a + b)
    assert len(inference.infer(ArrayDataset(a, b, Y))) == 23


def test_floats_take_the_width_that_the_model_has(model, expected):
    np.testing.assert_allclose(Inference(model).infer_one(X[0].astype("float64")), expected[0], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(Inference(model).infer_one(X[0].tolist()), expected[0], rtol=1e-4, atol=1e-5)


# -- what models may be


def test_a_graph_a_saved_model_and_one_that_is_not_built(backend, model, expected, tmp_path):
    labdl.save(model, tmp_path / "net")
    loaded = Inference(tmp_path / "net", backend=backend.name)
    np.testing.assert_allclose(np.stack(loaded.infer(X)), expected, rtol=1e-4, atol=1e-5)
    assert loaded.model.backend == backend.name
    assert Inference(str(tmp_path / "net.labdl"), backend=backend.name).infer_one(X[0]).shape == (4,)
    graph = labdl.trace(model, (None, 3))
    drawn = Inference(graph, backend=backend.name)
    assert drawn.infer_one(X[0]).shape == (4,)
    assert drawn.model.backend == backend.name
    fresh = Inference(nn.Sequential(nn.Linear(4)), backend=backend.name)
    assert np.stack(fresh.infer(X)).shape == (23, 4)
    with pytest.raises(FileNotFoundError):
        Inference(tmp_path / "nothing")
    with pytest.raises(ConfigError, match="a Module, a Graph or the path of a saved model, received int"):
        Inference(3)


def test_what_does_not_fit_is_said_in_a_sentence(model):
    with pytest.raises(ConfigError, match="batch_size wants an integer at least 1, received 0"):
        Inference(model, batch_size=0)
    with pytest.raises(ConfigError, match="preprocess wants a function"):
        Inference(model, preprocess="resize")
    with pytest.raises(ModelError, match=r"samples of a batch have the shapes \(3,\), \(4,\)"):
        Inference(model).infer([X[0], np.zeros(4, "float32")])
    with pytest.raises(ConfigError, match="for one sample call infer_one"):
        Inference(model).infer("text")

    class Total(nn.Module):
        def forward(self, x):
            return ops.sum(x)

    with pytest.raises(ModelError, match="samples on its first axis"):
        Inference(Total()).infer(X)


def test_layers_may_be_replaced_and_values_changed(backend, model):
    inference = Inference(model)
    before = inference.infer_one(X[0])
    model.add_module("4", nn.Linear(2))
    assert inference.infer_one(X[0]).shape == (2,)
    model.load_state_dict({name: value * 2 for name, value in model.state_dict().items()})
    again = inference.infer_one(X[0])
    np.testing.assert_allclose(again, labdl.predict(model, X[:1])[0], rtol=1e-4, atol=1e-5)
    assert before.shape == (4,)
    assert np.abs(again - Inference(model).infer_one(X[1])).max() > 1e-3
    model.to("numpy")
    np.testing.assert_allclose(inference.infer_one(X[0]), again, rtol=1e-4, atol=1e-5)


def test_the_function_is_made_once(backend, model, monkeypatch):
    made = []
    own = backend.evaluate_function
    monkeypatch.setattr(backend, "evaluate_function", lambda *a, **k: made.append(1) or own(*a, **k))
    inference = Inference(model)
    for x in X[:4]:
        inference.infer_one(x)
    nn.Linear(3).build((None, 2), backend=backend.name)  # another model is none of its business
    inference.infer(X)
    assert len(made) == 1


def test_compiled_functions_give_the_same(backend, model, expected):
    model.train()
    compiled = None if backend.name == "torch" else True  # torch.compile takes half a minute for its first function
    inference = Inference(model, compiled=compiled, batch_size=10)
    for _ in range(2):
        np.testing.assert_allclose(np.stack(inference.infer(X)), expected, rtol=1e-4, atol=1e-5)
    assert all(m.training for m in model.modules())


# -- before and behind the model


def test_samples_are_prepared_and_outputs_read(model, expected):
    def parsed(text):
        return np.array([float(word) for word in text.split()])

    texts = [" ".join(map(repr, x.tolist())) for x in X]
    inference = Inference(
        model, preprocess=[parsed, np.negative], postprocess=["classification", lambda found: found.label]
    )
    negated = Inference(model, preprocess=np.negative)
    labels = np.stack(negated.infer(X)).argmax(1)
    assert inference.infer(texts) == labels.tolist()
    assert inference.infer_one(texts[0]) == labels[0]
    plain = Inference(model, preprocess=lambda x: x)
    np.testing.assert_allclose(np.stack(plain.infer(ArrayDataset(X, Y))), expected, rtol=1e-4, atol=1e-5)


def test_settings_of_a_call_are_for_that_call(model):
    inference = Inference(model, postprocess=Classification(multilabel=True, threshold=0.0), batch_size=4)
    assert [len(found.labels) for found in inference.infer(X)] == [4] * 23
    assert [len(found.labels) for found in inference.infer(X, threshold=1.0)] == [0] * 23
    assert len(inference.infer_one(X[0], top_k=2).labels) == 2
    assert len(inference.infer_one(X[0]).labels) == 4
    with pytest.raises(ConfigError, match=r"Classification has the settings top_k, names.*received 'tresh'"):
        inference.infer_one(X[0], tresh=1)
    with pytest.raises(ConfigError, match="threshold wants a number"):
        inference.stream(X, threshold=3.0)  # at once, before a result is asked for


def test_samples_have_settings_of_their_own(model):
    """The first one allows one class, the others as many as their number; what the post-processor does not know is left out."""

    def prepared(pair):
        at, x = pair
        return PreparedSample(x, {"top_k": at + 1, "unknown": 3}) if at < 3 else x

    inference = Inference(model, preprocess=[prepared, np.asarray], postprocess="classification")
    found = inference.infer(list(enumerate(X[:5])))
    assert [len(f.labels) for f in found] == [1, 2, 3, 4, 4]
    assert [len(f.labels) for f in inference.infer(list(enumerate(X[:5])), top_k=2)] == [2] * 5


def test_a_subclass_changes_the_steps(model, expected):
    class Doubled(Inference):
        def preprocess(self, sample):
            return np.asarray(sample[1], "float32")

        def forward(self, x):
            return self.model(x) * 2.0

        def postprocess(self, output, settings):
            return float(output.max())

    found = Doubled(model).infer(list(enumerate(X)))
    np.testing.assert_allclose(found, 2 * expected.max(1), rtol=1e-4, atol=1e-5)
    assert isinstance(Doubled(model).infer_one((0, X[0])), float)


def test_outputs_that_are_tensors_may_be_read(backend):
    scores = X[0]
    found, again = Classification()(backend.tensor(scores)), Classification()(scores)
    np.testing.assert_array_equal(found.labels, again.labels)
    boxes = np.array([[0, 0, 4, 4], [0, 0, 4, 5], [5, 5, 9, 9]], "float32")
    objects = Detection(threshold=0.0)((backend.tensor(boxes), backend.tensor(np.array([0.9, 0.8, 0.7], "float32"))))
    np.testing.assert_array_equal(objects.boxes, boxes[[0, 2]])


# -- modes and threads


def test_every_mode_is_as_it_was(model):
    model.train()
    dict(model.named_modules())["1"].eval()
    modes = [m.training for m in model.modules()]
    state = model.state_dict()
    inference = Inference(model, batch_size=5)
    results = inference.stream(X)
    next(results)
    assert [m.training for m in model.modules()] == modes  # between results as well
    list(results)
    with pytest.raises(Exception):  # noqa: B017, PT011 (each framework has its own)
        inference.infer([np.zeros(7, "float32")])
    assert [m.training for m in model.modules()] == modes
    assert all(np.array_equal(value, state[name]) for name, value in model.state_dict().items())


def test_several_threads_share_an_inference(backend, model, expected):
    model.train()  # dropout would show at once
    inference = Inference(model, batch_size=3, postprocess=lambda output, factor=1.0: output * factor)
    problems = []

    def work(start):
        try:
            for factor in (1.0, 2.0):
                found = np.stack(inference.infer(X[start:], factor=factor))
                np.testing.assert_allclose(found, factor * expected[start:], rtol=1e-4, atol=1e-4)
                other = labdl.predict(model, X[start:], batch_size=4)
                np.testing.assert_allclose(other, expected[start:], rtol=1e-4, atol=1e-4)
        except BaseException as error:  # shown below
            problems.append(error)

    threads = [threading.Thread(target=work, args=(start,)) for start in (0, 3, 11)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems
    assert model.training
    assert all(m.training for m in model.modules())


# -- evaluation


def test_figures_are_those_of_all_outputs_at_once(model, expected):
    inference = Inference(model, batch_size=5)
    metrics = ["accuracy", TopKAccuracy(k=2), F1(average="none"), "confusion_matrix", lambda o, t: float(len(o))]
    evaluator = Evaluator(inference, (X, Y), metrics, loss="cross_entropy")
    figures = evaluator.evaluate()
    logs = expected - np.log(np.exp(expected).sum(1, keepdims=True))
    chosen = expected.argmax(1)
    assert figures["loss"] == pytest.approx(-logs[np.arange(23), Y].mean(), rel=1e-4)
    assert figures["accuracy"] == pytest.approx(sk.accuracy_score(Y, chosen))
    assert figures["top_k_accuracy"] == pytest.approx(sk.top_k_accuracy_score(Y, expected, k=2))
    np.testing.assert_allclose(figures["f1"], sk.f1_score(Y, chosen, average=None))
    np.testing.assert_array_equal(figures["confusion_matrix"], sk.confusion_matrix(Y, chosen))
    np.testing.assert_array_equal(evaluator.confusion, sk.confusion_matrix(Y, chosen))
    assert list(figures)[-1] == "<lambda>"
    assert all(m.training for m in model.modules())


def test_any_source_of_rows_may_be_evaluated(model, expected):
    right = sk.accuracy_score(Y, expected.argmax(1))
    evaluator = Evaluator(model, metrics="accuracy", batch_size=4)
    rows = list(zip(X, Y, strict=True))
    for source in ((X, Y), ArrayDataset(X, Y), Loader(ArrayDataset(X, Y), 6, shuffle=True), rows, iter(rows)):
        assert evaluator.evaluate(source)["accuracy"] == pytest.approx(right)
    assert evaluator.evaluate((X[:4], Y[:4]), metrics=["f1"]).keys() == {"f1"}
    doubled = Evaluator(Inference(model, preprocess=lambda x: x / 2), ((2 * X).astype("float32"), Y), ["accuracy"])
    assert doubled.evaluate()["accuracy"] == pytest.approx(right)


def test_a_report_names_the_classes(model, expected):
    data = ArrayDataset(X, Y, classes=["ant", "bee", "cat", "dog"])
    evaluator = Evaluator(model, data, ["accuracy", ConfusionMatrix()], loss="cross_entropy", batch_size=8)
    lines = evaluator.report().splitlines()
    report = sk.classification_report(Y, expected.argmax(1), output_dict=True, zero_division=0)
    assert lines[0].split()[0] == "loss"
    row = next(line for line in lines if line.startswith("bee")).split()
    assert row[1:] == [*(f"{report['1'][k]:.4f}" for k in ("precision", "recall", "f1-score")), f"{(Y == 1).sum()}"]
    assert lines[-1].split()[0] == "weighted"
    assert evaluator.report() == "\n".join(lines)  # of the last evaluation
    shorter = evaluator.report((X[:3], Y[:3]))
    assert shorter.splitlines()[-1].split()[-1] == "3"


def test_results_of_a_task_are_what_metrics_see(backend):
    """Token numbers at each place become texts."""

    class Shown(nn.Module):
        def forward(self, x):
            return x

    scores = np.eye(4, dtype="float32")[np.array([[1, 2, 0], [3, 3, 0]])]
    inference = Inference(
        Shown().build((None, 3, 4), backend=backend.name),
        postprocess={"name": "text_decoding", "vocabulary": [".", "a", "b", "c"], "end": 0},
    )
    rows = [(scores[0], "ab"), (scores[1], "ccc")]
    evaluator = Evaluator(inference, rows, ["exact_match", "character_error_rate"])
    assert evaluator.evaluate() == {"exact_match": 0.5, "character_error_rate": pytest.approx(1 / 5)}
    assert evaluator.confusion is None
    assert "exact_match" in evaluator.report()
    assert evaluator.evaluate(end=2)["exact_match"] == 0.0
    with pytest.raises(ModelError, match="a loss wants targets as arrays"):
        Evaluator(inference, rows, loss="mean_squared_error").evaluate()


def test_pictures_may_have_different_numbers_of_objects(backend):
    class Shown(nn.Module):
        def forward(self, boxes, scores):
            return boxes, scores

    boxes = np.array([[[0, 0, 9, 9], [20, 20, 30, 30]], [[5, 5, 9, 9], [50, 50, 60, 60]]], "float32")
    scores = np.array([[0.9, 0.8], [0.7, 0.01]], "float32")
    objects = [np.array([[0, 0, 9, 9, 0], [20, 20, 30, 30, 0]]), np.array([[5, 5, 9, 9, 0]])]
    model = Shown().build((None, 2, 4), (None, 2), backend=backend.name)
    evaluator = Evaluator(Inference(model, postprocess="detection"), metrics=["mean_average_precision", "box_recall"])
    found = evaluator.evaluate(list(zip(boxes, scores, objects, strict=True)))
    assert found == {"mean_average_precision": pytest.approx(1.0), "box_recall": pytest.approx(1.0)}


def test_an_evaluation_that_cannot_be_is_refused(model):
    with pytest.raises(ConfigError, match="nothing to evaluate"):
        Evaluator(model).evaluate()
    with pytest.raises(ConfigError, match=r"metrics wants any of .*received 'acuracy'"):
        Evaluator(model, metrics=["acuracy"])
    with pytest.raises(ConfigError, match="loss wants one of"):
        Evaluator(model, loss="magic")
    with pytest.raises(ConfigError, match="and a target, received 1 value"):
        Evaluator(model).evaluate(ArrayDataset(X))
    with pytest.raises(ConfigError, match="data set is empty"):
        Evaluator(model).evaluate([])
    with pytest.raises(ConfigError, match="batch_size wants"):
        Evaluator(model, batch_size=-1)
    with pytest.raises(ConfigError, match="postprocess must be given to the Inference"):
        Evaluator(Inference(model), postprocess="classification")
    with pytest.raises(ConfigError, match="received 'width'"):
        Evaluator(model, (X, Y)).evaluate(width=3)
