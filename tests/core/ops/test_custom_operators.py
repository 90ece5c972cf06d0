"""Custom operators without a framework: registering, shapes, graphs, the compiler and its cache."""

import os
import stat

import numpy as np
import pytest

import labdl
from labdl import nn, ops
from labdl.errors import BackendError, ConfigError, GradientError
from labdl.nn.schema import operator_schema
from labdl.ops import custom, rules
from labdl.ops.custom import c_kernel
from labdl.ops.operator import case, floats
from labdl.spec import Spec

DOUBLE = """
void doubled(const Float32 *x, Float32 *y) {
    for (int64_t i = 0; i < x->size; i++) y->data[i] = 2 * x->data[i];
}
"""


@pytest.fixture(autouse=True)
def removed(tmp_path, monkeypatch):
    """Operators and compiled kernels of a test do not outlive it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    c_kernel.compiler.cache_clear()
    yield
    c_kernel.compiler.cache_clear()
    for name in [n for n, entry in ops.OPERATORS.items() if isinstance(entry, custom.CustomOperator)]:
        custom.unregister(name)


def doubled(source=DOUBLE, language="c", **options):
    return custom.register_primitive("doubled", options=options).kernel(source, language)


def test_an_operator_from_a_function():
    @custom.operator(rules.elementwise)
    def cube(x, scale: float = 1.0):
        """The third power."""
        return scale * x**3

    assert ops.cube(np.float32([1, 2])).tolist() == [1, 8]
    assert cube(np.float32([1, 2]), scale=2).tolist() == [2, 16]
    assert cube(x=np.float32([2])).tolist() == [8]
    assert ops.cube(Spec((None, 3))) == Spec((None, 3))
    assert ops.OPERATORS["cube"] is cube
    assert ops.cube.__doc__ == "The third power."
    with pytest.raises(TypeError, match="unexpected keyword argument 'factor'"):
        ops.cube(np.float32([1]), factor=2)


def test_the_three_steps_in_c():
    custom.register_primitive("doubled").kernel(DOUBLE).register_kernel("doubled")
    assert ops.doubled(np.float32([[1, 2]])).tolist() == [[2, 4]]
    assert ops.doubled(np.float32(3)) == 6
    assert ops.doubled(np.zeros((0, 2), "float32")).shape == (0, 2)
    assert ops.doubled(np.arange(6, dtype="float32").reshape(2, 3).T).tolist() == [[0, 6], [2, 8], [4, 10]]
    with pytest.raises(TypeError, match="float64"):
        ops.doubled(np.zeros(2))
    with pytest.raises(TypeError, match="float64"):
        ops.doubled(Spec((2,), "float64"))


@pytest.mark.sample(False)
def test_a_source_file_and_integer_options(tmp_path):
    file = tmp_path / "power.cpp"
    file.write_text("""
        template <class T> static void power(const T *x, T *y, int64_t times) {
            for (int64_t i = 0; i < x->size; i++) y->data[i] = pow(x->data[i], times);
        }
        void power_float(const Float32 *x, Float32 *y, int64_t times) { power(x, y, times); }
        void power_integer(const Int64 *x, Int64 *y, int64_t times) { power(x, y, times); }
    """)
    entry = custom.register_primitive("powered", options={"times": 2}).kernel(file)
    entry.register_kernel("power_float").register_kernel("power_integer", dtype="int64")
    assert ops.powered(np.float32([3])).tolist() == [9]
    assert ops.powered(np.array([3]), times=3).tolist() == [27]
    with pytest.raises(TypeError, match=r"default is 2 wants an integer, received 2\.5"):
        ops.powered(np.float32([3]), times=2.5)


def test_compiler_message_is_shown():
    with pytest.raises(ConfigError, match=r"kernel:3.*(undeclared|undefined)") as caught:
        doubled(DOUBLE.replace("2 * x", "2 * z")).register_kernel("doubled")
    assert "void doubled(const Float32 *x, Float32 *result)" in str(caught.value)


@pytest.mark.parametrize("language", ["c", "c++"])
def test_a_wrong_signature_is_one_clear_error(language):
    with pytest.raises(ConfigError, match=r"void doubled\(const Float32 \*x, Float32 \*result, double factor\)"):
        doubled(language=language, factor=1.0).register_kernel("doubled")


def test_a_missing_function_is_named():
    with pytest.raises(ConfigError, match="defines no function 'doubled_gradient' of the wanted signature: void"):
        doubled().register_kernel("doubled", "doubled_gradient")


def test_an_undefined_function_is_named():
    with pytest.raises(ConfigError, match="elsewhere"):
        doubled("void elsewhere(void);" + DOUBLE.replace("for (", "elsewhere(); for (")).register_kernel("doubled")


def test_missing_compiler_raises(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(
        ConfigError, match=r"needs a compiler, and there is no cc or gcc or clang on the PATH: install gcc"
    ):
        doubled().register_kernel("doubled")


def test_steps_out_of_order_and_wrong_settings():
    entry = custom.register_primitive("doubled", options={"mode": "fast"})
    with pytest.raises(ConfigError, match="has no source: call kernel"):
        entry.register_kernel("doubled")
    with pytest.raises(ConfigError, match="options are numbers, and mode is 'fast'"):
        entry.kernel(DOUBLE).register_kernel("doubled")
    with pytest.raises(ConfigError, match="dtype wants one of float32"):
        entry.register_kernel("doubled", dtype="float16")
    with pytest.raises(ConfigError, match='language wants "c" or "c\\+\\+"'):
        entry.kernel(DOUBLE, "fortran")
    with pytest.raises(ConfigError, match="unknown backend 'tinygrad'"):
        entry.implementation("tinygrad")
    with pytest.raises(BackendError, match="'doubled' has no implementation for numpy"):
        ops.doubled(np.float32([1]))


def test_a_kernel_is_compiled_once(monkeypatch):
    doubled().register_kernel("doubled")
    (library,) = c_kernel.cache_folder().glob("*.so")
    before = library.stat().st_mtime_ns
    monkeypatch.setattr(c_kernel, "_compile", lambda *_: pytest.fail("compiled again"))
    doubled().register_kernel("doubled")
    assert library.stat().st_mtime_ns == before
    assert stat.S_IMODE(library.parent.stat().st_mode) == 0o700
    assert os.listdir(library.parent) == [library.name]


TWO = """
import numpy as np
from labdl import ops
from labdl.ops import custom
source = "void doubled(const Float32 *x, Float32 *y) { for (int64_t i = 0; i < x->size; i++) y->data[i] = 2 * x->data[i]; }"
custom.register_primitive("doubled").kernel(source).register_kernel("doubled")
print(ops.doubled(np.float32([4]))[0])
"""


@pytest.mark.sample(False)
@pytest.mark.slow
def test_two_processes_compile_at_once(fresh_python, tmp_path):
    running = [fresh_python(TWO, XDG_CACHE_HOME=str(tmp_path / "both")) for _ in range(3)]
    assert [r.result().strip() for r in running] == ["8.0"] * 3
    assert len(os.listdir(tmp_path / "both" / "labdl" / "kernels")) == 1


def test_built_in_operators_cannot_be_replaced():
    for name in ("relu", "rules", "tensor"):
        with pytest.raises(ConfigError, match=f"labdl.ops.{name} exists already"):
            custom.register_primitive(name)
    with pytest.raises(ConfigError, match="a Python name"):
        custom.register_primitive("my op")
    with pytest.raises(ConfigError, match="there is no custom operator 'relu': there is none"):
        custom.unregister("relu")


def test_a_cell_that_runs_again_replaces_its_operator():
    for factor in (2, 3):

        @custom.operator(rules.elementwise)
        def scaled(x):
            return factor * x  # noqa: B023

        assert ops.scaled(np.float32([1]))[0] == factor
    custom.unregister("scaled")
    assert not hasattr(ops, "scaled")
    assert "scaled" not in ops.OPERATORS


def test_rule_that_rejects_the_samples():
    with pytest.raises(ConfigError, match=r"does not take inputs of shape \(2, 3\) and \(2, 3\).*give samples"):
        custom.register_primitive("product", rules.matmul, inputs=("x", "y"))
    entry = custom.register_primitive(
        "product", rules.matmul, inputs=("x", "y"), samples=[case(floats(2, 3), floats(3, 4))]
    )
    assert entry(Spec((None, 3)), Spec((3, 5))) == Spec((None, 5))


def test_parameters_without_default_are_tensors():
    with pytest.raises(ConfigError, match="options have a default"):

        @custom.operator(rules.elementwise)
        def scaled(x, *, factor):
            return factor * x


def test_composite_rejects_a_backward_function():
    @custom.operator()
    def squared(x):
        return ops.multiply(x, x)

    assert ops.squared(Spec((2, 3))) == Spec((2, 3))
    with pytest.raises(ConfigError, match="differentiate by themselves"):
        squared.register_backward_function(lambda gradient, x: gradient)


def test_a_gradient_of_the_wrong_length():
    @custom.operator(rules.binary)
    def product(x, y):
        return x * y

    product.register_backward_function(lambda gradient, x, y: gradient)
    a = np.ones((2, 3), "float32")
    with pytest.raises(GradientError, match="returns 1 arrays for 2 inputs"):
        product.host.bind(()).gradient.run(a, a, a, a)


def test_custom_operators_in_graphs():
    """They are traced, checked, drawn and written as source like built-in ones."""

    @custom.operator(lambda x, y, scale: (x, Spec((), x.dtype)), case(floats(2, 3), floats(2, 3)))
    def pair(x, y, scale: float = 1.0):
        """Product and sum."""
        return scale * x * y, np.sum(x + y)

    class Model(nn.Module):
        def forward(self, x):
            product, _ = ops.pair(x, ops.relu(x), scale=2.0)
            return product

    graph = labdl.trace(Model(), (None, 3))
    node = next(n for n in graph.nodes.values() if n.type == "ops.pair")
    assert node.params == {"scale": 2.0}
    specs, problems = graph.check()
    assert problems == []
    assert Spec((None, 3)) in [s for ports in specs.values() for s in ports.values()]
    assert "ops.pair(x, " in graph.to_python()
    x = np.float32([[1, -1, 2]])
    model = graph.to_module().build((None, 3), backend="numpy")
    np.testing.assert_allclose(model(x), 2 * x * np.maximum(x, 0))
    schema = operator_schema(pair)
    assert [p["name"] for p in schema["inputs"]] == ["x", "y"]
    assert schema["summary"] == "Product and sum."
