"""Models with several losses and optimizers: phases, a GAN, and their checkpoints."""

import numpy as np
import pytest

import labdl
from labdl import nn, ops
from labdl.errors import ConfigError, ModelError, StateDictError
from labdl.train import SGD, Adam, Checkpoint, Phase, Step, Trainer

pytestmark = pytest.mark.sample(backends=1)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(24, 3)).astype("float32")
Y = RNG.normal(size=(24, 2)).astype("float32")
COMPILED = pytest.mark.parametrize("compiled", [None, False])


class GAN(nn.Module):
    """A generator of images and a discriminator."""

    def __init__(self):
        self.generator = nn.Sequential(nn.Linear(64), nn.ReLU(), nn.Linear(64), nn.Sigmoid())
        self.discriminator = nn.Sequential(nn.Linear(64), nn.LeakyReLU(0.2), nn.Linear(1))

    def forward(self, noise):
        return self.discriminator(self.generator(noise))


class GANTrainer(Trainer):
    """Trains both alternately (Goodfellow et al. 2014, with the non-saturating loss)."""

    def phases(self):
        return [
            Phase("discriminator", self.discriminator_loss, "discriminator/*"),
            Phase("generator", self.generator_loss, "generator/*"),
        ]

    def fakes(self, images):
        return self.model.generator(ops.random_normal_like(images[:, :16]))

    def discriminator_loss(self, images, _):
        real = self.model.discriminator(images)
        fake = self.model.discriminator(ops.stop_gradient(self.fakes(images)))
        return {"real": ops.mean(ops.softplus(-real)), "fake": ops.mean(ops.softplus(fake))}

    def generator_loss(self, images, _):
        fakes = self.fakes(images)
        return ops.mean(ops.softplus(-self.model.discriminator(fakes))), fakes


@pytest.mark.sample(backends=["torch"])
def test_gan_learns_to_generate_digits(backend):
    train, _ = labdl.data.digits()
    images, labels = train.arrays[0].reshape(-1, 64), train.arrays[1]
    labdl.seed(0)
    model = GAN().build((None, 16), backend=backend.name, seed=0)

    def distance():
        noise = np.random.default_rng(1).normal(size=(200, 16)).astype("float32")
        made = labdl.predict(model.generator, noise)
        return np.abs(made.mean(0) - images.mean(0)).mean()

    before = distance()
    gan = GANTrainer(model, optimizer=Adam(2e-3, beta_1=0.5), seed=0)
    history = gan.fit(images, labels, epochs=8, batch_size=64, progress=False)
    assert set(history) == {
        "loss",
        "loss_discriminator",
        "loss_discriminator_real",
        "loss_discriminator_fake",
        "loss_generator",
    }
    assert history["loss"] == pytest.approx(np.add(history["loss_discriminator"], history["loss_generator"]), rel=1e-5)
    assert distance() < 0.6 * before


class Alternating(Trainer):
    """Trains the kernel with one loss, then the bias with another."""

    def phases(self):
        return [
            Phase("slope", self.squared, "*/kernel:0", SGD(0.1)),
            Phase("shift", self.absolute, "*/bias:0", SGD(0.2)),
        ]

    def squared(self, x, y):
        return ops.mean_squared_error(self.model(x), y)

    def absolute(self, x, y):
        output = self.model(x)
        return ops.mean(ops.abs(output - y)), output


def alternating(backend, **options):
    model = nn.Sequential(nn.Linear(2)).build((None, 3), backend=backend.name, seed=0)
    return Alternating(model, seed=0, **options)


@COMPILED
def test_phases_run_in_order(backend, compiled):
    t = alternating(backend, compiled=compiled, metrics=["mean_absolute_error"], gradient_norm=True)
    w, b = (t.model.state_dict()[k].astype("float64") for k in ("0/kernel:0", "0/bias:0"))
    for _ in range(3):
        values = t.train_one_batch(X, Y)
        error = X @ w + b - Y
        slope = 2 * X.T @ error / error.size
        assert values["loss_slope"] == pytest.approx(np.mean(error**2), rel=1e-5)
        assert values["gradient_norm_slope"] == pytest.approx(np.linalg.norm(slope), rel=1e-4)
        w = w - 0.1 * slope
        error = X @ w + b - Y
        assert values["loss_shift"] == pytest.approx(values["mean_absolute_error"], rel=1e-5)
        assert values["loss_shift"] == pytest.approx(np.abs(error).mean(), rel=1e-5)
        b = b - 0.2 * np.sign(error).sum(0) / error.size
    after = t.model.state_dict()
    np.testing.assert_allclose(after["0/kernel:0"], w, rtol=1e-4)
    np.testing.assert_allclose(after["0/bias:0"], b, rtol=1e-4, atol=1e-6)


def test_phases_with_accumulation_and_schedule(backend):
    t = alternating(backend, accumulate=2, schedule="cosine_decay")
    rates = []
    for event in t.events((X, Y), epochs=2, batch_size=6):
        if isinstance(event, Step):
            rates.append([phase.optimizer.learning_rate for phase in t.state.phases])
    assert len(rates) == 4
    assert all(second == pytest.approx(2 * first) for first, second in rates)
    assert rates[-1][0] < rates[0][0]


def test_training_in_phases_resumes_exactly(backend, tmp_path):
    whole = alternating(backend)
    whole.fit(X, Y, epochs=3, batch_size=8, progress=False)
    broken = alternating(backend)
    for event in broken.events((X, Y), epochs=3, batch_size=8, checkpoint=Checkpoint(tmp_path, every=2)):
        if isinstance(event, Step) and event.step == 5:
            break
    slots = labdl.load_parameters(tmp_path / "step-00000004" / "optimizer.npz")
    assert {"step", "learning_rate", "slope/step", "shift/learning_rate"} <= slots.keys()
    resumed = alternating(backend)
    resumed.fit(X, Y, epochs=3, batch_size=8, progress=False, resume=tmp_path)
    for name, value in whole.model.state_dict().items():
        np.testing.assert_array_equal(resumed.model.state_dict()[name], value)
    state = broken.state_dict()
    state["optimizer"] = {**state["optimizer"], "other/step": np.asarray(1)}
    with pytest.raises(StateDictError, match="does not match the phases slope, shift: unexpected other/step"):
        resumed.load_state_dict(state)


def test_invalid_phases_raise(backend):
    def loss(x, y):
        return ops.mean(x)

    class Wrong(Trainer):
        made = ()

        def phases(self):
            return self.made

    def tried(*phases):
        cls = type("Wrong", (Wrong,), {"made": list(phases)})
        return cls(nn.Sequential(nn.Linear(2)), backend=backend.name).train_one_batch(X, Y)

    for phases, sentence in (
        ((), "phases wants a list of"),
        ((Phase("a", loss), Phase("a", loss)), "want a different name each"),
        ((Phase("a", loss), Phase("", loss)), "want a different name each"),
    ):
        with pytest.raises(ConfigError, match=sentence):
            tried(*phases)
    with pytest.raises(ModelError, match=r"the phase 'a' has no trainable parameters: none matches 'tail/\*'"):
        tried(Phase("a", loss, "tail/*"))
    wrong = {
        "name wants letters": ("a b", loss),
        "function wants a function": ("a", 3),
        "parameters wants a pattern": ("a", loss, 3),
        "optimizer wants": ("a", loss, "*", "tiger"),
    }
    for sentence, arguments in wrong.items():
        with pytest.raises(ConfigError, match=sentence):
            Phase(*arguments)
    cls = type("Wrong", (Wrong,), {"made": [Phase("a", lambda x, y: ops.mean(t.model(x)))]})
    t = cls(nn.Sequential(nn.Linear(2)), backend=backend.name, metrics=["mean_absolute_error"])
    with pytest.raises(ConfigError, match=r"metrics want an output: return \(loss, output\)"):
        t.train_one_batch(X, Y)
