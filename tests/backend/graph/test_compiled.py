"""Compiled steps: the flat form of every layer has the gradients of the layer, and trainings give equal results."""

import functools
import types
import warnings

import numpy as np
import pytest
from layers import CASES, NAMES, draw, flat, twins

import labdl
from labdl import nn, ops
from labdl.graph.lowering.compilable import Compilable
from labdl.spec import Spec
from labdl.train import SGD, Adam, AdamW, RMSprop, Trainer

pytestmark = pytest.mark.sample(backends=2)

FLAT = ("paddle", "mindspore")  # whose compilers read flat calls
WHOLE = ("tensorflow", *FLAT)  # which compile the optimizer with the step


@pytest.fixture(autouse=True)
def seeded():
    labdl.seed(3)


class Shift(nn.Module):
    """What is added to an input, so that its gradient is that of a parameter."""

    def __init__(self, shape):
        self.value = nn.Parameter(shape, "zeros")

    def forward(self, x):
        return x + self.value


class Shifted(nn.Module):
    def __init__(self, layer, arrays):
        self.layer = layer
        self.shifts = nn.ModuleList(
            Shift(a.shape[1:]) if a.dtype.kind == "f" and a.ndim else nn.Identity() for a in arrays
        )

    def forward(self, *inputs):
        return self.layer(*(shift(x) for shift, x in zip(self.shifts, inputs, strict=True)))


# MindSpore compiles a layer for seconds: one case of each; the others for a third of a second: every case
OTHERS = ("torch", "paddle", "tensorflow")
EACH = [
    pytest.param(case, marks=pytest.mark.backends(*OTHERS, *(["mindspore"] if case in NAMES else []))) for case in CASES
]


def is_random(run, inputs, loss):
    """Whether a loss depends on random numbers: with others it is another one."""
    labdl.seed(99)
    return not np.allclose(labdl.to_numpy(run(*inputs)[0][0]), loss, rtol=1e-6)


@pytest.mark.sample(every=40, backends=FLAT)
@pytest.mark.parametrize("case", EACH)
def test_every_layer_has_its_gradients_in_each_run_of_its_compiled_form(case, backend):
    arrays = draw(case)
    model = Shifted(twins(case, backend, training=True)[0], arrays).train()
    outputs = flat(model(*map(backend.tensor, arrays)))
    if not any("float" in backend.spec_of(part).dtype for part in outputs):
        return

    def objective(*inputs):
        outputs = flat(model(*inputs))
        parts = [ops.sum(ops.square(part)) for part in outputs if "float" in backend.spec_of(part).dtype]
        return functools.reduce(ops.add, parts), outputs

    learned = types.SimpleNamespace(variables=[p.value for p in model.parameters() if p.trainable], version=0)
    eager = backend.gradient_function(objective, learned, compiled=False)
    compiled = backend.gradient_function(Compilable(objective, [model], backend), learned, compiled=True)
    for factor in (1.0, 1.5, 0.5):  # a kernel that keeps something is right at first
        inputs = [backend.tensor((a * factor).astype(a.dtype) if a.dtype.kind == "f" else a) for a in arrays]
        before, random, found = model.state_dict(), backend.random_state(), []
        for run in (compiled, eager):
            model.load_state_dict(before)
            backend.set_random_state(random)
            with warnings.catch_warnings():
                # such as that there is no flat form; PyTorch says more, and leaves recurrent layers out
                warnings.simplefilter("error" if backend.name != "torch" else "ignore")
                (loss, _), gradients = run(*inputs)
            gradients = [np.zeros(()) if g is None else labdl.to_numpy(g) for g in gradients]
            found.append([labdl.to_numpy(loss), *gradients, *model.state_dict().values()])
        model.load_state_dict(before)
        if backend.name not in FLAT and is_random(eager, inputs, found[1][0]):
            return  # the other compilers draw other random numbers
        for ours, theirs in zip(*found, strict=True):
            np.testing.assert_allclose(
                ours, theirs * np.ones(ours.shape), rtol=2e-5, atol=1e-5 * np.abs(theirs).max(initial=1)
            )


def mixed():
    return nn.Sequential(
        nn.Conv2d(4, padding="same"),
        nn.BatchNorm(),
        nn.ReLU(),
        nn.Dropout(0.3),
        nn.MaxPool2d(),
        nn.Flatten(),
        nn.Tanh(),
        nn.Linear(10),
    )


class Reader(nn.Module):
    def __init__(self, recurrent):
        self.words, self.recurrent, self.head = nn.Embedding(20, 8), recurrent, nn.Linear(10)

    def forward(self, x):
        return self.head(ops.mean(self.recurrent(self.words(x))[0], axis=1))


def pictures():
    draws = np.random.default_rng(0)
    return draws.normal(size=(26, 3, 8, 8)).astype("float32"), draws.integers(0, 10, 26)


def trained(model, backend, compiled, data, optimizer, **options):
    labdl.seed(7)
    trainer = Trainer(model, optimizer=optimizer, backend=backend.name, seed=1, compiled=compiled, **options)
    history = trainer.fit(*data, epochs=2, batch_size=8, progress=False)
    return history["loss"], model.state_dict()


OPTIMIZERS = {
    "sgd": SGD(0.05),
    "nesterov": SGD(0.02, momentum=0.9, nesterov=True, weight_decay=1e-3),
    "adam": Adam(1e-2),
    "groups": AdamW(1e-2, groups=[("*/bias:0", {"weight_decay": 0.0, "learning_rate": 1e-3})]),
    "rule": RMSprop(1e-3),
}


@pytest.mark.sample(every=5, backends=["tensorflow", "paddle", "mindspore"])
@pytest.mark.parametrize(
    "case", [pytest.param(o, marks=[] if o == "sgd" else pytest.mark.backends(*WHOLE)) for o in OPTIMIZERS]
)
@pytest.mark.inductor
def test_a_compiled_training_is_that_of_the_eager_one(case, backend):
    """The last batch of an epoch is smaller, there are statistics and dropout, and each is what it would have been."""
    eager, values = trained(mixed(), backend, False, pictures(), OPTIMIZERS[case])
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        compiled, others = trained(mixed(), backend, True, pictures(), OPTIMIZERS[case])
    if backend.name in FLAT:  # the other compilers draw other random numbers
        np.testing.assert_allclose(compiled, eager, rtol=1e-4)
        for name, value in values.items():
            np.testing.assert_allclose(others[name], value, rtol=1e-3, atol=1e-4, err_msg=name)


@pytest.mark.sample(every=2)
@pytest.mark.parametrize("layer", [nn.LSTM, nn.GRU])
def test_a_recurrent_network_compiles(layer, backend):
    x, y = np.random.default_rng(0).integers(0, 20, (8, 5)), np.arange(8)

    def steps(compiled):
        trainer = Trainer(Reader(layer(8)), optimizer=SGD(0.1), backend=backend.name, seed=1, compiled=compiled)
        return [trainer.train_one_batch(x, y)["loss"] for _ in range(3)]

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        compiled = steps(True)
    # torch.compile leaves recurrent layers out, those of PyTorch too
    reasons = [str(w.message) for w in said if w.category is UserWarning and "not compiled" in str(w.message)]
    assert len(reasons) == (backend.name == "torch")
    np.testing.assert_allclose(compiled, steps(False), rtol=1e-4)


class Experts(nn.Module):
    def __init__(self):
        self.experts, self.head = nn.MixtureOfExperts(3, 4), nn.Linear(10)

    def forward(self, x):
        return self.head(self.experts(x)[0])


OPERANDS = {
    "number": lambda: nn.Sequential(nn.L2Normalize(), nn.Linear(10)),  # maximum(x, 1e-24)
    "array": Experts,  # one_hot compares with numpy.arange
}


@pytest.mark.sample(backends=1)
@pytest.mark.parametrize("case", OPERANDS)
def test_operands_of_python_and_numpy_compile(case, backend):
    x, y = np.random.default_rng(0).normal(size=(8, 4)).astype("float32"), np.arange(8)

    def steps(compiled):
        trainer = Trainer(OPERANDS[case](), optimizer=SGD(0.1), backend=backend.name, seed=1, compiled=compiled)
        return [trainer.train_one_batch(x, y)["loss"] for _ in range(3)]

    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".*not compiled but runs as it is")
        compiled = steps(True)
    np.testing.assert_allclose(compiled, steps(False), rtol=1e-4)


@pytest.mark.backends("torch")
def test_a_compiled_function_that_fails_an_assertion_of_the_framework_runs_as_it_is(backend, monkeypatch):
    """Branches of torch.cond on unaligned slices do, at run time."""
    import torch

    def fails(*tensors):
        raise AssertionError("Expected a tensor that is aligned")

    monkeypatch.setattr(torch, "compile", lambda *args, **kwargs: fails)
    x, y = np.ones((8, 4), "float32"), np.arange(8)
    trainer = Trainer(nn.Linear(10), optimizer=SGD(0.1), backend="torch", seed=1, compiled=True)
    with pytest.warns(
        UserWarning, match="not compiled but runs as it is: torch.compile says Expected a tensor"
    ) as said:
        losses = [trainer.train_one_batch(x, y)["loss"] for _ in range(2)]
    assert len(said) == 1
    assert losses[1] < losses[0]


@pytest.mark.sample(False)
@pytest.mark.backends("torch")
def test_each_training_has_a_limit_of_recompilations_of_its_own(backend):
    import torch._dynamo

    x, y = np.ones((4, 3), "float32"), np.arange(4)
    with torch._dynamo.config.patch(recompile_limit=1), warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        for width in (4, 5, 6):
            Trainer(nn.Linear(width), optimizer="sgd", backend="torch", compiled=True).train_one_batch(x, y)


class Depends(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.other = nn.Linear(10), nn.Linear(10)
        self.looks = False

    def forward(self, x):
        one, other = self.one(x), self.other(x)
        looks = self.looks and not isinstance(x, Spec)
        return other if looks and labdl.to_numpy(ops.sum(x)) < 0 else one


def test_data_dependent_model_runs_eagerly_with_one_warning(backend):
    x = np.arange(16, dtype="float32").reshape(4, 4) - 7

    def model():
        net = Depends().build((None, 4), backend=backend.name, seed=1)
        net.looks = True
        return net

    reason = {"torch": "torch.compile says", "tensorflow": "tf.function says"}.get(backend.name, ".*reads the values")
    with pytest.warns(UserWarning, match=f"not compiled but runs as it is: {reason}") as said:
        compiled = trained(model(), backend, True, (x, np.arange(4)), SGD(0.1))
    assert len(said) == 1
    np.testing.assert_equal(compiled, trained(model(), backend, False, (x, np.arange(4)), SGD(0.1)))


@pytest.mark.backends(*FLAT)  # whose compiled steps draw the same random numbers
def test_values_that_are_put_in_reach_a_compiled_step(backend):
    """Those of a file, of a state, and of the learning rate."""
    x, y = pictures()
    x, y = x[:8], y[:8]

    def losses(compiled):
        labdl.seed(7)
        trainer = Trainer(mixed(), optimizer=SGD(0.05, momentum=0.9), backend=backend.name, seed=1, compiled=compiled)
        found = [trainer.train_one_batch(x, y)["loss"] for _ in range(2)]
        trainer.model.load_state_dict({name: 0.5 * value for name, value in trainer.model.state_dict().items()})
        found.append(trainer.train_one_batch(x, y)["loss"])
        trainer.learning_rate = 0.0
        return [*found, *(trainer.train_one_batch(x, y)["loss"] for _ in range(2))]

    np.testing.assert_allclose(losses(True), losses(False), rtol=1e-4)


def test_a_layer_that_is_replaced_is_compiled_anew(backend):
    x, y = pictures()
    x, y = x[:8].reshape(8, -1), y[:8]

    def values(compiled):
        net = nn.Sequential(nn.Linear(6), nn.ReLU(), nn.Linear(10))
        trainer = Trainer(net, optimizer=SGD(0.1), backend=backend.name, seed=1, compiled=compiled)
        trainer.train_one_batch(x, y)
        net[1] = nn.Tanh()
        net.freeze("2/*")
        trainer.train_one_batch(x, y)
        return net.state_dict()

    expected = values(compiled=False)
    for name, value in values(compiled=None if backend.name == "torch" else True).items():
        np.testing.assert_allclose(value, expected[name], rtol=1e-4, atol=1e-5, err_msg=name)


def test_portable_random_numbers_are_drawn_anew_at_each_step_however_it_is_computed(backend):
    x, y = np.ones((8, 4), "float32"), np.zeros((8, 1), "float32")

    def losses(compiled, then_portable=False):
        model = nn.Sequential(nn.Dropout(0.5), nn.Linear(1)).build((None, 4), seed=0)
        trainer = Trainer(model, loss="mean_squared_error", optimizer="sgd", compiled=compiled)
        if then_portable:  # after the step was made with other numbers
            labdl.seed(0)
            values = model.state_dict()
            trainer.train_one_batch((x, y))
            model.load_state_dict(values)
        labdl.seed(0, portable=True)
        return [trainer.train_one_batch((x, y))["loss"] for _ in range(4)]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a step is not compiled, and of torch.compile about NumPy
        wanted = losses(False)
        assert len({round(loss, 5) for loss in wanted}) == 4
        for compiled in (None, True):
            np.testing.assert_allclose(losses(compiled), wanted, rtol=1e-5)
        np.testing.assert_allclose(losses(None, then_portable=True), wanted, rtol=1e-5)


@pytest.mark.backends(*FLAT)
def test_recording_leaves_the_variables_of_a_model_alone(backend, monkeypatch):
    model = mixed().build((None, 3, 8, 8), backend=backend.name, seed=0).train()
    variables, before, assign = [p.value for p in model.parameters()], model.state_dict(), backend.assign

    def checked(target, array):
        assert all(target is not variable for variable in variables), "a variable of the model is written to"
        return assign(target, array)

    monkeypatch.setattr(backend, "assign", checked)
    x = backend.tensor(pictures()[0][:8])
    assert Compilable(model, [model], backend).flat([x], training=True) is not None
    assert all(p.value is variable for p, variable in zip(model.parameters(), variables, strict=True))
    np.testing.assert_equal(model.state_dict(), before)
    assert model.training


class Scaled(nn.Module):
    """Uses the variable of its parameter by another way than its attribute."""

    def __init__(self):
        self.scale = nn.Parameter((3,), "ones")
        self.held = None

    def forward(self, x):
        return ops.multiply(x, self.scale if self.held is None else self.held())


@pytest.mark.backends(*FLAT)
def test_a_variable_that_a_function_holds_itself_is_no_constant(backend):
    model = Scaled().build((None, 3), backend=backend.name)
    variable = model.scale
    model.held = lambda: variable
    x = backend.tensor(np.ones((2, 3), "float32"))
    flat = Compilable(model, [model], backend).flat([x], training=False)
    np.testing.assert_equal(labdl.to_numpy(variable), np.ones(3))
    backend.assign(variable, np.full(3, 5, "float32"))
    np.testing.assert_equal(labdl.to_numpy(flat.run(x, *flat.draw())), np.full((2, 3), 5))
