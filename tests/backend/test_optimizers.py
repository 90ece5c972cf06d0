"""Optimisers on one backend: values against NumPy's run of the rule and torch.optim, state, groups, freezing (R4.4)."""

import io

import numpy as np
import pytest

import labdl
from labdl import dispatch, nn, ops
from labdl.errors import ConfigError, StateDictError
from labdl.train import OPTIMIZERS, SGD, Adam, AdamW, BoundOptimizer, Optimizer, Trainer, optimizer

SHAPES = {"conv/kernel:0": (2, 3, 2, 4), "head/kernel:0": (3, 2), "head/bias:0": (2,), "scale:0": ()}

# a name, settings, and torch's optimiser with its own words for them (None: the formula below)
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
    "adagrad": ("adagrad", {"rate_decay": 0.1, "initial": 0.2},
                ("Adagrad", {"lr_decay": 0.1, "initial_accumulator_value": 0.2})),
    "adagrad decay": ("adagrad", {"weight_decay": 0.1}, ("Adagrad", {"weight_decay": 0.1})),
    "adadelta": ("adadelta", {"rho": 0.8, "weight_decay": 0.1}, ("Adadelta", {"rho": 0.8, "weight_decay": 0.1})),
    "rmsprop": ("rmsprop", {"weight_decay": 0.1}, ("RMSprop", {"weight_decay": 0.1})),
    "rmsprop centered": ("rmsprop", {"centered": True, "rho": 0.8}, ("RMSprop", {"centered": True, "alpha": 0.8})),
    "rmsprop momentum": ("rmsprop", {"momentum": 0.8, "centered": True}, ("RMSprop", {"momentum": 0.8, "centered": True})),
    "adafactor": ("adafactor", {"weight_decay": 0.1}, ("Adafactor", {"weight_decay": 0.1})),
    "adafactor slow": ("adafactor", {"learning_rate": 0.5, "decay": -0.4}, ("Adafactor", {"lr": 0.5, "beta2_decay": -0.4})),
    "lion": ("lion", {"learning_rate": 0.01, "weight_decay": 0.3}, None),
    "lars": ("lars", {"weight_decay": 0.05, "trust": 0.1}, None),
    "lars plain": ("lars", {"momentum": 0.0}, None),
    "lamb": ("lamb", {"learning_rate": 0.02, "weight_decay": 0.1}, None),
    "ftrl": ("ftrl", {"l1": 0.3, "l2": 0.1}, None),
    "ftrl plain": ("ftrl", {"initial": 0.1, "beta": 0.0}, None),
}  # fmt: skip


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


FORMULAS = {f.__name__: f for f in (lion, lars, lamb, ftrl)}


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


def bound(settings, backend, values=None) -> BoundOptimizer:
    return BoundOptimizer(settings, backend, parameters(values or start(), backend))


def apply(subject: BoundOptimizer, gradients):
    subject.apply({n: subject.backend.tensor(np.copy(g)) for n, g in gradients.items() if n in subject.parameters})


def values_of(subject: BoundOptimizer):
    return {n: np.array(subject.backend.to_numpy(p.value)) for n, p in subject.parameters.items()}


def assert_same(ours, theirs, tolerance=1e-5):
    assert ours.keys() == theirs.keys()
    for name, value in ours.items():
        np.testing.assert_allclose(value, theirs[name], rtol=tolerance, atol=tolerance, err_msg=name)


NUMPY = dispatch.get("numpy")


def test_every_optimizer_has_a_case():
    assert {rule(case).kind for case in CASES} == {named.cls.kind for named in OPTIMIZERS.values()}
    assert len({named.cls for named in OPTIMIZERS.values()}) >= 14


@pytest.mark.parametrize("case", CASES)
def test_given_gradients_move_as_on_numpy_and_as_the_reference_says(case, backend):
    subject, reference = bound(rule(case), backend), bound(rule(case), NUMPY)
    for gradients in slopes(20):
        apply(subject, gradients)
        apply(reference, gradients)
    assert subject.step == 20
    assert_same(values_of(subject), values_of(reference))
    assert_same(subject.state_dict(), reference.state_dict())
    assert_same(values_of(subject), independent(case))


def independent(case):
    """The same 20 steps by torch.optim, or by the formula of the paper in float64."""
    name, _, native = CASES[case]
    if native is None:
        values, memory = {n: v.astype("float64") for n, v in start().items()}, {n: {} for n in SHAPES}
        for t, gradients in enumerate(slopes(20), 1):
            for n, g in gradients.items():
                values[n] = FORMULAS[name](rule(case), t, values[n], g.astype("float64"), memory[n])
        return values
    import torch

    tensors = {n: torch.nn.Parameter(torch.tensor(v)) for n, v in start().items()}
    theirs = getattr(torch.optim, native[0])(list(tensors.values()), **native[1])
    for gradients in slopes(20):
        for n, g in gradients.items():
            tensors[n].grad = torch.tensor(g)
        theirs.step()
    return {n: t.detach().numpy() for n, t in tensors.items()}


def test_defaults_are_torchs():
    import torch

    words = {"lr": "learning_rate", "eps": "epsilon", "alpha": "rho"}
    for kind in ("SGD", "Adam", "AdamW", "Adamax", "NAdam", "RAdam", "Adagrad", "Adadelta", "RMSprop"):
        theirs = getattr(torch.optim, kind)([torch.zeros(1)]).defaults
        theirs |= dict(zip(("beta_1", "beta_2"), theirs.get("betas", ()), strict=False))
        ours = OPTIMIZERS[kind.lower()].make().settings()
        shared = {k: v for k, v in ((words.get(k, k), v) for k, v in theirs.items()) if k in ours}
        assert len(shared) >= 3
        shared |= {"learning_rate": 0.01} if kind == "SGD" else {}  # torch's 0.001 is small for plain descent
        assert {k: ours[k] for k in shared} == {
            k: float(v) if not isinstance(v, bool) else v for k, v in shared.items()
        }


# -- in a training step


class Line:
    """y = scale · (x · kernel + bias), its variables on a backend and its gradients by hand."""

    def __init__(self):
        rng = np.random.default_rng(3)
        self.x, self.y = (rng.normal(size=s).astype("float32") for s in ((16, 3), (16, 2)))
        self.values = {"kernel:0": rng.normal(size=(3, 2)).astype("float32"), "bias:0": np.zeros(2, "float32"),
                       "scale:0": np.asarray(1.5, "float32")}  # fmt: skip

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


def train(line, settings, backend, compiled, steps=20):
    """Values after some steps, the learning rate halved on the way."""
    subject = bound(settings, backend, line.values)
    step = backend.train_function(line.forward(subject), subject, compiled=compiled)
    x, y = backend.tensor(line.x), backend.tensor(line.y)
    for i in range(steps):
        if i == steps // 2:
            subject.learning_rate = settings.learning_rate / 2
        loss, output = step(x, y)
    assert np.isfinite(labdl.to_numpy(loss))
    assert labdl.to_numpy(output).shape == line.y.shape
    return values_of(subject)


def by_hand(line, settings, steps=20):
    subject = bound(settings, NUMPY, line.values)
    for i in range(steps):
        if i == steps // 2:
            subject.learning_rate = settings.learning_rate / 2
            assert subject.learning_rate == settings.learning_rate / 2
        apply(subject, line.gradients(values_of(subject)))
    return values_of(subject)


@pytest.mark.parametrize("compiled", [None, False], ids=["default", "eager"])
@pytest.mark.parametrize("case", CASES)
def test_a_training_step_moves_as_the_gradients_by_hand(case, compiled, backend):
    line = Line()
    assert_same(train(line, rule(case), backend, compiled), by_hand(line, rule(case)), 2e-5)


@pytest.mark.parametrize("case", ["adamw", "nadam"])
def test_a_compiled_training_step_moves_alike(case, backend):
    """One kernel of the framework's own and one rule; where the framework cannot compile a step it says so."""
    line = Line()
    if backend.name in ("paddle", "mindspore"):
        with pytest.raises(NotImplementedError):
            train(line, rule(case), backend, True)
        return
    compiled = {"torch": True, "tensorflow": "xla"}[backend.name]
    assert_same(train(line, rule(case), backend, compiled), by_hand(line, rule(case)), 2e-5)


@pytest.mark.parametrize("case", ["momentum", "adam", "rmsprop", "adafactor"])
def test_a_parameter_without_a_gradient_stays_as_it_is(case, backend):
    subject, first = bound(rule(case), backend), start()
    for gradients in slopes(3):
        del gradients["head/bias:0"]
        apply(subject, gradients)
    after = values_of(subject)
    np.testing.assert_array_equal(after["head/bias:0"], first["head/bias:0"])
    assert not np.array_equal(after["scale:0"], first["scale:0"])


def test_gradients_are_counted_and_forgotten(backend):
    subject = bound(SGD(0.1), backend)
    with pytest.raises(ValueError, match="apply wants a gradient for each of 4 parameters, received 1"):
        subject.apply([None])
    if backend.name == "torch":
        subject.variables[1].grad = backend.tensor(start()["head/kernel:0"])
    subject.zero_gradient()
    if backend.name == "torch":
        assert subject.variables[1].grad is None


# -- the state


def through_a_file(state):
    file = io.BytesIO()
    np.savez(file, **state)
    file.seek(0)
    with np.load(file) as loaded:
        return dict(loaded)


@pytest.mark.parametrize("other", ["same", "numpy", "torch"])
@pytest.mark.parametrize("case", CASES)
def test_five_steps_and_five_more_are_ten(case, other, backend):
    """The state goes through a file, from this backend to another and back."""
    between = backend if other == "same" else dispatch.get(other)
    whole, gradients = bound(rule(case), backend), slopes(10)
    for g in gradients:
        apply(whole, g)
    subject = bound(rule(case), backend)
    for g in gradients[:5]:
        apply(subject, g)
    elsewhere = bound(rule(case), between, values_of(subject))
    elsewhere.load_state_dict(through_a_file(subject.state_dict()))
    assert elsewhere.step == 5
    for g in gradients[5:8]:
        apply(elsewhere, g)
    back = bound(rule(case), backend, values_of(elsewhere))
    back.load_state_dict(through_a_file(elsewhere.state_dict()))
    for g in gradients[8:]:
        apply(back, g)
    assert back.step == 10
    assert_same(values_of(back), values_of(whole))
    assert_same(back.state_dict(), whole.state_dict())


def test_a_state_is_named_and_laid_out_as_the_parameters_are(backend):
    subject = bound(Adam(), backend)
    apply(subject, slopes(1)[0])
    state = subject.state_dict()
    assert set(state) == {"step", "learning_rate", *(f"{n}/{slot}" for n in SHAPES for slot in ("mean", "square"))}
    assert state["conv/kernel:0/mean"].shape == (2, 4, 3, 2)
    expected = 0.1 * slopes(1)[0]["conv/kernel:0"].transpose(2, 3, 1, 0)
    np.testing.assert_allclose(state["conv/kernel:0/mean"], expected, rtol=1e-5)


def test_a_state_is_a_copy_and_loading_reaches_a_compiled_step(backend):
    line = Line()
    subject = bound(Adam(0.01), backend, line.values)
    step = backend.train_function(line.forward(subject), subject)
    x, y = backend.tensor(line.x), backend.tensor(line.y)
    for _ in range(3):
        step(x, y)
    state = subject.state_dict()
    kept = {k: v.copy() for k, v in state.items()}
    first = values_of(subject)
    step(x, y)
    assert_same(state, kept, 0)
    after = values_of(subject)
    for name, value in first.items():
        backend.assign(subject.parameters[name].value, value)
    subject.load_state_dict(state)
    step(x, y)
    assert_same(values_of(subject), after, 1e-6)


def test_a_state_that_does_not_fit_is_refused(backend):
    subject = bound(Adam(), backend)
    state = subject.state_dict()
    wrong = {**state, "tail:0/mean": np.zeros(2), "scale:0/mean": np.zeros(3)}
    del wrong["head/bias:0/square"]
    with pytest.raises(
        StateDictError, match=r"missing head/bias:0/square; unexpected tail:0/mean; scale:0/mean has shape"
    ):
        subject.load_state_dict(wrong)
    with pytest.raises(StateDictError, match="the state does not match SGD"):
        bound(SGD(), backend).load_state_dict(state)


# -- groups, and parameters that come and go


@pytest.mark.parametrize("kind", ["AdamW", "RMSprop"])
def test_groups_have_settings_of_their_own(kind, backend):
    import torch

    rate = {"learning_rate": 0.02}
    settings = {"learning_rate": 0.01, "weight_decay": 0.1}
    groups = [("*/bias:0", {"weight_decay": 0.0}), ("scale:0", {"weight_decay": 0.0, **rate}), ("head/*", rate)]
    subject = bound(optimizer(kind.lower(), groups=groups, **settings), backend)
    tensors = {n: torch.nn.Parameter(torch.tensor(v)) for n, v in start().items()}
    own = {
        "conv/kernel:0": (0.01, 0.1),
        "head/kernel:0": (0.02, 0.1),
        "head/bias:0": (0.02, 0.0),
        "scale:0": (0.02, 0.0),
    }
    theirs = getattr(torch.optim, kind)([{"params": [tensors[n]], "lr": lr, "weight_decay": wd}
                                         for n, (lr, wd) in own.items()])  # fmt: skip
    for i, gradients in enumerate(slopes(10)):
        if i == 5:
            subject.learning_rate = 0.005
            for group in theirs.param_groups:
                group["lr"] /= 2
        apply(subject, gradients)
        for n, g in gradients.items():
            tensors[n].grad = torch.tensor(g)
        theirs.step()
    assert_same(values_of(subject), {n: t.detach().numpy() for n, t in tensors.items()})
    again = bound(optimizer(kind.lower(), groups=groups, **settings), backend, values_of(subject))
    again.load_state_dict(subject.state_dict())
    again.learning_rate = 0.005
    for s in (again, subject):
        apply(s, slopes(1, seed=9)[0])
    assert_same(values_of(again), values_of(subject), 1e-6)


def test_groups_train(backend):
    line = Line()
    settings = Adam(0.02, groups=[("bias:0", {"learning_rate": 0.0}), ("scale:0", {"beta_1": 0.5})])
    assert_same(train(line, settings, backend, None), by_hand(line, settings), 2e-5)


def test_what_is_wrong_with_groups(backend):
    with pytest.raises(ConfigError, match="groups wants pairs of a pattern and settings"):
        Adam(groups=["*/bias:0"])  # type: ignore[list-item]
    with pytest.raises(ConfigError, match=r"Adam has the settings learning_rate, .*received 'decay'"):
        Adam(groups=[("*/bias:0", {"decay": 0.0})])
    with pytest.raises(ConfigError, match="weight_decay wants a number at least 0, received -1"):
        Adam(groups=[("*/bias:0", {"weight_decay": -1})])
    with pytest.raises(ConfigError, match="groups names 'tail/\\*', which no parameter matches"):
        bound(Adam(groups=[("tail/*", {"weight_decay": 0.0})]), backend)


@pytest.mark.parametrize("case", ["momentum", "adam", "adamw", "radam", "adafactor"])
def test_freezing_keeps_the_state_of_what_stays(case, backend):
    """Frozen for steps 4 to 6: the others never notice, and what is freed begins anew, bias correction and all."""
    gradients = slopes(9)
    subject, never = bound(rule(case), backend), bound(rule(case), NUMPY)
    everything = subject.parameters
    some = {n: p for n, p in everything.items() if not n.startswith("head/")}
    for g in gradients[:3]:
        apply(subject, g)
    before = values_of(subject)
    subject.rebind(some)
    for g in gradients[3:6]:
        apply(subject, g)
    assert subject.step == 6
    frozen = {n: np.array(backend.to_numpy(everything[n].value)) for n in everything if n not in some}
    assert_same(frozen, {n: before[n] for n in frozen}, 0)
    subject.rebind(everything)
    fresh = bound(rule(case), NUMPY, frozen)
    resumed = bound(rule(case), backend, values_of(subject))
    resumed.load_state_dict(through_a_file(subject.state_dict()))
    for g in gradients[6:]:
        for s in (subject, resumed, fresh):
            apply(s, g)
    for g in gradients:
        apply(never, g)
    assert subject.step == resumed.step == 9
    expected = {**values_of(never), **values_of(fresh)}
    assert_same(values_of(subject), expected)
    assert_same(values_of(resumed), expected)


@pytest.mark.parametrize("case", ["adam", "adadelta"])
def test_a_training_step_follows_what_is_frozen(case, backend):
    line = Line()
    subject, settings = bound(rule(case), backend, line.values), rule(case)
    step = backend.train_function(line.forward(subject), subject)
    x, y = backend.tensor(line.x), backend.tensor(line.y)
    reference = bound(settings, NUMPY, line.values)
    held = dict(reference.parameters)
    for names in (["kernel:0", "bias:0", "scale:0"], ["kernel:0", "scale:0"], ["bias:0", "kernel:0", "scale:0"]):
        subject.rebind({n: line.parameters[n] for n in names})
        reference.rebind({n: held[n] for n in names})
        for _ in range(3):
            step(x, y)
            values = {n: np.array(p.value) for n, p in held.items()}
            apply(reference, line.gradients(values))
    ours = {n: np.array(backend.to_numpy(p.value)) for n, p in line.parameters.items()}
    assert_same(ours, {n: p.value for n, p in held.items()}, 2e-5)


def test_the_state_moves_to_another_backend(backend):
    subject, reference = bound(AdamW(), backend), bound(AdamW(), NUMPY)
    gradients = slopes(6)
    for g in gradients[:3]:
        apply(subject, g)
    subject.rebind(parameters(values_of(subject), NUMPY), NUMPY)
    for g in gradients[3:]:
        apply(subject, g)
    for g in gradients:
        apply(reference, g)
    assert_same(values_of(subject), values_of(reference))


# -- names and settings, and the trainer


def test_optimizers_by_name():
    assert isinstance(optimizer("lamb"), OPTIMIZERS["lamb"].cls)
    assert optimizer("nesterov", learning_rate=0.3) == SGD(0.3, momentum=0.9, nesterov=True)
    assert optimizer(SGD(0.1), momentum=0.5) == SGD(0.1, momentum=0.5)
    with pytest.raises(ConfigError, match=r"optimizer wants one of adam, .*, received 'tiger'"):
        optimizer("tiger")
    with pytest.raises(ConfigError, match=r"SGD has the settings learning_rate, .*, received 'speed'"):
        optimizer("sgd", speed=1)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_settings_are_checked_and_described_as_a_form(name):
    cls = OPTIMIZERS[name].cls
    form = cls.schema()["schema"]["properties"]
    assert set(form) == set(OPTIMIZERS[name].make().settings())
    assert form["learning_rate"] == {
        "default": cls().learning_rate,
        "minimum": 0,
        "title": "Learning Rate",
        "type": "number",
    }
    assert len(cls.schema()["summary"]) > 20
    for wrong in (-0.1, "fast", None, float("nan"), float("inf")):
        with pytest.raises(ConfigError, match=f"{cls.__name__}: learning_rate wants a number at least 0, received"):
            cls(learning_rate=wrong)
    for momentum in {"momentum", "beta_1", "rho"} & set(form):
        with pytest.raises(
            ConfigError, match=f"{cls.__name__}: {momentum} wants a number at least 0 and below 1, received 1"
        ):
            cls(**{momentum: 1.0})
    assert optimizer(cls.kind, **cls().settings()) == cls()


def test_an_optimizer_of_ones_own_is_one_class(backend):
    class Halved(Adam):
        """Adam's mean without its scale; no backend may take its own Adam for it."""

        def update(self, parameter, gradient, state, *, rate, **numbers):
            return parameter - 0.5 * rate * gradient, {"mean": gradient, "square": state["square"]}

    subject, gradients = bound(Halved(0.1), backend), slopes(1)[0]
    apply(subject, gradients)
    assert_same(values_of(subject), {n: v - 0.05 * gradients[n] for n, v in start().items()})


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_every_optimizer_trains_a_model(name, backend):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(64, 3)).astype("float32")
    y = x @ rng.normal(size=(3, 2)).astype("float32")
    others = {"lars": {"trust": 0.3}, "adadelta": {"learning_rate": 10.0}, "ftrl": {"learning_rate": 0.5}}
    settings = {"learning_rate": 0.03, **others.get(name, {})}
    trainer = Trainer(nn.Sequential(nn.Linear(2)), "mean_squared_error", optimizer(name, **settings), backend=backend.name,
                      seed=0)  # fmt: skip
    losses = trainer.fit(x, y, epochs=8, batch_size=16, progress=False)["loss"]
    assert losses[-1] < 0.9 * losses[0]


@pytest.mark.parametrize("chosen", ["cosine", "plateau", lambda step: 1 / (1 + step)])
def test_a_trainer_follows_a_schedule(chosen, backend):
    x, y = Line().x, Line().y
    trainer = Trainer(nn.Sequential(nn.Linear(2)), "mean_squared_error", SGD(0.1), backend=backend.name, seed=0,
                      schedule=chosen)  # fmt: skip
    rates = []
    for event in trainer.events((x, y), epochs=3, batch_size=8):
        if isinstance(event, labdl.train.Step):
            rates.append(trainer._native_optimizer.learning_rate)
    steps = np.arange(6)
    expected = {"cosine": 0.1 * (1 + np.cos(np.pi * steps / 6)) / 2, "plateau": np.full(6, 0.1)}
    np.testing.assert_allclose(rates, expected[chosen] if isinstance(chosen, str) else 0.1 / (1 + steps), rtol=1e-6)
