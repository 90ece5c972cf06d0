"""State of optimizers on one backend: files, other backends, groups, and changing parameters."""

import io

import numpy as np
import pytest
from updates import CASES, NUMPY, SHAPES, STATE_TOLERANCES, Line, Subject, assert_same, rule, slopes, start

from labdl import dispatch
from labdl.errors import StateDictError
from labdl.train import SGD, Adam, AdamW, optimizer

pytestmark = pytest.mark.sample(backends=2)

# -- the state


def through_a_file(state):
    file = io.BytesIO()
    np.savez(file, **state)
    file.seek(0)
    with np.load(file) as loaded:
        return dict(loaded)


@pytest.mark.sample(every=4, backends=1)
@pytest.mark.parametrize(
    ("case", "other"),
    # what NumPy and PyTorch take from each other, PyTorch's own tests show
    [
        (case, other)
        for at, case in enumerate(CASES)
        for other in ("same", "numpy", "torch")
        if other != "torch" or at % 4 == 0
    ],
)
def test_state_resumes_on_another_backend_and_back(case, other, backend):
    """The state is passed in files from this backend to another and back."""
    between = backend if other == "same" else dispatch.get(other)
    whole, gradients = Subject(rule(case), backend), slopes(10)
    for g in gradients:
        whole.move(g)
    subject = Subject(rule(case), backend)
    for g in gradients[:5]:
        subject.move(g)
    elsewhere = Subject(rule(case), between, subject.values())
    elsewhere.load_state_dict(through_a_file(subject.state_dict()))
    assert elsewhere.step == 5
    for g in gradients[5:8]:
        elsewhere.move(g)
    back = Subject(rule(case), backend, elsewhere.values())
    back.load_state_dict(through_a_file(elsewhere.state_dict()))
    for g in gradients[8:]:
        back.move(g)
    assert back.step == 10
    assert_same(back.values(), whole.values())
    assert_same(back.state_dict(), whole.state_dict(), STATE_TOLERANCES.get(case, 1e-5))


def test_state_has_the_names_and_layout_of_the_parameters(backend):
    subject = Subject(Adam(), backend)
    subject.move(slopes(1)[0])
    state = subject.state_dict()
    assert set(state) == {"step", "learning_rate", *(f"{n}/{slot}" for n in SHAPES for slot in ("mean", "square"))}
    assert state["conv/kernel:0/mean"].shape == (2, 4, 3, 2)
    expected = 0.1 * slopes(1)[0]["conv/kernel:0"].transpose(2, 3, 1, 0)
    np.testing.assert_allclose(state["conv/kernel:0/mean"], expected, rtol=1e-5)


def test_state_is_a_copy_and_loading_affects_compiled_steps(backend):
    line = Line()
    subject = Subject(Adam(0.01), backend, line.values)
    step = backend.train_function(line.forward(subject), subject)
    x, y = backend.tensor(line.x), backend.tensor(line.y)
    for _ in range(3):
        step(x, y)
    state = subject.state_dict()
    kept = {k: v.copy() for k, v in state.items()}
    first = subject.values()
    step(x, y)
    assert_same(state, kept, 0)
    after = subject.values()
    for name, value in first.items():
        backend.assign(subject.parameters[name].value, value)
    subject.load_state_dict(state)
    step(x, y)
    assert_same(subject.values(), after, 1e-6)


def test_mismatched_state_raises(backend):
    subject = Subject(Adam(), backend)
    state = subject.state_dict()
    wrong = {**state, "tail:0/mean": np.zeros(2), "scale:0/mean": np.zeros(3)}
    del wrong["head/bias:0/square"]
    with pytest.raises(
        StateDictError, match=r"missing head/bias:0/square; unexpected tail:0/mean; scale:0/mean has shape"
    ):
        subject.load_state_dict(wrong)
    with pytest.raises(StateDictError, match="the state does not match SGD"):
        Subject(SGD(), backend).load_state_dict(state)


# -- groups and changing parameters


@pytest.mark.parametrize("kind", ["AdamW", "RMSprop"])
def test_groups_have_their_own_settings(kind, backend):
    import torch

    rate = {"learning_rate": 0.02}
    settings = {"learning_rate": 0.01, "weight_decay": 0.1}
    groups = [("*/bias:0", {"weight_decay": 0.0}), ("scale:0", {"weight_decay": 0.0, **rate}), ("head/*", rate)]
    subject = Subject(optimizer(kind.lower(), groups=groups, **settings), backend)
    tensors = {n: torch.nn.Parameter(torch.tensor(v)) for n, v in start().items()}
    own = {
        "conv/kernel:0": (0.01, 0.1),
        "head/kernel:0": (0.02, 0.1),
        "head/bias:0": (0.02, 0.0),
        "scale:0": (0.02, 0.0),
    }
    theirs = getattr(torch.optim, kind)(
        [{"params": [tensors[n]], "lr": lr, "weight_decay": wd} for n, (lr, wd) in own.items()]
    )
    for i, gradients in enumerate(slopes(10)):
        if i == 5:
            subject.learning_rate = 0.005
            for group in theirs.param_groups:
                group["lr"] /= 2
        subject.move(gradients)
        for n, g in gradients.items():
            tensors[n].grad = torch.tensor(g)
        theirs.step()
    assert_same(subject.values(), {n: t.detach().numpy() for n, t in tensors.items()})
    again = Subject(optimizer(kind.lower(), groups=groups, **settings), backend, subject.values())
    again.load_state_dict(subject.state_dict())
    again.learning_rate = 0.005
    for s in (again, subject):
        s.move(slopes(1, seed=9)[0])
    assert_same(again.values(), subject.values(), 1e-6)


def test_groups_in_training_steps(backend):
    line = Line()
    settings = Adam(0.02, groups=[("bias:0", {"learning_rate": 0.0}), ("scale:0", {"beta_1": 0.5})])
    assert_same(line.trained(settings, backend, None), line.by_hand(settings), 2e-5)


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("case", ["momentum", "adam", "adamw", "radam", "adafactor"])
def test_freezing_keeps_the_state_of_other_parameters(case, backend):
    """Parameters are frozen for steps 4 to 6: the others are not affected, and unfrozen ones start with a new state."""
    gradients = slopes(9)
    subject, never = Subject(rule(case), backend), Subject(rule(case), NUMPY)
    everything = subject.parameters
    some = {n: p for n, p in everything.items() if not n.startswith("head/")}
    for g in gradients[:3]:
        subject.move(g)
    before = subject.values()
    subject.rebind(some)
    for g in gradients[3:6]:
        subject.move(g)
    assert subject.step == 6
    frozen = {n: np.array(backend.to_numpy(everything[n].value)) for n in everything if n not in some}
    assert_same(frozen, {n: before[n] for n in frozen}, 0)
    subject.rebind(everything)
    fresh = Subject(rule(case), NUMPY, frozen)
    resumed = Subject(rule(case), backend, subject.values())
    resumed.load_state_dict(through_a_file(subject.state_dict()))
    for g in gradients[6:]:
        for s in (subject, resumed, fresh):
            s.move(g)
    for g in gradients:
        never.move(g)
    assert subject.step == resumed.step == 9
    expected = {**never.values(), **fresh.values()}
    assert_same(subject.values(), expected)
    assert_same(resumed.values(), expected)


@pytest.mark.parametrize("case", ["adam", "adadelta"])
def test_compiled_step_follows_frozen_parameters(case, backend):
    line = Line()
    subject, settings = Subject(rule(case), backend, line.values), rule(case)
    step = backend.train_function(line.forward(subject), subject)
    x, y = backend.tensor(line.x), backend.tensor(line.y)
    reference = Subject(settings, NUMPY, line.values)
    held = dict(reference.parameters)
    for names in (["kernel:0", "bias:0", "scale:0"], ["kernel:0", "scale:0"], ["bias:0", "kernel:0", "scale:0"]):
        subject.rebind({n: line.parameters[n] for n in names})
        reference.rebind({n: held[n] for n in names})
        for _ in range(3):
            step(x, y)
            values = {n: np.array(p.value) for n, p in held.items()}
            reference.move(line.gradients(values))
    ours = {n: np.array(backend.to_numpy(p.value)) for n, p in line.parameters.items()}
    assert_same(ours, {n: p.value for n, p in held.items()}, 2e-5)


def test_state_moves_to_another_backend(backend):
    subject, reference = Subject(AdamW(), backend), Subject(AdamW(), NUMPY)
    gradients = slopes(6)
    for g in gradients[:3]:
        subject.move(g)
    for name, value in subject.values().items():
        subject.parameters[name].value = NUMPY.variable(value)
    subject.rebind(subject.parameters, NUMPY)
    for g in gradients[3:]:
        subject.move(g)
    for g in gradients:
        reference.move(g)
    assert_same(subject.values(), reference.values())
