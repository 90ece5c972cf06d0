"""Parameter groups in a training on one backend: rates, schedules, another optimizer, frozen parameters, resuming."""

import numpy as np
import pytest
from updates import Line, assert_same

from labdl import Trainer, nn
from labdl.errors import ConfigError
from labdl.train import SGD, Adam, AdamW, CosineDecay, Muon, Phase, Step, optimizer

pytestmark = [pytest.mark.default_mode, pytest.mark.sample(backends=1)]

X = np.random.default_rng(0).normal(size=(48, 5)).astype("float32")
Y = (X @ np.random.default_rng(1).normal(size=(5, 3)) ** 3).astype("float32")


def make(rule, backend, **settings):
    model = nn.Sequential(nn.Linear(6), nn.LayerNorm(), nn.ReLU(), nn.Linear(3))
    return Trainer(model, "mean_squared_error", rule, backend=backend.name, seed=0, **settings)


def step_by_step(trainer, epochs=3, **options):
    """Names and learning rates after each step."""
    rates = []
    for event in trainer.events((X, Y), epochs=epochs, batch_size=8, **options):
        if isinstance(event, Step):
            rates.append(dict(trainer.bound_optimizer.learning_rates))
    return rates


NAMES = ["0/kernel:0", "0/bias:0", "1/gamma:0", "1/beta:0", "3/kernel:0", "3/bias:0"]


def test_a_group_has_a_schedule_of_its_own(backend):
    groups = {"3/*": {"lr": 0.02, "schedule": "cosine"}, "0/bias:0": {"lr": 0.3}}
    trainer = make(Adam(0.1, groups=groups), backend, schedule=lambda step: 1 / (1 + step))
    rates = step_by_step(trainer)
    assert set(rates[0]) == set(NAMES)
    steps = np.arange(18)
    np.testing.assert_allclose([r["0/kernel:0"] for r in rates], 0.1 / (1 + steps), rtol=1e-5)
    np.testing.assert_allclose([r["0/bias:0"] for r in rates], 0.3 / (1 + steps), rtol=1e-5)
    own = 0.02 * (1 + np.cos(np.pi * steps / 18)) / 2
    np.testing.assert_allclose([r["3/kernel:0"] for r in rates], own, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose([r["3/bias:0"] for r in rates], own, rtol=1e-5, atol=1e-8)


def test_the_rates_of_groups_are_those_of_the_updates(backend):
    """Steps of a training by SGD against the gradients of their batches, with a rate for each parameter and step."""
    groups = {"3/*": {"lr": 0.02, "schedule": {"name": "step_decay", "every": 1, "factor": 0.5}}, "0/*": {"lr": 0.0}}
    trainer = make(SGD(0.1, groups=groups), backend, keep_gradients=True)
    trainer.model.build((None, 5), backend=backend.name, seed=3)
    before = trainer.model.state_dict()
    for event in trainer.events((X, Y), epochs=1, batch_size=8):
        if isinstance(event, Step):
            after = trainer.model.state_dict()
            rates = {"3": 0.02 * 0.5 ** (event.step - 1), "0": 0.0}
            for name, gradient in trainer.gradients().items():
                expected = before[name] - rates.get(name[0], 0.1) * gradient
                np.testing.assert_allclose(after[name], expected, rtol=1e-4, atol=1e-6, err_msg=name)
            before = after


def test_a_rate_set_by_hand_scales_the_groups(backend):
    trainer = make(SGD(0.1, groups={"3/*": {"lr": 0.02, "schedule": "cosine"}, "0/*": {"lr": 0.01}}), backend)
    for event in trainer.events((X, Y), epochs=3, batch_size=8):
        if isinstance(event, Step) and event.step == 6:
            trainer.learning_rate = 0.05
        if isinstance(event, Step) and event.step == 7:
            rates = trainer.bound_optimizer.learning_rates
            own = 0.02 * (1 + np.cos(np.pi * 6 / 18)) / 2
            assert rates["0/kernel:0"] == pytest.approx(0.005, rel=1e-5)
            assert rates["1/gamma:0"] == pytest.approx(0.05, rel=1e-5)
            assert rates["3/kernel:0"] == pytest.approx(own / 2, rel=1e-5)


MIXED = {
    "groups": Adam(
        0.02,
        groups={"0/*": {"lr": 0.05, "schedule": "cosine"}, "3/*": {"weight_decay": 0.1}},
        decay_norm_and_bias=False,
    ),
    "two optimizers": {"0/*": SGD(0.02, momentum=0.9), "*": Adam(0.02)},
    "muon and adamw": Muon(0.02, groups={"3/*": {"name": "adamw", "lr": 0.01, "schedule": "cosine"}}),
    "soap": {"*": "soap", "3/*": AdamW(1e-2)},
}


@pytest.mark.sample(every=4)
@pytest.mark.parametrize("case", MIXED)
def test_resumes_bit_for_bit(case, backend, tmp_path):
    """Stopped in the middle of an epoch, as without an interruption: parameters, slots and rates."""
    whole = make(MIXED[case], backend)
    whole.fit(X, Y, epochs=3, batch_size=8, progress=False)
    first = make(MIXED[case], backend)
    for event in first.events((X, Y), epochs=3, batch_size=8):
        if isinstance(event, Step) and event.step == 8:
            first.save_checkpoint(tmp_path)
            break
    second = make(MIXED[case], backend)
    second.fit(X, Y, epochs=3, batch_size=8, progress=False, resume=tmp_path)
    for ours, theirs in ((second.model, whole.model), (second.bound_optimizer, whole.bound_optimizer)):
        values, expected = ours.state_dict(), theirs.state_dict()
        assert values.keys() == expected.keys()
        for name, value in values.items():
            np.testing.assert_array_equal(value, expected[name], err_msg=name)
    assert second.bound_optimizer.learning_rates == whole.bound_optimizer.learning_rates


def test_two_optimizers_have_their_slots_and_update_as_each_alone(backend):
    line = Line()
    both = {"bias:0": SGD(0.05, momentum=0.5), "*": Adam(0.02)}
    rule = optimizer(both)
    assert_same(line.trained(rule, backend, None), line.by_hand(rule), 2e-5)
    trainer = make({"0/*": SGD(0.02, momentum=0.9), "*": Adam(0.02)}, backend)
    trainer.fit(X, Y, batch_size=8, progress=False)
    slots = {key.rpartition("/")[2] for key in trainer.state_dict()["optimizer"] if key.startswith("0/")}
    assert slots == {"momentum"}
    assert trainer.state_dict()["training"]["optimizer"] == "adam + sgd"
    other = make({"0/*": Adam(0.02), "*": Adam(0.01)}, backend)
    other.model.build((None, 5), backend=backend.name)
    with pytest.raises(ConfigError, match=r"a training with adam \+ sgd, the trainer has adam"):
        other.load_state_dict(trainer.state_dict())


def test_no_decay_of_norms_and_biases(backend):
    """With gradients of 0 AdamW only decays: kernels shrink, all others stay as they are."""
    trainer = make(AdamW(0.1, weight_decay=0.5, decay_norm_and_bias=False, groups={"3/bias:0": {"lr": 0.2}}), backend)
    trainer.model.build((None, 5), backend=backend.name, seed=3)
    for _, p in trainer.model.named_parameters():
        p.value = backend.variable(np.full(p.shape, 0.5, "float32"))
    trainer.gradients(X, Y)  # binds the optimizer
    bound = trainer.bound_optimizer
    bound.apply([backend.tensor(np.zeros(p.shape, "float32")) for p in bound.parameters.values()])
    for name, value in trainer.model.state_dict().items():
        np.testing.assert_allclose(value, 0.475 if name.endswith("kernel:0") else 0.5, rtol=1e-6, err_msg=name)


def test_groups_of_frozen_parameters(backend):
    """A pattern may match frozen parameters alone; unfrozen in the middle, they have their rate and its schedule."""
    groups = {"0/*": {"lr": 0.05, "schedule": CosineDecay()}}
    trainer = make(Adam(0.01, groups=groups), backend, freeze="0/*")
    for event in trainer.events((X, Y), epochs=3, batch_size=8):
        if isinstance(event, Step) and event.step == 6:
            assert "0/kernel:0" not in trainer.bound_optimizer.parameters
            frozen = trainer.model.state_dict()["0/kernel:0"]
            trainer.model.unfreeze("0/*")
        if isinstance(event, Step) and event.step == 7:
            own = 0.05 * (1 + np.cos(np.pi * 6 / 18)) / 2
            assert trainer.bound_optimizer.learning_rates["0/kernel:0"] == pytest.approx(own, rel=1e-5)
            moved = np.abs(trainer.model.state_dict()["0/kernel:0"] - frozen)
            np.testing.assert_allclose(moved[moved > 1e-7], own, rtol=1e-3)  # Adam's first step


def test_patterns_may_be_of_another_phase(backend):
    class Two(Trainer):
        def phases(self):
            return [Phase("first", self.loss_and_output, "0/*"), Phase("second", self.loss_and_output, "[13]/*")]

    model = nn.Sequential(nn.Linear(6), nn.LayerNorm(), nn.ReLU(), nn.Linear(3))
    trainer = Two(model, "mean_squared_error", Adam(groups={"3/*": {"lr": 0.1}}), backend=backend.name, seed=0)
    trainer.fit(X, Y, batch_size=8, progress=False)
    rates = [phase.optimizer.learning_rates for phase in trainer.state.phases]
    assert rates[0]["0/kernel:0"] == pytest.approx(1e-3)
    assert rates[1]["3/kernel:0"] == pytest.approx(0.1)


def test_unknown_pattern_in_a_training(backend):
    trainer = make(Adam(groups={"4/*": {"lr": 0.1}, "3.*": {"lr": 0.1}}), backend)
    with pytest.raises(ConfigError, match=r"Adam: groups names '4/\*', which no parameter matches"):
        trainer.fit(X, Y, progress=False)
    trainer = make(Adam(groups={"3.*": {"lr": 0.1}}), backend)
    with pytest.raises(ConfigError, match=r"did you mean '3/\*'\?"):
        trainer.fit(X, Y, progress=False)
