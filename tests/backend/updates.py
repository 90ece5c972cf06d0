"""What the tests of optimizers share: rules, parameters and gradients, and a line that is fitted with them."""

import numpy as np
import pytest

import labdl
from labdl import dispatch, nn, ops
from labdl.train import BoundOptimizer, Optimizer, optimizer

SHAPES = {"conv/kernel:0": (2, 3, 2, 4), "head/kernel:0": (3, 2), "head/bias:0": (2,), "scale:0": ()}


def lion(s, t, w, g, m):
    u = np.sign(s.beta_1 * m.get("m", 0) + (1 - s.beta_1) * g)
    m["m"] = s.beta_2 * m.get("m", 0) + (1 - s.beta_2) * g
    return w - s.learning_rate * (u + s.weight_decay * w)


def lars(s, t, w, g, m):
    """Algorithm 1 of the paper, with the trust coefficient as its eta."""
    rate = s.trust * np.linalg.norm(w) / (np.linalg.norm(g) + s.weight_decay * np.linalg.norm(w))
    m["v"] = s.momentum * m.get("v", 0) + s.learning_rate * rate * (g + s.weight_decay * w)
    return w - m["v"]


def lamb(s, t, w, g, m):
    """Algorithm 2 of the paper, with phi(z) = z."""
    m["m"] = s.beta_1 * m.get("m", 0) + (1 - s.beta_1) * g
    m["v"] = s.beta_2 * m.get("v", 0) + (1 - s.beta_2) * g**2
    r = m["m"] / (1 - s.beta_1**t) / (np.sqrt(m["v"] / (1 - s.beta_2**t)) + s.epsilon) + s.weight_decay * w
    return w - s.learning_rate * np.linalg.norm(w) / np.linalg.norm(r) * r


def ftrl(s, t, w, g, m):
    """Algorithm 1 of the paper; the weight is that of the state before the gradient."""
    n, alpha = m.get("n", np.full_like(w, s.initial)), s.learning_rate
    sigma = (np.sqrt(n + g**2) - np.sqrt(n)) / alpha
    m["z"], m["n"] = m.get("z", 0) + g - sigma * w, n + g**2
    z = m["z"]
    new = -(z - np.sign(z) * s.l1) / ((s.beta + np.sqrt(m["n"])) / alpha + s.l2)
    return np.where(np.abs(z) <= s.l1, 0.0, new)


def adabelief(s, t, w, g, m):
    """Algorithm 2 of the paper, with decoupled weight decay."""
    m["m"] = s.beta_1 * m.get("m", 0) + (1 - s.beta_1) * g
    m["s"] = s.beta_2 * m.get("s", 0) + (1 - s.beta_2) * (g - m["m"]) ** 2 + s.epsilon
    size = np.sqrt(m["s"] / (1 - s.beta_2**t)) + s.epsilon
    return w * (1 - s.learning_rate * s.weight_decay) - s.learning_rate * m["m"] / (1 - s.beta_1**t) / size


def adamw(s, t, w, g, m):
    """Algorithm 2 of Loshchilov & Hutter."""
    m["m"] = s.beta_1 * m.get("m", 0) + (1 - s.beta_1) * g
    m["v"] = s.beta_2 * m.get("v", 0) + (1 - s.beta_2) * g**2
    step = m["m"] / (1 - s.beta_1**t) / (np.sqrt(m["v"] / (1 - s.beta_2**t)) + s.epsilon)
    return w * (1 - s.learning_rate * s.weight_decay) - s.learning_rate * step


def muon(s, t, w, g, m):
    """Algorithm 1 of Liu et al., where O is U f(S) Vᵀ for the quintic f iterated on the singular values S."""
    if w.ndim < 2:
        return adamw(s, t, w, g, m)
    m["b"] = s.momentum * m.get("b", 0) + g
    moved = (g + s.momentum * m["b"] if s.nesterov else m["b"]).reshape(len(g), -1)
    u, values, v = np.linalg.svd(moved, full_matrices=False)
    values = values / np.linalg.norm(moved)
    for _ in range(s.iterations):
        values = 3.4445 * values - 4.7750 * values**3 + 2.0315 * values**5
    step = (u * values @ v).reshape(w.shape)
    scale = 0.2 * np.sqrt(max(moved.shape))
    return w - s.learning_rate * (s.weight_decay * w + scale * step)


def soap(s, t, w, g, m):
    """Algorithms 3 and 4 of the paper; the power iteration is of L + 0.001 tr(L) / n I, and starts from the identity."""
    if w.ndim < 2:
        return adamw(s, t, w, g, m)
    shape, g = w.shape, g.reshape(len(g), -1)
    if t == 1:
        m |= {"m": 0 * g, "v": 0 * g, "grams": [0, 0], "bases": [np.eye(n) for n in g.shape]}
    q, p = m["bases"]
    m["m"] = s.beta_1 * m["m"] + (1 - s.beta_1) * g
    m["v"] = s.beta_2 * m["v"] + (1 - s.beta_2) * (q.T @ g @ p) ** 2
    first, second = m["m"] / (1 - s.beta_1**t), m["v"] / (1 - s.beta_2**t)
    step = q @ ((q.T @ first @ p) / (np.sqrt(second) + s.epsilon)) @ p.T
    w = w * (1 - s.learning_rate * s.weight_decay) - s.learning_rate * step.reshape(shape)
    m["grams"] = [s.beta_2 * a + (1 - s.beta_2) * b for a, b in zip(m["grams"], (g @ g.T, g.T @ g), strict=True)]
    for axis, gram in enumerate(m["grams"]):
        basis, n = m["bases"][axis], len(gram)
        if n > s.largest or not (t <= s.frequency or t % s.frequency == 0):
            continue
        order = np.argsort(-np.diag(basis.T @ gram @ basis))
        m["v"] = np.take(m["v"], order, axis)
        m["bases"][axis] = np.linalg.qr((gram + 1e-3 * np.trace(gram) / n * np.eye(n)) @ basis[:, order])[0]
    return w


# a name, settings, and torch's optimizer with its own words for them, or the formula of the paper
CASES = {
    "sgd": ("sgd", {"learning_rate": 0.1, "weight_decay": 0.02}, ("SGD", {"lr": 0.1, "weight_decay": 0.02})),
    "momentum": ("momentum", {"weight_decay": 0.01}, ("SGD", {"lr": 0.01, "momentum": 0.9, "weight_decay": 0.01})),
    "nesterov": ("nesterov", {}, ("SGD", {"lr": 0.01, "momentum": 0.9, "nesterov": True})),
    "asgd": ("asgd", {"start": 8.0, "weight_decay": 0.01}, ("ASGD", {"t0": 8.0, "weight_decay": 0.01})),
    "asgd decaying": ("asgd", {"decay": 0.3}, ("ASGD", {"lambd": 0.3})),
    "rprop": ("rprop", {}, ("Rprop", {})),
    "rprop within bounds": ("rprop", {"smallest": 5e-3, "largest": 0.015}, ("Rprop", {"step_sizes": (5e-3, 0.015)})),
    "adam": ("adam", {"weight_decay": 0.1, "epsilon": 1e-4}, ("Adam", {"weight_decay": 0.1, "eps": 1e-4})),
    "amsgrad": ("adam", {"amsgrad": True, "beta_2": 0.8}, ("Adam", {"amsgrad": True, "betas": (0.9, 0.8)})),
    "adamw": ("adamw", {"weight_decay": 0.2, "learning_rate": 0.02}, ("AdamW", {"weight_decay": 0.2, "lr": 0.02})),
    "adamw amsgrad": ("adamw", {"amsgrad": True}, ("AdamW", {"amsgrad": True})),
    "adamax": ("adamax", {"weight_decay": 0.1}, ("Adamax", {"weight_decay": 0.1})),
    "nadam": ("nadam", {"weight_decay": 0.1}, ("NAdam", {"weight_decay": 0.1})),
    "radam": ("radam", {"weight_decay": 0.1, "learning_rate": 0.01}, ("RAdam", {"weight_decay": 0.1, "lr": 0.01})),
    "radam short": ("radam", {"beta_2": 0.6}, ("RAdam", {"betas": (0.9, 0.6)})),
    "adagrad": (
        "adagrad",
        {"rate_decay": 0.1, "initial": 0.2},
        ("Adagrad", {"lr_decay": 0.1, "initial_accumulator_value": 0.2}),
    ),
    "adagrad decay": ("adagrad", {"weight_decay": 0.1}, ("Adagrad", {"weight_decay": 0.1})),
    "adadelta": ("adadelta", {"rho": 0.8, "weight_decay": 0.1}, ("Adadelta", {"rho": 0.8, "weight_decay": 0.1})),
    "rmsprop": ("rmsprop", {"weight_decay": 0.1}, ("RMSprop", {"weight_decay": 0.1})),
    "rmsprop centered": ("rmsprop", {"centered": True, "rho": 0.8}, ("RMSprop", {"centered": True, "alpha": 0.8})),
    "rmsprop momentum": (
        "rmsprop",
        {"momentum": 0.8, "centered": True},
        ("RMSprop", {"momentum": 0.8, "centered": True}),
    ),
    "adafactor": ("adafactor", {"weight_decay": 0.1}, ("Adafactor", {"weight_decay": 0.1})),
    "adafactor slow": (
        "adafactor",
        {"learning_rate": 0.5, "decay": -0.4},
        ("Adafactor", {"lr": 0.5, "beta2_decay": -0.4}),
    ),
    "lion": ("lion", {"learning_rate": 0.01, "weight_decay": 0.3}, lion),
    "lars": ("lars", {"weight_decay": 0.05, "trust": 0.1}, lars),
    "lars plain": ("lars", {"momentum": 0.0}, lars),
    "lamb": ("lamb", {"learning_rate": 0.02, "weight_decay": 0.1}, lamb),
    "muon": ("muon", {"weight_decay": 0.3, "learning_rate": 0.01}, muon),
    "muon plain": ("muon", {"nesterov": False, "iterations": 3}, muon),
    "soap": ("soap", {"weight_decay": 0.3, "frequency": 3}, soap),
    "soap of one side": ("soap", {"largest": 3, "learning_rate": 0.01}, soap),
    "adabelief": ("adabelief", {"learning_rate": 0.02, "weight_decay": 0.1, "epsilon": 1e-6}, adabelief),
    "ftrl": ("ftrl", {"l1": 0.3, "l2": 0.1}, ftrl),
    "ftrl plain": ("ftrl", {"initial": 0.1, "beta": 0.0}, ftrl),
}
# every case; the sample runs the first of each optimizer
FIRST = {name: case for case, (name, *_) in reversed(CASES.items())}
EACH_CASE = [pytest.param(case, marks=[] if case in FIRST.values() else pytest.mark.sample(False)) for case in CASES]


# of the state: where gradients have had no component, rounding turns the bases by its ratio to the shift of the iteration
STATE_TOLERANCES = {"soap": 3e-3, "soap of one side": 3e-3}


def rule(case) -> Optimizer:
    name, settings, _ = CASES[case]
    return optimizer(name, **settings)


def start(seed=0):
    rng = np.random.default_rng(seed)
    return {name: np.asarray(rng.normal(size=shape), "float32") for name, shape in SHAPES.items()}


def slopes(steps, seed=1):
    """Gradients for each step, well away from 0, whose sign alone would decide."""
    rng = np.random.default_rng(seed)
    drawn = [{n: np.asarray(rng.normal(size=shape), "float32") for n, shape in SHAPES.items()} for _ in range(steps)]
    return [{n: np.where(np.abs(g) < 0.05, np.float32(0.05), g) for n, g in gradients.items()} for gradients in drawn]


def parameters(values, backend):
    made = {}
    for name, value in values.items():
        made[name] = nn.Parameter(value.shape, standard=(2, 3, 1, 0) if value.ndim == 4 else None)
        made[name].value = backend.variable(value.copy())
    return made


class Subject(BoundOptimizer):
    """An optimizer on parameters of its own, given and asked for NumPy arrays."""

    def __init__(self, settings, backend, values=None):
        super().__init__(settings, backend, parameters(values or start(), backend))

    def move(self, gradients):
        """One update by the gradients of the parameters that it has."""
        self.apply({n: self.backend.tensor(np.copy(g)) for n, g in gradients.items() if n in self.parameters})

    def values(self):
        return {n: np.array(self.backend.to_numpy(p.value)) for n, p in self.parameters.items()}


def assert_same(ours, theirs, tolerance=1e-5):
    assert ours.keys() == theirs.keys()
    for name, value in ours.items():
        np.testing.assert_allclose(value, theirs[name], rtol=tolerance, atol=tolerance, err_msg=name)


NUMPY = dispatch.get("numpy")


class Line:
    """y = scale · (x · kernel + bias), its variables on a backend and its gradients by hand."""

    def __init__(self):
        rng = np.random.default_rng(3)
        self.x, self.y = (rng.normal(size=s).astype("float32") for s in ((16, 3), (16, 2)))
        self.values = {
            "kernel:0": rng.normal(size=(3, 2)).astype("float32"),
            "bias:0": np.zeros(2, "float32"),
            "scale:0": np.asarray(1.5, "float32"),
        }

    def forward(self, subject):
        def run(x, y):
            kernel, bias, scale = (p.value for p in self.parameters.values())
            output = ops.multiply(ops.linear(x, kernel, bias), scale)
            return ops.mean_squared_error(output, y), output

        self.parameters = dict(subject.parameters)
        return run

    def gradients(self, values):
        w, b, s = (v.astype("float64") for v in values.values())
        inner = self.x @ w + b
        error = 2 * (s * inner - self.y) / self.y.size
        found = (s * self.x.T @ error, s * error.sum(0), np.sum(error * inner))
        return {n: np.asarray(g, "float32") for n, g in zip(values, found, strict=True)}

    def trained(self, settings, backend, compiled, steps=20):
        """Values after some steps of training, the learning rate halved on the way."""
        subject = Subject(settings, backend, self.values)
        step = backend.train_function(self.forward(subject), subject, compiled=compiled)
        x, y = backend.tensor(self.x), backend.tensor(self.y)
        for i in range(steps):
            if i == steps // 2:
                subject.learning_rate = settings.learning_rate / 2
            loss, output = step(x, y)
        assert np.isfinite(labdl.to_numpy(loss))
        assert labdl.to_numpy(output).shape == self.y.shape
        return subject.values()

    def by_hand(self, settings, steps=20):
        """The same with the gradients by hand, on NumPy."""
        subject = Subject(settings, NUMPY, self.values)
        for i in range(steps):
            if i == steps // 2:
                subject.learning_rate = settings.learning_rate / 2
                assert subject.learning_rate == settings.learning_rate / 2
            subject.move(self.gradients(subject.values()))
        return subject.values()
