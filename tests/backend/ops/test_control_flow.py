"""Branches, loops and functions over slices: NumPy's meaning, gradients, and compiled trainings that equal the eager ones."""

import warnings

import numpy as np
import pytest

import labdl
from labdl import nn, ops
from labdl.errors import ModelError
from labdl.spec import Spec
from labdl.train import SGD, Trainer

pytestmark = pytest.mark.sample(backends=2)

DRAWS = np.random.default_rng(0)
X = DRAWS.uniform(0.2, 0.9, (2, 3))


def check_gradient(backend, function, *arrays, step=1e-6):
    """The gradient of a scalar function of float64 tensors is that of finite differences."""
    _, found = backend.gradients(function, [backend.tensor(a) for a in arrays])
    for at, gradient in enumerate(found):
        wanted = np.zeros_like(arrays[at])
        for place in np.ndindex(wanted.shape):
            ends = []
            for sign in (1, -1):
                moved = [a.copy() for a in arrays]
                moved[at][place] += sign * step
                ends.append(float(backend.to_numpy(function(*map(backend.tensor, moved)))))
            wanted[place] = (ends[0] - ends[1]) / (2 * step)
        np.testing.assert_allclose(backend.to_numpy(gradient), wanted, rtol=1e-5, atol=1e-7)


def losses(model, backend, compiled, steps=4, shape=(8, 4)):
    """The losses of a training, and why it was not compiled."""
    x = np.random.default_rng(1).normal(size=shape).astype("float32")
    labdl.seed(3)
    trainer = Trainer(model(), optimizer=SGD(0.3), backend=backend.name, seed=1, compiled=compiled)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        # the sign of the inputs decides branches: both must be taken by one compiled step
        found = [trainer.train_one_batch((-1) ** n * x, np.arange(len(x)))["loss"] for n in range(steps)]
    return found, [str(w.message) for w in said if "not compiled" in str(w.message)]


def check_training(model, backend, compiled=True, **options):
    """A compiled training has the losses of the eager one; ``compiled`` says whether it really is compiled."""
    eager, _ = losses(model, backend, False, **options)
    found, reasons = losses(model, backend, True, **options)
    assert (not reasons) is compiled, reasons
    np.testing.assert_allclose(found, eager, rtol=1e-5)


# -- cond


class Branching(nn.Module):
    """Two ways through a network, one with statistics; the other has a branch of its own."""

    def __init__(self):
        self.one, self.other, self.last = nn.Linear(10), nn.Linear(10, use_bias=False), nn.Linear(10)

    def forward(self, x):
        mean = ops.mean(x)

        def inner():
            scale = ops.cond(mean < -10, lambda: mean, lambda: 2.0)
            return {"value": self.other(x) * scale, "mean": mean}

        chosen = ops.cond(mean > 0, lambda: {"value": self.one(x), "mean": 3 * mean}, inner)
        return self.last(chosen["value"]) + chosen["mean"]


def test_cond_runs_the_function_that_the_value_selects(backend):
    x, calls = backend.tensor(X), []

    def double(x):
        calls.append("double")
        return 2 * x

    for sign in (1, -1):
        found = ops.cond(ops.sum(sign * x) > 0, double, ops.negative, x)
        np.testing.assert_allclose(backend.to_numpy(found), 2 * X if sign > 0 else -X)
    assert calls == ["double"]
    found = ops.cond(ops.any(x > 5), lambda: (x, 1.0), lambda: (x[:1], None))
    assert found[1] is None
    assert tuple(found[0].shape) == (1, 3)
    assert backend.spec_of(ops.cond(ops.any(x < 5), lambda: 1.0, lambda: 2.0)) == Spec((), "float32")
    np.testing.assert_allclose(backend.to_numpy(ops.cond(False, double, ops.negative, x)), -X)


def test_gradients_flow_through_the_branch_that_ran(backend):
    def function(x, y):
        return ops.cond(ops.sum(x) > 2, lambda: ops.sum(ops.sin(x) * y), lambda: ops.sum(x * x))

    check_gradient(backend, function, X, X + 1)
    check_gradient(backend, function, X - 1, X + 1)


@pytest.mark.sample(backends=["tensorflow", "mindspore"])
@pytest.mark.inductor
def test_a_model_with_branches_trains_compiled_as_it_does_eagerly(backend):
    check_training(Branching, backend, compiled=backend.name != "torch")


class Choosing(nn.Module):
    """Results of branches that go into other branches, and lie side by side in one tensor."""

    def __init__(self):
        self.first = nn.Linear(3)

    def forward(self, x):
        total = ops.sum(self.first(x))
        one = ops.cond(total > 0, lambda: total + 1.0, lambda: total * total)
        other = ops.cond(total > -1, lambda: total + one, lambda: total * one)
        return ops.reshape(ops.sin(ops.stack([total, other, one])), (1, 3))


@pytest.mark.sample(False)
@pytest.mark.inductor
@pytest.mark.backends("torch")  # whose compiled gradients of these were wrong or an error
def test_stacked_results_of_branches_train_as_they_do_eagerly(backend):
    check_training(Choosing, backend, compiled=False, shape=(1, 4))


def test_cond_refuses_what_is_no_boolean_and_branches_that_differ(backend):
    x = backend.tensor(X)
    with pytest.raises(TypeError, match=r"boolean tensor of shape \(\) for pred, received \(2, 3\) bool.*ops.any"):
        ops.cond(x > 0, lambda: x, lambda: x)
    with pytest.raises(TypeError, match=r"boolean tensor of shape .* for pred, received .* float64"):
        ops.cond(ops.sum(x), lambda: x, lambda: x)
    with pytest.raises(TypeError, match=r"a bool or a boolean tensor .* received 'yes'"):
        ops.cond("yes", lambda: x, lambda: x)
    with pytest.raises(TypeError, match=r"a function for false_fn, received"):
        ops.cond(True, lambda: x, x)
    with pytest.raises(TypeError, match=r"the result of true_fn wants tensors, numbers and None.*received 'a'"):
        ops.cond(True, lambda: "a", lambda: x)

    class Differs(nn.Module):
        def __init__(self, other):
            self.other = other

        def forward(self, x):
            return ops.cond(ops.sum(x) > 0, lambda: x, lambda: self.other(x))

    for other in (lambda x: x[:, :1], lambda x: ops.astype(x, "int64"), lambda x: (x, x), lambda x: None):
        with pytest.raises(ValueError, match="result of true_fn and that of false_fn must have equal shapes and data"):
            Differs(other).build((2, 3), backend=backend.name)


def test_a_trace_refuses_control_flow_and_says_what_to_do():
    with pytest.raises(ModelError, match=r"a graph cannot hold ops.cond.*@nn.layer"):
        labdl.trace(Branching(), (None, 4))


class Counting(nn.Module):
    """Statistics that only one branch updates."""

    def __init__(self):
        self.norm, self.last = nn.BatchNorm(), nn.Linear(10)

    def forward(self, x):
        return self.last(ops.cond(ops.mean(x) > 0, lambda: self.norm(x), lambda: 2 * x))


def test_only_the_branch_that_runs_updates_its_statistics(backend):
    def values(compiled):
        labdl.seed(3)
        trainer = Trainer(Counting(), optimizer=SGD(0.1), backend=backend.name, seed=1, compiled=compiled)
        x = np.random.default_rng(1).normal(size=(8, 4)).astype("float32") + 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # torch.cond refuses branches that change tensors
            for sign in (1, -1, -1, 1):
                trainer.train_one_batch(sign * x, np.arange(8))
        return trainer.model.state_dict()

    eager, compiled = values(False), values(True)
    for name, value in eager.items():
        np.testing.assert_allclose(compiled[name], value, rtol=1e-4, atol=1e-5, err_msg=name)


class Noisy(nn.Module):
    def __init__(self):
        self.last = nn.Linear(10)

    def forward(self, x):
        return self.last(ops.cond(ops.mean(x) > 0, lambda: x + ops.random_uniform_like(x), lambda: x))


@pytest.mark.backends("mindspore")  # which draws before a compiled step
def test_a_branch_with_random_numbers_runs_eagerly_and_says_so(backend):
    _, reasons = losses(Noisy, backend, True)
    assert len(reasons) == 1
    assert "a branch or a loop draws random numbers" in reasons[0]


# -- while_loop


class Iterating(nn.Module):
    """A layer that is applied until the values are large, but three times at most."""

    def __init__(self):
        self.first, self.again = nn.Linear(10), nn.Linear(10)

    def forward(self, x):
        def body(h, count):
            return h + ops.tanh(self.again(h)), count + 1

        h = self.first(x)
        h, _ = ops.while_loop(lambda h, count: ops.all(ops.abs(h) < 5.0), body, (h, 0), maximum_iterations=3)
        return h


def test_while_loop_is_that_of_python(backend):
    found, count = ops.while_loop(lambda x, n: ops.sum(x) < 100, lambda x, n: (2 * x, n + 1), (backend.tensor(X), 0))
    times = int(np.ceil(np.log2(100 / X.sum())))
    np.testing.assert_allclose(backend.to_numpy(found), X * 2**times)
    assert backend.to_numpy(count) == times
    assert backend.spec_of(count) == Spec((), "int64")
    x = backend.tensor(X)
    limited = ops.while_loop(lambda v: ops.sum(v["x"]) < 100, lambda v: {"x": 2 * v["x"]}, {"x": x}, 2)
    np.testing.assert_allclose(backend.to_numpy(limited["x"]), 4 * X)
    never = ops.while_loop(lambda x: ops.sum(x) > 100, lambda x: (2 * x,), [x])
    assert isinstance(never, list)
    np.testing.assert_allclose(backend.to_numpy(never[0]), X)


def test_gradients_flow_through_all_iterations(backend):
    def function(x, w):
        found = ops.while_loop(lambda x: ops.sum(x) < 20, lambda x: x * w + x, x)
        return ops.sum(ops.sin(found))

    check_gradient(backend, function, X, X + 0.3)


def test_a_model_with_a_loop_trains_compiled_as_it_does_eagerly(backend):
    # PyTorch and Paddle say that they have no gradient of loops
    check_training(Iterating, backend, backend.name in ("tensorflow", "mindspore"))


@pytest.mark.sample(backends=["tensorflow", "mindspore"])
@pytest.mark.inductor
def test_a_model_with_a_loop_is_evaluated_compiled(backend):
    model = Iterating().build((8, 4), backend=backend.name, seed=1)
    check_evaluation(model, backend, DRAWS.normal(size=(8, 4)).astype("float32"))


def check_evaluation(model, backend, x):
    from labdl.graph.lowering.compilable import Compilable

    model.eval()
    inputs = backend.tensor(x)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        for sign in (1, -1):
            compiled = backend.evaluate_function(Compilable(model, [model], backend), compiled=True)
            found = backend.to_numpy(compiled(sign * inputs))
            np.testing.assert_allclose(found, backend.to_numpy(model(sign * inputs)), rtol=1e-5, atol=1e-6)


def test_while_loop_refuses_variables_that_change_and_conditions_that_are_no_boolean(backend):
    x = backend.tensor(X)
    with pytest.raises(TypeError, match=r"the variables and the result of body must have equal.*\(2, 1\)"):
        ops.while_loop(lambda x: ops.sum(x) < 100, lambda x: x[:, :1], x)
    with pytest.raises(TypeError, match=r"received .*float64.* and .*int64"):
        ops.while_loop(lambda x: ops.sum(x) < 100, lambda x: ops.astype(x, "int64"), x)
    with pytest.raises(TypeError, match=r"body must return 2 variables in a tuple"):
        ops.while_loop(lambda x, n: ops.sum(x) < 100, lambda x, n: x, (x, 0))
    with pytest.raises(TypeError, match=r"boolean tensor of shape \(\) for the result of cond"):
        ops.while_loop(ops.sum, lambda x: x, x)
    with pytest.raises(TypeError, match=r"a function for body"):
        ops.while_loop(ops.any, None, x)
    with pytest.raises(ValueError, match=r"maximum_iterations of 0 or more, received -1"):
        ops.while_loop(ops.any, ops.abs, x, -1)


# -- scan


class Recurrent(nn.Module):
    """An RNN over a sequence, its last state and the mean of all."""

    length, reverse = 6, False

    def __init__(self):
        self.kernel, self.recurrent = nn.Linear(5), nn.Linear(5, use_bias=False)
        self.last = nn.Linear(10)

    def forward(self, x):
        def step(carry, x):
            h = ops.tanh(self.kernel(x) + self.recurrent(carry["h"]))
            return {"h": h, "count": carry["count"] + 1}, h

        steps = ops.permute_dims(ops.reshape(x, (-1, self.length, 3)), (1, 0, 2))
        start = {"h": ops.zeros_like(self.kernel(steps[0])), "count": 0}
        carry, hs = ops.scan(step, start, steps, reverse=self.reverse)
        return self.last(ops.mean(hs, axis=0)) + ops.sum(carry["h"], axis=-1, keepdims=True)


class LongRecurrent(Recurrent):
    length, reverse = 40, True


def test_scan_is_a_loop_over_slices(backend):
    xs = DRAWS.normal(size=(5, 3))
    total, products = ops.scan(lambda t, x: (t + x, t * x), backend.tensor(X[0]), backend.tensor(xs))
    totals = X[0] + np.concatenate([np.zeros((1, 3)), np.cumsum(xs, 0)])
    np.testing.assert_allclose(backend.to_numpy(total), totals[-1])
    np.testing.assert_allclose(backend.to_numpy(products), totals[:-1] * xs)
    total, products = ops.scan(lambda t, x: (t + x, t * x), backend.tensor(X[0]), backend.tensor(xs), reverse=True)
    totals = X[0] + np.concatenate([np.zeros((1, 3)), np.cumsum(xs[::-1], 0)])
    np.testing.assert_allclose(backend.to_numpy(products), (totals[:-1] * xs[::-1])[::-1])
    x = backend.tensor(X)
    (last, n), ys = ops.scan(lambda c, _: ((c[0] * 2, c[1] + 1), {"n": c[1], "no": None}), (x, 0), length=3)
    np.testing.assert_allclose(backend.to_numpy(last), 8 * X)
    np.testing.assert_array_equal(backend.to_numpy(ys["n"]), [0, 1, 2])
    assert (int(backend.to_numpy(n)), ys["no"]) == (3, None)
    carry, ys = ops.scan(lambda t, x: (t + ops.sum(x), ops.stack([x, x])), backend.tensor(X[0]), backend.tensor(xs[:0]))
    np.testing.assert_allclose(backend.to_numpy(carry), X[0])
    assert backend.spec_of(ys) == Spec((0, 2, 3), "float64")


def test_gradients_flow_through_all_steps_of_a_scan(backend):
    def function(h, xs, w):
        last, ys = ops.scan(lambda h, x: (ops.tanh(h * w + x), h * x), h, xs, reverse=True)
        return ops.sum(last * ys)

    check_gradient(backend, function, X[0], X, X[1])


@pytest.mark.sample(every=2, backends=["tensorflow", "paddle"])
@pytest.mark.parametrize("model", [Recurrent, LongRecurrent])
def test_a_model_with_a_scan_trains_compiled_as_it_does_eagerly(model, backend):
    compiled = model is Recurrent or backend.name in ("tensorflow", "mindspore")
    check_training(model, backend, compiled, shape=(6, 3 * model.length))


@pytest.mark.sample(False)
def test_a_model_with_a_long_scan_is_evaluated_compiled(backend):
    model = LongRecurrent().build((6, 120), backend=backend.name, seed=1)
    check_evaluation(model, backend, DRAWS.normal(size=(6, 120)).astype("float32"))


def test_scan_refuses_what_does_not_fit(backend):
    x = backend.tensor(X)
    for f in (lambda c, x: c, lambda c, x: (c, x, x)):
        with pytest.raises(TypeError, match=r"ops.scan: f must return \(carry, y\)"):
            ops.scan(f, x[0], x)
    with pytest.raises(TypeError, match=r"init and the carry that f returns must have equal .*\(3,\).*\(2, 3\)"):
        ops.scan(lambda c, s: (x, s), x[0], x)
    with pytest.raises(ValueError, match=r"equally long, received \[2, 4\]"):
        ops.scan(lambda c, s: (c, s), x[0], x, length=4)
    with pytest.raises(ValueError, match=r"wants a length where there are no xs"):
        ops.scan(lambda c, s: (c, s), x[0])
    with pytest.raises(ValueError, match=r"along the first axis, and one of them has no axes"):
        ops.scan(lambda c, s: (c, s), x[0], ops.sum(x))
    with pytest.raises(ValueError, match=r"a length of 0 or more, received 2.5"):
        ops.scan(lambda c, s: (c, s), x[0], length=2.5)


def test_a_layer_with_control_flow_is_exported_as_source(backend, tmp_path):
    import runpy

    from labdl.saving.source_export import export_source

    @nn.layer
    class ScannedSums(nn.Module):
        """Running sums that start anew above a limit: a layer is a node of a graph, whatever is in it."""

        def forward(self, x):
            def step(total, x):
                total = ops.cond(ops.sum(total) > 2.0, lambda: x, lambda: total + x)
                return total, total

            return ops.permute_dims(
                ops.scan(step, ops.zeros_like(x[:, 0]), ops.permute_dims(x, (1, 0, 2)))[1], (1, 0, 2)
            )

    model = nn.Sequential(nn.Linear(3), ScannedSums()).build((4, 21, 2), backend=backend.name, seed=1).eval()
    assert [node.type for node in labdl.trace(model).nodes.values()][-1] == ScannedSums.layer_type
    file, _ = export_source(model, tmp_path / "net")
    assert "while" in file.read_text()
    names = runpy.run_path(str(file))
    native = names["Sequential"](tmp_path / "net.weights.npz")
    if hasattr(native, "eval"):
        native.eval()
    for sign in (1, -1):
        x = backend.tensor(sign * DRAWS.uniform(0, 1, (4, 21, 2)).astype("float32"))
        np.testing.assert_allclose(backend.to_numpy(native(x)), backend.to_numpy(model(x)), rtol=1e-4, atol=1e-5)


class WithoutResults(nn.Module):
    """A scan that returns its carry alone, with a place that holds nothing."""

    length = 3

    def __init__(self):
        self.again, self.last = nn.Linear(4), nn.Linear(10)

    def forward(self, x):
        def step(carry, _):
            return {"h": ops.tanh(self.again(carry["h"])), "no": None}, None

        carry, ys = ops.scan(step, {"h": x, "no": None}, length=self.length)
        assert ys is None
        assert carry["no"] is None
        return self.last(carry["h"])


class LongWithoutResults(WithoutResults):
    length = 40


@pytest.mark.sample(backends=1)
@pytest.mark.parametrize("model", [WithoutResults, LongWithoutResults])
def test_places_without_tensors_compile(model, backend):
    check_training(model, backend, model is WithoutResults or backend.name in ("tensorflow", "mindspore"))
    check_evaluation(
        model().build((8, 4), backend=backend.name, seed=1), backend, DRAWS.normal(size=(8, 4)).astype("float32")
    )


class BranchingWithoutResults(nn.Module):
    def __init__(self):
        self.last = nn.Linear(10)

    def forward(self, x):
        h, no = ops.cond(ops.sum(x) > 0, lambda: (x, None), lambda: (2 * x, None))
        assert no is None
        return self.last(h)


@pytest.mark.backends("tensorflow", "paddle", "mindspore")  # torch.cond returns tensors alone
def test_branches_with_places_without_tensors_compile(backend):
    check_training(BranchingWithoutResults, backend)


@pytest.mark.sample(backends=1)
def test_a_compiled_loop_may_return_its_variables_in_another_order_of_keys(backend):
    class Reordered(nn.Module):
        def forward(self, x):
            start = {"a": x, "none": None, "b": 3 * x}

            def body(v):
                return {"b": v["b"] + 1, "none": None, "a": 2 * v["a"]}

            found = ops.while_loop(lambda v: ops.sum(ops.abs(v["a"])) < 1000.0, body, start)
            return found["a"] - found["b"]

    check_evaluation(
        Reordered().build((8, 4), backend=backend.name), backend, DRAWS.normal(size=(8, 4)).astype("float32")
    )


class VeryLongRecurrent(Recurrent):
    length = 1000


@pytest.mark.sample(False)
@pytest.mark.backends("tensorflow", "mindspore")  # which have gradients of loops
def test_a_scan_of_a_thousand_steps_compiles(backend):
    check_training(VeryLongRecurrent, backend, steps=1, shape=(2, 3000))


# -- vmap


class Mapped(nn.Module):
    """Each sample is changed by its own sum, as no operator does for a batch."""

    def __init__(self):
        self.kernel, self.last = nn.Linear(10), nn.Linear(10)

    def forward(self, x):
        def each(sample, scale):
            return ops.cond(ops.sum(sample) > 0, lambda: self.kernel(sample) * scale, lambda: self.kernel(-sample))

        return self.last(ops.vmap(each, in_axes=(0, None), out_axes=1)(x[:, None], ops.max(x))[0])


def test_vmap_is_a_loop_over_samples(backend):
    xs = DRAWS.normal(size=(4, 3, 2))
    x, w = backend.tensor(xs), backend.tensor(X)
    found = ops.vmap(ops.matmul, in_axes=(0, None))(x, w)
    np.testing.assert_allclose(backend.to_numpy(found), xs @ X)
    found = ops.vmap(lambda x, y: {"sum": ops.sum(x), "outer": ops.matmul(x, y)}, in_axes=(2, None), out_axes=-1)(
        x, backend.tensor(X.T)
    )
    np.testing.assert_allclose(backend.to_numpy(found["sum"]), xs.sum((0, 1)))
    np.testing.assert_allclose(backend.to_numpy(found["outer"]), np.moveaxis(np.moveaxis(xs, 2, 0) @ X.T, 0, -1))
    a, b = ops.vmap(lambda x: (x, 2 * x), in_axes=(-1,), out_axes=(0, 1))(x)
    np.testing.assert_allclose(backend.to_numpy(a), np.moveaxis(xs, -1, 0))
    np.testing.assert_allclose(backend.to_numpy(b), np.moveaxis(2 * xs, -1, 1))
    nested = ops.vmap(ops.vmap(lambda a, b: a * b, in_axes=(None, 0)), in_axes=(0, None))(w[0], w[1])
    np.testing.assert_allclose(backend.to_numpy(nested), np.outer(X[0], X[1]))
    chosen = ops.vmap(lambda row: ops.cond(ops.sum(row) > 1.6, lambda: row, lambda: -row))(w)
    np.testing.assert_allclose(backend.to_numpy(chosen), np.where(X.sum(1, keepdims=True) > 1.6, X, -X))


def test_gradients_flow_through_vmap(backend):
    def function(x, w):
        return ops.sum(ops.vmap(lambda row, w: ops.sin(row) * ops.sum(row * w), in_axes=(0, None))(x, w))

    check_gradient(backend, function, X, X[0])


@pytest.mark.sample(backends=1)
def test_a_model_with_vmap_trains_compiled_as_it_does_eagerly(backend):
    check_training(Mapped, backend, shape=(6, 4))


def test_vmap_refuses_what_does_not_fit(backend):
    x = backend.tensor(X)
    with pytest.raises(ValueError, match=r"in_axes for 1 arguments, received \(0, 0\)"):
        ops.vmap(ops.abs, in_axes=(0, 0))(x)
    with pytest.raises(ValueError, match=r"equal length along in_axes=\(0, 1\), received \[\(2, 3\), \(2, 3\)\]"):
        ops.vmap(ops.add, in_axes=(0, 1))(x, x)
    with pytest.raises(ValueError, match=r"an argument to cut"):
        ops.vmap(ops.abs, in_axes=None)(x)
    with pytest.raises(ValueError, match=r"out_axes for each result of f"):
        ops.vmap(ops.abs, out_axes=(0, 1))(x)
    with pytest.raises(TypeError, match=r"a function for f, received 3"):
        ops.vmap(3)
