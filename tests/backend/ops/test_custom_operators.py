"""Custom operators on one backend: from NumPy and from C, values and gradients, eager and compiled."""

import importlib

import numpy as np
import pytest

import labdl
from labdl import nn, ops
from labdl.errors import BackendError, GradientError, ModelError
from labdl.ops import custom, rules
from labdl.ops.operator import case, floats
from labdl.spec import Spec

pytestmark = pytest.mark.sample(backends=2, every=12)

SWISH = """
static double gate(double v) { return 1 / (1 + exp(-v)); }

void swish(const FLOAT *x, FLOAT *y, double beta) {
    for (int64_t i = 0; i < x->size; i++) y->data[i] = x->data[i] * gate(beta * x->data[i]);
}

void swish_gradient(const FLOAT *x, const FLOAT *y, const FLOAT *gy, FLOAT *gx, double beta) {
    for (int64_t i = 0; i < x->size; i++) {
        double g = gate(beta * x->data[i]);
        gx->data[i] = gy->data[i] * (g + beta * x->data[i] * g * (1 - g));
    }
}
"""

# rows of a table, and how often each was read
ROWS = """
void rows(const Float32 *table, const Int64 *index, Float32 *rows, Int64 *counts) {
    int64_t width = table->shape[1];
    for (int64_t i = 0; i < index->size; i++) {
        counts->data[index->data[i]]++;
        for (int64_t j = 0; j < width; j++) rows->data[i * width + j] = table->data[index->data[i] * width + j];
    }
}

extern "C" void rows_gradient(const Float32 *table, const Int64 *index, const Float32 *, const Int64 *,
                              const Float32 *gradient, const Int64 *, Float32 *table_gradient, Int64 *) {
    int64_t width = table->shape[1];
    for (int64_t i = 0; i < index->size; i++)
        for (int64_t j = 0; j < width; j++)
            table_gradient->data[index->data[i] * width + j] += gradient->data[i * width + j];
}
"""


def rows_rule(table, index):
    return Spec((*index.shape, table.shape[1]), table.dtype), Spec((table.shape[0],), "int64")


@pytest.fixture(autouse=True)
def removed():
    """Operators of a test do not outlive it."""
    yield
    for name in [n for n, entry in ops.OPERATORS.items() if isinstance(entry, custom.CustomOperator)]:
        custom.unregister(name)


@pytest.fixture(scope="session", autouse=True)
def kernels(tmp_path_factory):
    """Compiled kernels of the tests stay out of the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


def scaled_cube():
    @custom.operator(rules.elementwise)
    def scaled_cube(x, scale: float = 1.0):
        """The third power, times a number."""
        return scale * x**3

    @scaled_cube.register_backward_function
    def gradient(gradient, x, scale):
        return gradient * scale * 3 * x**2

    return scaled_cube


def product_and_sum():
    @custom.operator(lambda x, y: (x, Spec((), x.dtype)), case(floats(2, 3), floats(2, 3)))
    def product_and_sum(x, y):
        return x * y, np.sum(x + y)

    @product_and_sum.register_backward_function
    def gradient(gradients, x, y, result):
        product, total = gradients
        assert result[0].shape == x.shape
        assert result[1].shape == ()
        return product * y + total, product * x + total

    return product_and_sum


def swish():
    double = SWISH.replace("FLOAT", "Float64").replace("swish", "swish_double").replace("gate", "gate_double")
    entry = custom.register_primitive("swish", options={"beta": 1.0}).kernel(SWISH.replace("FLOAT", "Float32") + double)
    entry.register_kernel("swish", "swish_gradient")
    return entry.register_kernel("swish_double", "swish_double_gradient", dtype="float64")


def rows():
    entry = custom.register_primitive(
        "rows", rows_rule, inputs=("table", "index"), samples=[case(floats(5, 3), floats(4))]
    )
    return entry.kernel(ROWS, "c++").register_kernel("rows", "rows_gradient", dtype=("float32", "int64"))


def native_compiler(backend):
    """The framework's own compiler, as users call it; each follows LabDL's look-up by type."""
    framework = importlib.import_module(backend.name)
    if backend.name == "torch":
        framework.compiler.reset()  # the tests compile one function for more operators than it keeps
    return {
        "torch": lambda f: framework.compile(f, fullgraph=True),
        "tensorflow": lambda f: framework.function(f),
        "paddle": lambda f: framework.jit.to_static(f),
        "mindspore": lambda f: framework.jit(f, capture_mode="bytecode"),
    }[backend.name]


def strict_compiler(backend):
    """The framework's compiler of whole graphs, which may refuse look-ups but not the operator's native function."""
    framework = importlib.import_module(backend.name)
    return {
        "torch": lambda f: framework.compile(f, fullgraph=True),
        "tensorflow": lambda f: framework.function(f),
        "paddle": lambda f: framework.jit.to_static(f, full_graph=True),
        "mindspore": lambda f: framework.jit(f),
    }[backend.name]


def prepared(function, mode, backend):
    if mode == "eager":
        return function
    if mode == "evaluated":
        return backend.evaluate_function(function)
    return native_compiler(backend)(function)


def sigmoid(v):
    return 1 / (1 + np.exp(-v))


def draw(*shape, dtype="float32"):
    return np.asarray(np.random.default_rng(len(shape)).uniform(-2, 2, shape)).astype(dtype)


UNARY = {
    "numpy": (scaled_cube, {"scale": 2.0}, lambda x: 2 * x**3, lambda x: 6 * x**2),
    "c": (
        swish,
        {"beta": 2.0},
        lambda x: x * sigmoid(2 * x),
        lambda x: sigmoid(2 * x) + 2 * x * sigmoid(2 * x) * (1 - sigmoid(2 * x)),
    ),
}


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(4, 3), (), (0, 3)], ids=str)
@pytest.mark.parametrize("mode", ["eager", "evaluated", "native"])
@pytest.mark.parametrize("kind", UNARY)
@pytest.mark.sample(every=36)
def test_value(kind, mode, shape, dtype, backend):
    make, options, expected, _ = UNARY[kind]
    name = make().name

    def apply(x):
        return getattr(ops, name)(x, **options)

    x = draw(*shape, dtype=dtype)
    actual = prepared(apply, mode, backend)(backend.tensor(x))
    assert isinstance(actual, backend.tensor_types())
    actual = labdl.to_numpy(actual)
    assert (actual.shape, actual.dtype) == (x.shape, x.dtype)
    np.testing.assert_allclose(actual, expected(x), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("mode", "shape", "dtype"),
    [("eager", (4, 3), "float32"), ("eager", (), "float64"), ("native", (4, 3), "float64")],
    ids=str,
)
@pytest.mark.parametrize("kind", UNARY)
def test_gradient(kind, mode, shape, dtype, backend):
    """The hand-written gradient as a part of the framework's own."""
    make, options, value, slope = UNARY[kind]
    name = make().name

    def loss(x):
        return ops.sum(ops.sin(getattr(ops, name)(x, **options)))

    x = draw(*shape, dtype=dtype)
    result, (actual,) = backend.gradients(prepared(loss, mode, backend), [backend.tensor(x)])
    np.testing.assert_allclose(labdl.to_numpy(result), np.sin(value(x)).sum(), rtol=1e-5)
    np.testing.assert_allclose(labdl.to_numpy(actual), np.cos(value(x)) * slope(x), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", UNARY)
def test_the_native_function_in_a_whole_graph(kind, backend):
    """Without LabDL's look-up, for compilers that follow no Python: value and gradient."""
    make, options, value, slope = UNARY[kind]
    function = make().native(backend.name, **options)

    def loss(x):
        return function(x).sum() if backend.name != "tensorflow" else ops.sum(function(x))

    # PaddlePaddle 3.3 reads freed memory in about one of 300 gradients of a static_pylayer, and crashes
    for shape in ((4, 3),) if backend.name == "paddle" else ((4, 3), (2, 5), ()):
        x = draw(*shape)
        result, (actual,) = backend.gradients(strict_compiler(backend)(loss), [backend.tensor(x)])
        np.testing.assert_allclose(labdl.to_numpy(result), value(x).sum(), rtol=1e-5)
        np.testing.assert_allclose(labdl.to_numpy(actual), slope(x), rtol=1e-4, atol=1e-5)


def test_nothing_in_a_whole_graph(backend):
    """Empty tensors too, but for MindSpore's compiler, which says so."""
    function = scaled_cube().native(backend.name)

    def apply(x):
        return function(x)

    empty = backend.tensor(draw(0, 3))
    if backend.name == "mindspore":
        with pytest.raises(ValueError, match="no empty tensors"):
            strict_compiler(backend)(apply)(empty)
    else:
        assert labdl.to_numpy(strict_compiler(backend)(apply)(empty)).shape == (0, 3)


@pytest.mark.parametrize("mode", ["eager", "native"])
def test_several_inputs_and_results(mode, backend):
    product_and_sum()
    x, y = draw(4, 3), draw(4, 3) + 1

    def loss(x, y):
        product, total = ops.product_and_sum(x, y)
        return ops.add(ops.sum(ops.sin(product)), ops.square(total))

    result, actual = backend.gradients(prepared(loss, mode, backend), [backend.tensor(x), backend.tensor(y)])
    total = (x + y).sum()
    np.testing.assert_allclose(labdl.to_numpy(result), np.sin(x * y).sum() + total**2, rtol=1e-5)
    for found, other in zip(actual, (y, x), strict=True):
        np.testing.assert_allclose(labdl.to_numpy(found), np.cos(x * y) * other + 2 * total, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("mode", ["eager", "native"])
def test_a_kernel_in_cpp_of_several_dtypes(mode, backend):
    """Integers have no gradient, and do not stop the other one."""
    rows()
    table, index = draw(5, 3), np.array([1, 4, 1])

    def read(table, index):
        return ops.rows(table, index)

    found, counts = prepared(read, mode, backend)(backend.tensor(table), backend.tensor(index))
    np.testing.assert_array_equal(labdl.to_numpy(found), table[index])
    np.testing.assert_array_equal(labdl.to_numpy(counts), [0, 2, 0, 0, 1])
    assert labdl.to_numpy(counts).dtype == np.int64

    positions = backend.tensor(index)

    def loss(table):
        return ops.sum(ops.rows(table, positions)[0])

    _, (actual,) = backend.gradients(loss, [backend.tensor(table)])
    np.testing.assert_array_equal(labdl.to_numpy(actual), np.repeat([[0], [2], [0], [0], [1]], 3, axis=1))


@pytest.mark.parametrize("compiled", [None, False])
def test_training_through_a_kernel(compiled, backend):
    """A layer of one's own, on the backend's default training step."""
    swish()

    class Gated(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(8), nn.Linear(1)

        def forward(self, x):
            return self.second(ops.swish(self.first(x)))

    labdl.seed(0)
    model = Gated().build((None, 3), backend=backend.name)
    optimizer = backend.optimizer(labdl.train.SGD(0.1, momentum=0.9), model.trainable_variables())

    def forward(x, y):
        output = model(x)
        return ops.mean_squared_error(output, y), output

    step = backend.train_function(forward, optimizer, compiled=compiled)
    x = draw(16, 3)
    y = np.sin(x.sum(1, keepdims=True))
    losses = [float(labdl.to_numpy(step(backend.tensor(x), backend.tensor(y))[0])) for _ in range(40)]
    assert losses[-1] < 0.6 * losses[0]
    assert np.isfinite(losses).all()


@pytest.mark.parametrize("mode", ["eager", "native"])
def test_a_missing_gradient_is_an_error(mode, backend):
    @custom.operator(rules.elementwise)
    def doubled(x):
        return 2 * x

    def loss(x):
        return ops.sum(ops.doubled(x))

    x = draw(4, 3)
    np.testing.assert_allclose(labdl.to_numpy(prepared(loss, mode, backend)(backend.tensor(x))), 2 * x.sum(), rtol=1e-5)
    with pytest.raises(GradientError, match="'doubled' has no gradient: give one with register_backward_function"):
        labdl.to_numpy(backend.gradients(prepared(loss, mode, backend), [backend.tensor(x)])[1][0])


def test_a_second_gradient_is_an_error(backend):
    scaled_cube()

    def slope(x):
        return ops.sum(backend.gradients(lambda v: ops.sum(ops.scaled_cube(v)), [x])[1][0])

    native = backend.tensor(draw(3))
    if backend.name in ("torch", "paddle"):
        framework = importlib.import_module(backend.name)
        leaf = native.detach().requires_grad_() if backend.name == "torch" else native
        leaf.stop_gradient = False
        (first,) = framework.autograd.grad(ops.sum(ops.scaled_cube(leaf)), [leaf], create_graph=True)
        # Paddle's own call hands every error on as an OSError with its text
        with pytest.raises(OSError if backend.name == "paddle" else GradientError, match="no second gradient"):
            first.sum().backward()
    else:
        with pytest.raises(GradientError, match="no second gradient"):
            labdl.to_numpy(backend.gradients(slope, [native])[1][0])


def test_one_implementation_for_each_backend(backend):
    """The backend's own tensors and gradient; a backend without one says what to add."""
    entry = custom.register_primitive("tripled")
    with pytest.raises(BackendError, match=rf'add one with implementation\("{backend.name}"\)'):
        ops.tripled(backend.tensor(draw(3)))

    @entry.implementation(backend.name)
    def native(x):
        assert isinstance(x, backend.tensor_types())
        return 3 * x

    x = draw(3)
    np.testing.assert_allclose(labdl.to_numpy(ops.tripled(backend.tensor(x))), 3 * x)
    _, (slope,) = backend.gradients(lambda v: ops.sum(ops.tripled(v)), [backend.tensor(x)])
    np.testing.assert_allclose(labdl.to_numpy(slope), [3, 3, 3])


def test_a_composite_differentiates_by_itself(backend):
    @custom.operator()
    def squared_norm(x):
        return ops.sum(ops.square(x))

    x = draw(4, 3)
    result, (slope,) = backend.gradients(ops.squared_norm, [backend.tensor(x)])
    np.testing.assert_allclose(labdl.to_numpy(result), (x**2).sum(), rtol=1e-5)
    np.testing.assert_allclose(labdl.to_numpy(slope), 2 * x, rtol=1e-5)


def test_numbers_and_arrays_go_with_tensors(backend):
    product_and_sum()
    product, _ = ops.product_and_sum(backend.tensor(draw(4, 3)), draw(4, 3))
    np.testing.assert_allclose(labdl.to_numpy(product), draw(4, 3) ** 2, rtol=1e-6)
    swish()
    np.testing.assert_allclose(
        labdl.to_numpy(ops.swish(x=backend.tensor(draw(3)), beta=1)), draw(3) * sigmoid(draw(3)), rtol=1e-5
    )


def test_a_kernel_refuses_other_dtypes(backend):
    rows()
    with pytest.raises(TypeError, match="int32"):
        ops.rows(backend.tensor(draw(5, 3)), backend.tensor(np.array([0], "int32")))
    with pytest.raises(TypeError, match="float64"):
        ops.rows(backend.tensor(draw(5, 3, dtype="float64")), backend.tensor(np.array([0])))


def test_the_inputs_cannot_be_written(backend):
    """The arrays are the tensors' own memory."""

    @custom.operator(rules.elementwise)
    def clipped(x):
        x[x < 0] = 0
        return x

    with pytest.raises(ValueError, match="read-only"):
        ops.clipped(backend.tensor(draw(3)))


def test_a_result_may_be_the_input(backend):
    @custom.operator(rules.elementwise)
    def same(x):
        return x

    native = backend.tensor(draw(3))
    np.testing.assert_array_equal(labdl.to_numpy(ops.same(native)), draw(3))


def test_results_are_checked_against_the_rule(backend):
    @custom.operator(rules.elementwise)
    def wrong(x):
        return x[:1]

    with pytest.raises(ModelError, match=r"'wrong': its function returns \(1,\), wanted is|wanted are \(3,\)"):
        ops.wrong(backend.tensor(draw(3)))


def test_any_number_of_inputs(backend):
    @custom.operator(rules.elementwise)
    def all_together(*xs):
        return sum(xs)

    @all_together.register_backward_function
    def gradient(gradient, *xs):
        return (gradient,) * len(xs)

    values = [backend.tensor(draw(4, 3)) for _ in range(3)]
    result, slopes = backend.gradients(lambda *v: ops.sum(ops.square(ops.all_together(*v))), values)
    np.testing.assert_allclose(labdl.to_numpy(result), (9 * draw(4, 3) ** 2).sum(), rtol=1e-5)
    for slope in slopes:
        np.testing.assert_allclose(labdl.to_numpy(slope), 6 * draw(4, 3), rtol=1e-5)
