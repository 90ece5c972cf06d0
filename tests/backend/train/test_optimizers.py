"""Optimizers on one backend, compared with NumPy, torch.optim and the formulas of the papers."""

import numpy as np
import pytest
from updates import CASES, EACH_CASE, NUMPY, SHAPES, STATE_TOLERANCES, Line, Subject, assert_same, rule, slopes, start

import labdl
from labdl import nn
from labdl.train import OPTIMIZERS, SGD, Adam, Trainer, optimizer


def test_every_optimizer_has_a_case():
    assert {rule(case).kind for case in CASES} == {named.cls.kind for named in OPTIMIZERS.values()}
    assert len({named.cls for named in OPTIMIZERS.values()}) >= 14


@pytest.mark.parametrize("case", EACH_CASE)
def test_updates_match_numpy_and_the_reference(case, backend, full_breadth):
    steps = 20 if full_breadth else 10  # the averages of ASGD and the rates of RAdam begin before
    subject, reference = Subject(rule(case), backend), Subject(rule(case), NUMPY)
    for gradients in slopes(steps):
        subject.move(gradients)
        reference.move(gradients)
    assert subject.step == steps
    assert_same(subject.values(), reference.values())
    assert_same(subject.state_dict(), reference.state_dict(), STATE_TOLERANCES.get(case, 1e-5))
    assert_same(subject.values(), independent(case, steps))


def independent(case, steps):
    """As many steps by torch.optim, or by the formula of the paper in float64."""
    native = CASES[case][2]
    if callable(native):
        values, memory = {n: v.astype("float64") for n, v in start().items()}, {n: {} for n in SHAPES}
        for t, gradients in enumerate(slopes(steps), 1):
            for n, g in gradients.items():
                values[n] = native(rule(case), t, values[n], g.astype("float64"), memory[n])
        return values
    import torch

    tensors = {n: torch.nn.Parameter(torch.tensor(v)) for n, v in start().items()}
    theirs = getattr(torch.optim, native[0])(list(tensors.values()), **native[1])
    for gradients in slopes(steps):
        for n, g in gradients.items():
            tensors[n].grad = torch.tensor(g)
        theirs.step()
    return {n: t.detach().numpy() for n, t in tensors.items()}


def test_muon_is_that_of_torch(backend):
    """torch.optim.Muon iterates in bfloat16, of which an element of a step keeps two to three digits."""
    import torch

    rate, kernel = 0.01, "head/kernel:0"
    subject = Subject(optimizer("muon", lr=rate, weight_decay=0.3), backend)
    tensor = torch.nn.Parameter(torch.tensor(start()[kernel]))
    theirs = torch.optim.Muon([tensor], lr=rate, weight_decay=0.3, adjust_lr_fn="match_rms_adamw")
    for gradients in slopes(10):
        subject.move(gradients)
        tensor.grad = torch.tensor(gradients[kernel])
        theirs.step()
    step = 10 * rate * 0.2 * 3**0.5
    np.testing.assert_allclose(subject.values()[kernel], tensor.detach().numpy(), atol=0.02 * step)


# -- in a training step


@pytest.mark.sample(every=40)
@pytest.mark.parametrize("compiled", [None, False], ids=["default", "eager"])
@pytest.mark.parametrize("case", CASES)
def test_training_step_matches_gradients_by_hand(case, compiled, backend):
    line = Line()
    assert_same(line.trained(rule(case), backend, compiled), line.by_hand(rule(case)), 2e-5)


@pytest.mark.sample(every=2)
@pytest.mark.parametrize("case", ["adamw", "nadam"])
def test_compiled_training_step_matches(case, backend):
    """An optimizer of the framework and an update rule of LabDL; frameworks without compilation raise."""
    line = Line()
    if backend.name in ("paddle", "mindspore"):
        with pytest.raises(NotImplementedError):
            line.trained(rule(case), backend, True)
        return
    compiled = {"torch": True, "tensorflow": "xla"}[backend.name]
    assert_same(line.trained(rule(case), backend, compiled), line.by_hand(rule(case)), 2e-5)


@pytest.mark.parametrize("case", ["momentum", "adam", "rmsprop", "adafactor"])
def test_parameter_without_a_gradient_is_unchanged(case, backend):
    subject, first = Subject(rule(case), backend), start()
    for gradients in slopes(3):
        del gradients["head/bias:0"]
        subject.move(gradients)
    after = subject.values()
    np.testing.assert_array_equal(after["head/bias:0"], first["head/bias:0"])
    assert not np.array_equal(after["scale:0"], first["scale:0"])


def test_apply_checks_the_number_of_gradients_and_zero_gradient_clears_them(backend):
    subject = Subject(SGD(0.1), backend)
    with pytest.raises(ValueError, match="apply wants a gradient for each of 4 parameters, received 1"):
        subject.apply([None])
    if backend.name == "torch":
        subject.variables[1].grad = backend.tensor(start()["head/kernel:0"])
    subject.zero_gradient()
    if backend.name == "torch":
        assert subject.variables[1].grad is None


def test_custom_optimizer(backend):
    class Halved(Adam):
        """A subclass with another update rule, for which no backend may use its own Adam."""

        def update(self, parameter, gradient, state, *, rate, **numbers):
            return parameter - 0.5 * rate * gradient, {"mean": gradient, "square": state["square"]}

    subject, gradients = Subject(Halved(0.1), backend), slopes(1)[0]
    subject.move(gradients)
    assert_same(subject.values(), {n: v - 0.05 * gradients[n] for n, v in start().items()})


@pytest.mark.sample(every=7, backends=1)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_every_optimizer_trains_a_model(name, backend):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(64, 3)).astype("float32")
    y = x @ rng.normal(size=(3, 2)).astype("float32")
    others = {"lars": {"trust": 0.3}, "adadelta": {"learning_rate": 10.0}, "ftrl": {"learning_rate": 0.5}}
    settings = {"learning_rate": 0.03, **others.get(name, {})}
    trainer = Trainer(
        nn.Sequential(nn.Linear(2)), "mean_squared_error", optimizer(name, **settings), backend=backend.name, seed=0
    )
    losses = trainer.fit(x, y, epochs=8, batch_size=16, progress=False)["loss"]
    assert losses[-1] < 0.9 * losses[0]


@pytest.mark.parametrize("chosen", ["cosine", "plateau", lambda step: 1 / (1 + step)])
def test_trainer_follows_a_schedule(chosen, backend):
    x, y = Line().x, Line().y
    trainer = Trainer(
        nn.Sequential(nn.Linear(2)), "mean_squared_error", SGD(0.1), backend=backend.name, seed=0, schedule=chosen
    )
    rates = []
    for event in trainer.events((x, y), epochs=3, batch_size=8):
        if isinstance(event, labdl.train.Step):
            rates.append(trainer.learning_rate)
    steps = np.arange(6)
    expected = {"cosine": 0.1 * (1 + np.cos(np.pi * steps / 6)) / 2, "plateau": np.full(6, 0.1)}
    np.testing.assert_allclose(rates, expected[chosen] if isinstance(chosen, str) else 0.1 / (1 + steps), rtol=1e-6)


def test_constant_gradient_has_a_variance_of_zero(backend):
    """v - m² rounds to numbers below 0, whose root is NaN."""
    variable = backend.variable(np.zeros(64, "float32"))
    native = backend.optimizer(optimizer("rmsprop", learning_rate=1e-9, rho=0.9, centered=True), [variable])
    gradient = backend.tensor(np.linspace(0.1, 1, 64).astype("float32"))
    for _ in range(200):
        native.advance()
        native.update([gradient])
    assert np.isfinite(labdl.to_numpy(variable)).all()
