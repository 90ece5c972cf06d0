"""Failures of a training: errors that name the cause, and restoring the last good state."""

import errno
import shutil

import numpy as np
import pytest

import labdl
from labdl import nn, ops
from labdl.errors import DataError, GradientError, ModelError, UpdateError
from labdl.train import SGD, Adam, Checkpoint, Epoch, Step, Trainer, checkpoint
from labdl.train.checkpoint import checkpoints

pytestmark = pytest.mark.sample(backends=1)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(24, 3)).astype("float32")
Y = RNG.normal(size=(24, 2)).astype("float32")
COMPILED = pytest.mark.parametrize("compiled", [None, False])


class Square(nn.Module):
    def forward(self, x):
        return ops.exp(ops.square(x))


class Limit(nn.Module):
    """The identity, infinite above 100."""

    def forward(self, x):
        return x / ops.astype(ops.abs(x) < 100.0, "float32")


class Root(nn.Module):
    """The square root, with an infinite gradient at 0."""

    def forward(self, x):
        return ops.sqrt(ops.square(x))


def trainer(backend, *layers, model=None, loss="mean_squared_error", **options):
    model = model or nn.Sequential(*layers or [nn.Linear(2)])
    return Trainer(model, loss, backend=backend.name, seed=0, **{"optimizer": SGD(0.05), **options})


def same(values, others):
    for name, value in values.items():
        np.testing.assert_array_equal(value, others[name], err_msg=name)


@COMPILED
def test_first_layer_with_a_nonfinite_output_is_named(backend, compiled):
    t = trainer(
        backend, nn.Linear(4), nn.Tanh(), nn.Sequential(nn.Linear(4), Square()), nn.Linear(2), compiled=compiled
    )
    model = t.model.build((None, 3), backend=backend.name, seed=0)
    model.load_state_dict({"2/0/kernel:0": np.full((4, 4), 50, "float32")}, "2/0/kernel:0")
    before = model.state_dict()
    message = (
        r"the loss is not finite at step 1: the output of 2/1 \(Square\) has NaN or infinity, though its inputs are "
        r"finite, up to \d+; the cause is ops\.exp in line \d+ of test_trainer_failures\.py, `return ops\.exp.*`, which "
        r"gives NaN or infinity for inputs between \d+ and [\d.e+]+; the model is restored to the state before the training"
    )
    with pytest.raises(ModelError, match=message):
        t.fit(X, Y, batch_size=8, progress=False)
    same(before, model.state_dict())


@COMPILED
def test_layer_that_fails_later_is_found_by_repeating_steps(backend, compiled):
    """Some samples of the second epoch are large; the state after the first epoch is restored."""
    x = X.copy()
    x[16:] = 1e4
    labdl.seed(0)

    class Late(Trainer):
        def preprocess(self, batch):
            arrays, y = batch
            late = self.loop is not None and self.loop.progress.epoch == 1
            return (arrays if late else np.clip(arrays, -3, 3)), y

    model = nn.Sequential(nn.Linear(4), nn.Dropout(0.2), Square(), nn.Linear(2))
    t = Late(model, "mean_squared_error", Adam(0.001), backend=backend.name, seed=0, compiled=compiled)
    states = {}

    def train():
        for event in t.events((x, Y), epochs=3, batch_size=8):
            if isinstance(event, Epoch):
                states[event.epoch] = t.state_dict()

    with pytest.raises(
        ModelError, match=r"at step \d: the output of 2 \(Square\) .* the model is restored to the state after epoch 1"
    ):
        train()
    now = t.state_dict()
    assert set(states) == {1}
    same(states[1]["parameters"], now["parameters"])
    same(states[1]["optimizer"], now["optimizer"])
    assert np.isfinite(t.fit(np.clip(x, -1, 1), Y, progress=False)["loss"][0]), "the training can continue"


@COMPILED
@pytest.mark.parametrize("sample", [5, 20, 63])
def test_nan_in_the_data_is_named_and_leaves_the_last_good_state(backend, compiled, sample):
    """Also where pooling hides it from the loss, so that only the parameters show it, steps later."""
    pictures = RNG.normal(size=(64, 1, 6, 6)).astype("float32")
    pictures[sample, 0, 1, 1] = np.nan
    model = nn.Sequential(nn.Conv2d(2, padding="same"), nn.ReLU(), nn.MaxPool2d(), nn.Flatten(), nn.Linear(3))
    t = Trainer(model, "cross_entropy", Adam(0.01), backend=backend.name, compiled=compiled)
    with pytest.raises(ModelError, match=f"at step {sample // 16 + 1}: the inputs of this batch have NaN or infinity"):
        t.fit((pictures, RNG.integers(0, 3, 64)), batch_size=16, epochs=2, shuffle=False, progress=False)
    assert all(np.isfinite(value).all() for value in model.state_dict().values())


@COMPILED
def test_nonfinite_gradient_is_named(backend, compiled):
    t = trainer(backend, nn.Linear(2), Root(), nn.Linear(2), compiled=compiled)
    t.model.build((None, 3), backend=backend.name, seed=0)
    t.model.load_state_dict({"0/kernel:0": np.zeros((3, 2), "float32")}, "0/kernel:0")
    before = t.model.state_dict()
    message = (
        r"the gradient of 0/bias:0 has NaN or infinity at step 1, though the loss is finite: the cause is ops\.sqrt "
        r"in line \d+ of test_trainer_failures\.py, `return ops\.sqrt\(.*`, whose gradient is not finite, .* between 0 and 0;"
    )
    with pytest.raises(GradientError, match=message):
        t.fit(X, Y, batch_size=8, progress=False)
    same(before, t.model.state_dict())


@COMPILED
def test_nonfinite_update_is_named(backend, compiled):
    """The gradients are finite, but the updated parameters exceed float32."""
    t = trainer(backend, optimizer=SGD(1e38), compiled=compiled)
    with pytest.raises(
        UpdateError, match=r"the update of step \d made 0/\w+:0 NaN or infinite: try a smaller learning rate"
    ):
        t.fit(X * 100, Y * 100, batch_size=24, epochs=3, progress=False)
    assert all(np.isfinite(v).all() for v in t.model.state_dict().values())


def test_nonfinite_loss_function_is_named(backend):
    def logarithm(output, target):
        return ops.mean(ops.log(ops.abs(output) * 0.0))

    message = (
        r"the model's output is finite, up to [\d.]+, but its loss is -inf; the cause is ops\.log in line \d+ of test_"
    )
    with pytest.raises(ModelError, match=message):
        trainer(backend, loss=logarithm).fit(X, Y, progress=False)
    huge = np.full_like(Y, 1e30)
    with pytest.raises(ModelError, match=r"up to [\d.e+]+, but its loss is inf; look at the loss function"):
        trainer(backend).fit(X, huge, progress=False)


def test_large_model_is_restored_from_its_last_checkpoint(backend, tmp_path, monkeypatch):
    monkeypatch.setattr(labdl.train.snapshot, "LARGEST", 10)
    t, kept = trainer(backend), {}

    def train():
        for event in t.events((X, Y), epochs=3, batch_size=8, checkpoint=Checkpoint(tmp_path)):
            if isinstance(event, Epoch) and event.epoch == 2:
                kept.update(t.model.state_dict())
                t.loop.loader.dataset = labdl.data.ArrayDataset(X, np.full_like(Y, np.nan))

    with pytest.raises(
        ModelError, match="the targets of this batch have NaN or infinity; the model is restored from the last check"
    ):
        train()
    same(kept, t.model.state_dict())


def test_snapshots_are_less_frequent_if_expensive(backend, monkeypatch):
    """The steps of more than one epoch are repeated to find the cause."""
    monkeypatch.setattr(labdl.train.snapshot, "SMALL", 0)

    def growing(output, target):
        return -ops.mean(ops.square(output))

    model = nn.Sequential(nn.Linear(2), Limit()).build((None, 3), backend=backend.name, seed=0)
    before = model.state_dict()
    t = trainer(backend, model=model, loss=growing, optimizer=SGD(0.25), schedule="cosine_decay")

    def train():
        for event in t.events((X, Y), epochs=30, batch_size=8):
            if isinstance(event, Step):
                t.loop.snapshot.cost = 1e9

    with pytest.raises(
        ModelError, match=r"the output of 1 \(Limit\) .*the model is restored to the state before the training"
    ) as caught:
        train()
    assert t.loop.progress.epoch > 1
    assert f"at step {t.loop.progress.step + 1}:" in str(caught.value)
    same(before, model.state_dict())


def test_nonfinite_loss_of_a_phase(backend):
    class Mine(Trainer):
        def phases(self):
            def good(x, y):
                return ops.mean_squared_error(self.model(x), y)

            def bad(x, y):
                return ops.mean(ops.log(ops.abs(self.model(x)) * 0.0))

            return [labdl.train.Phase("good", good, "*kernel*"), labdl.train.Phase("bad", bad, "*bias*")]

    t = Mine(nn.Sequential(nn.Linear(2)), backend=backend.name, seed=0)
    with pytest.raises(ModelError, match="but its loss is -inf"):
        t.fit(X, Y, progress=False)


class LogBetweenLayers(nn.Module):
    def __init__(self, compute):
        super().__init__()
        self.compute = compute
        self.c, self.h = nn.Linear(3), nn.Linear(2)

    def forward(self, x):
        return self.h(self.compute(self.c(x)))


def negative_log(x):
    return ops.log(-1.0 - ops.abs(x))


BETWEEN = {
    "an operator": (
        lambda x: ops.log(-ops.abs(x) - 1),
        r"ops\.log in line \d+ of test_trainer_failures\.py, `.*ops\.log\(-ops",
    ),
    "an infix operator": (lambda x: x / 0.0, r"ops\.divide in line \d+ of test_trainer_failures\.py, `.*x / 0\.0"),
    "a function": (negative_log, r"ops\.log in line \d+ of test_trainer_failures\.py, `return ops\.log\(-1"),
    "a composite": (lambda x: ops.logit(ops.abs(x) + 2), r"ops\.logit in line \d+ of"),
}


@COMPILED
@pytest.mark.parametrize("case", BETWEEN)
def test_operator_between_layers_is_named_with_its_line(case, backend, compiled):
    """Not the layer after it, whose inputs are not finite."""
    compute, message = BETWEEN[case]
    t = trainer(backend, model=LogBetweenLayers(compute), compiled=compiled)
    with pytest.raises(ModelError, match=f"the loss is not finite at step 1: {message}") as caught:
        t.fit(X, Y, batch_size=8, progress=False)
    assert "Linear" not in str(caught.value)
    assert caught.value.place == {"node": None, "what": "output"}


def test_operator_in_a_block_is_named_with_the_block(backend):
    t = trainer(backend, nn.Linear(3), LogBetweenLayers(lambda x: ops.sqrt(-ops.abs(x) - 1)), nn.Linear(2))
    with pytest.raises(ModelError, match=r"ops\.sqrt in line .* for inputs between -[\d.]+ and -1") as caught:
        t.fit(X, Y, batch_size=8, progress=False)
    assert caught.value.place == {"node": "1", "what": "output"}


class Masked(nn.Module):
    """Numbers, and minus infinity where they are negative."""

    def forward(self, x):
        return ops.where(x > 0, x, float("-inf"))


def attention(x, scores):
    """The softmax of masked scores, which is finite: some keys are not masked."""
    return ops.softmax(ops.concat([scores, x * 0], axis=-1), axis=-1)[:, :3]


HARMLESS = {
    "a mask": lambda x: attention(x, ops.where(x > 0, x, float("-inf"))),
    "a mask of a module": lambda x: attention(x, Masked()(x)),
    "a maximum": lambda x: ops.maximum(ops.full_like(x, float("-inf")), x),
    "a minimum": lambda x: ops.minimum(ops.exp(ops.abs(x) * 1e4), 5.0),
    "a branch that is not selected": lambda x: ops.where(x > 1e9, ops.log(-1 - ops.abs(x)), x),
}


@pytest.mark.parametrize("case", HARMLESS)
def test_values_that_do_not_reach_the_loss_are_not_its_cause(case, backend):
    def compute(x):
        return ops.sqrt(-1 - ops.abs(HARMLESS[case](x)))  # the cause

    t = trainer(backend, model=LogBetweenLayers(compute))
    with pytest.raises(ModelError, match=r"at step 1: ops\.sqrt in line \d+ .*# the cause`, which gives"):
        t.fit(X, Y, batch_size=8, progress=False)


@pytest.mark.parametrize(
    "harmless",
    [
        lambda x: attention(x, ops.where(x > 0, x, float("-inf"))),
        lambda x: ops.where(x > 1e9, ops.log(-1 - ops.abs(x)), x),
    ],
)
def test_operator_whose_gradient_is_not_finite_is_named(harmless, backend):
    """The loss is finite."""
    t = trainer(backend, model=LogBetweenLayers(lambda x: ops.sqrt(x * 0) + harmless(x) / 2))
    with pytest.raises(GradientError, match=r"the gradient of c/\w+:0 .*: the cause is ops\.sqrt in line"):
        t.fit(X, Y, batch_size=8, progress=False)


@pytest.mark.parametrize(
    ("compute", "cause"),
    [
        (lambda x: ops.log(Masked()(-ops.abs(x))), "log"),  # NaN of an infinity that is wanted
        (lambda x: ops.softmax(Masked()(-ops.abs(x)), axis=-1), "softmax"),
        (lambda x: Masked()(-ops.abs(x)) * 0.0, "multiply"),
        (lambda x: ops.exp(ops.abs(x) * 1e4) * 0.0, "exp"),  # NaN of an overflow
        (lambda x: ops.where(x > 1e9, ops.log(-1 - ops.abs(x)), ops.sqrt(-1 - ops.abs(x))), "sqrt"),
    ],
)
def test_operator_that_makes_the_value_is_named(compute, cause, backend):
    t = trainer(backend, model=LogBetweenLayers(compute))
    with pytest.raises(ModelError, match=rf"at step 1: ops\.{cause} in line"):
        t.fit(X, Y, batch_size=8, progress=False)


def test_layer_after_a_mask_is_named_without_the_mask(backend):
    """A value of a layer's own code has no line."""
    t = trainer(backend, nn.Linear(3), Masked(), nn.ReLU(), nn.Linear(2))
    t.model.build((None, 3), backend=backend.name, seed=0)
    t.model.load_state_dict({"3/kernel:0": np.full((3, 2), 3e38, "float32")}, "3/kernel:0")
    with pytest.raises(ModelError, match=r"the output of 3 \(Linear\) has NaN or infinity, though") as caught:
        t.fit(X * 100, Y, batch_size=8, progress=False)
    assert "ops." not in str(caught.value)


def test_node_of_a_graph_is_named(backend):
    """Not the line of LabDL that runs it."""
    model = labdl.trace(LogBetweenLayers(negative_log), (None, 3)).to_module()
    with pytest.raises(
        ModelError, match=r"the output of log \(ops\.log\) has NaN or infinity, though its in"
    ) as caught:
        trainer(backend, model=model).fit(X, Y, batch_size=8, progress=False)
    assert "line" not in str(caught.value)
    assert caught.value.place == {"node": "log", "what": "output"}


# -- data


class Rows:
    """A data set of single samples, one of which cannot be read."""

    name = "rows"

    def __init__(self, wrong):
        self.wrong = wrong

    def __len__(self):
        return 24

    def __getitem__(self, i):
        if i == 13 and self.wrong == "unreadable":
            raise OSError("the disk has a scratch")
        return (X[i] if i != 13 or self.wrong != "shape" else X[i, :2]), Y[i]


class Batches(labdl.data.ArrayDataset):
    def __getitem__(self, index):
        if np.any(np.asarray(index) == 13):
            raise KeyError("no such file")
        return super().__getitem__(index)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (Rows("unreadable"), r"sample 13 of rows cannot be read: OSError: the disk has a scratch"),
        (Rows("shape"), r"sample 13 of rows is of shapes \(2,\), \(2,\), sample 8 of \(3,\), \(2,\)"),
        (Batches(X, Y, name="files"), r"sample 13 of files cannot be read: KeyError: 'no such file'"),
    ],
)
def test_unreadable_sample_is_named(backend, data, sentence):
    t = trainer(backend)
    with pytest.raises(DataError, match=sentence):
        t.fit(data, batch_size=8, shuffle=False, progress=False)
    assert t.loop.progress.step == 1
    with pytest.raises(DataError, match=sentence.replace("sample 8", r"sample \d+")):
        t.evaluate(data)


def test_data_set_of_single_samples_trains_like_arrays(backend):
    one, other = trainer(backend), trainer(backend)
    expected = one.fit(X, Y, epochs=2, batch_size=8, progress=False)["loss"]
    assert other.fit(Rows(""), epochs=2, batch_size=8, progress=False)["loss"] == pytest.approx(expected, rel=1e-6)


def test_finite_training_is_not_searched(backend, monkeypatch):
    """Gradients and modules are checked only if the loss, or a parameter at the end of an epoch, is not finite."""
    monkeypatch.setattr(labdl.train.nonfinite.NonFiniteCheck, "_search", lambda *_: pytest.fail("searched"))
    calls = []
    finite = backend.finite
    monkeypatch.setattr(backend, "finite", lambda variables: calls.append(1) or finite(variables))
    steps = [e for e in trainer(backend).events((X, Y), epochs=2, batch_size=4) if isinstance(e, Step)]
    assert len(steps) == 12
    assert len(calls) == 2


@COMPILED
def test_error_in_user_code_leaves_the_framework_usable(backend, compiled):
    def wrong(output, target):
        raise OSError("mine")

    with pytest.raises(OSError, match="mine"):
        trainer(backend, loss=wrong, compiled=compiled).fit(X, Y, progress=False)
    t = trainer(backend, compiled=compiled)
    t.fit(X, Y, progress=False)
    t.model.load_state_dict(t.model.state_dict())


# -- memory and disks


def greedy(output, target):
    """Allocates a pebibyte, which fails on any machine."""
    number = ops.mean(output, axis=(0, 1), keepdims=True)
    return ops.mean(ops.matmul(ops.broadcast_to(number, (2**24, 1)), ops.broadcast_to(number, (1, 2**24))))


def test_out_of_memory_in_fit_has_a_short_message(backend):
    t = trainer(backend, loss=greedy, compiled=False, accumulate=2)
    advice = "batch_size=8: try a smaller batch_size, such as 4, or the batch in more parts than accumulate=2"
    with pytest.raises(MemoryError, match=f"not enough memory for a step with {advice}") as caught:
        t.fit(X, Y, batch_size=8, progress=False)
    assert caught.value.__cause__ is not None
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("way", ["fit", "start"])
def test_model_larger_than_memory_raises_before_training(backend, way, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    t = trainer(backend, nn.Linear(2**45))
    with pytest.raises(ModelError, match=r"there is no memory for the parameter .* needs 422,212\.5 GB"):
        getattr(t, way)(X, Y, batch_size=1)
    assert not list(tmp_path.iterdir())


def test_full_disk_in_fit_and_resume_from_the_last_checkpoint(backend, tmp_path, monkeypatch):
    write, options = (
        checkpoint._write,
        {"epochs": 3, "batch_size": 8, "progress": False, "checkpoint": Checkpoint(tmp_path)},
    )

    def writing(path, data):
        if "00000003" not in str(path):
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        write(path, data)

    monkeypatch.setattr(checkpoint, "_write", writing)
    with pytest.raises(
        OSError, match=r"the disk is full at .*files that were saved before are intact; free some space"
    ) as caught:
        trainer(backend).fit(X, Y, **options)
    assert caught.value.errno == errno.ENOSPC
    assert [path.name for path in checkpoints(tmp_path)] == ["step-00000003"]
    monkeypatch.undo()
    whole, again = trainer(backend), trainer(backend)
    expected = whole.fit(X, Y, epochs=3, batch_size=8, progress=False)
    assert again.fit(X, Y, resume=True, **options) == expected
    same(whole.model.state_dict(), again.model.state_dict())


@pytest.mark.parametrize("kept", [{"every": 1}, {}])
def test_deleted_checkpoint_folder_is_created_again_or_named(backend, kept, tmp_path):
    """The folder is deleted, then replaced by a file."""
    folder, removed = tmp_path / "kept", []

    def vanish(event):
        if isinstance(event, Epoch) and event.epoch in (1, 2):
            removed.append([path.name for path in checkpoints(folder)])
            shutil.rmtree(folder)
            if event.epoch == 2:
                folder.write_text("in the way")

    t = trainer(backend)
    with pytest.raises(
        FileExistsError, match=r"no checkpoint could be written to .*kept \(File exists\): earlier ones are intact"
    ):
        t.fit(X, Y, epochs=3, batch_size=8, progress=False, checkpoint=Checkpoint(folder, **kept), callbacks=[vanish])
    assert removed[1][-1] == "step-00000006"
    assert len(t.progress.history["loss"]) == (3 if not kept else 2)
    with pytest.raises(FileExistsError, match="no checkpoint could be written"):
        t.loop.save(folder)
    assert t.loop.save(tmp_path / "elsewhere").is_dir()
