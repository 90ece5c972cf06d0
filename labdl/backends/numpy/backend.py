"""NumPy as a backend: the framework-free reference, which computes forward only; training needs a framework."""

import ml_dtypes
import numpy as np

from labdl.backends.numpy.facts import FACTS
from labdl.backends.rule_optimizer import RuleOptimizer
from labdl.spec import Spec, dtype_name

name = FACTS.name
concurrent = False
namespaces = ()

_DTYPES = {"bfloat16": np.dtype(ml_dtypes.bfloat16)}


def tensor_types():
    return (np.ndarray, np.generic)


def dtype(name: str) -> np.dtype:
    return _DTYPES.get(name) or np.dtype(name)


def implementation(operator):
    """The body of an operator is its NumPy implementation: with promoted operands, and the result in the dtype of the rule."""

    def compute(*args, **kwargs):
        args, kwargs = tuple(map(_array, args)), {k: _array(v) for k, v in kwargs.items()}
        specs = operator.infer(args, kwargs)
        bound = operator.signature.bind(*args, **kwargs)
        common = operator.promoted_dtype(_specs(bound.arguments))
        for parameter, roles in operator.roles.items():
            if "free" in roles and bound.arguments.get(parameter) is not None:
                bound.arguments[parameter] = _operand(bound.arguments[parameter], common)
        with np.errstate(all="ignore"):
            return _settle(operator.body(*bound.args, **bound.kwargs), specs)

    return compute


def _array(value):
    """NumPy scalars are results of reductions: tensors without axes, not Python numbers."""
    return np.asarray(value) if isinstance(value, np.generic) else value


def _specs(value):
    if isinstance(value, dict):
        return {k: _specs(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_specs(v) for v in value]
    return spec_of(value) if isinstance(value, np.ndarray | np.generic) else value


def _operand(value, common):
    """Convert to the common dtype, if any; half precision to float32, from which the result is rounded once."""
    if isinstance(value, list | tuple):
        return type(value)(_operand(v, common) for v in value)
    if not isinstance(value, np.ndarray | np.generic):
        return np.asarray(value, _wide(common)) if common and isinstance(value, bool | int | float | complex) else value
    wanted = _wide(common or dtype_name(value.dtype))
    return value if wanted is None else np.asarray(value).astype(wanted, copy=False)


def _wide(name):
    return None if name == "string" else np.dtype("float32" if name in ("float16", "bfloat16") else name)


def _settle(result, specs):
    if isinstance(specs, Spec):
        array = np.asarray(result)
        return array if specs.dtype == "string" else array.astype(dtype(specs.dtype), copy=False)
    return tuple(_settle(r, s) for r, s in zip(result, specs, strict=True))


def spec_of(value) -> Spec:
    return Spec(value.shape, dtype_name(value.dtype))


def devices() -> tuple[str, ...]:
    return ("cpu",)


def current_device() -> str:
    return "cpu"


def set_device(name: str) -> None:
    """No-op: NumPy has the CPU only."""


def device_of(value) -> str:
    return "cpu"


def to_device(value, name: str):
    return value


def tensor(array):
    return np.asarray(array)


def to_numpy(value) -> np.ndarray:
    return np.asarray(value)


def copy(value):
    return np.array(value)


def from_dlpack(value, copy=None):
    return np.from_dlpack(value)


def seed(value: int) -> None:
    np.random.seed(value)


def random_state():
    """Seed the global generator; LabDL's operators use their own (see `labdl.ops.random.state.random_state`)."""
    kind, words, position, waiting, normal = np.random.get_state()
    return {"kind": kind, "words": words, "position": position, "waiting": waiting, "normal": normal}


def set_random_state(state) -> None:
    words, position = np.asarray(state["words"]), int(state["position"])
    if (words.shape, words.dtype) != ((624,), "uint32") or not 0 <= position <= 624:
        raise ValueError("the random state of numpy wants 624 words and a position up to 624")
    np.random.set_state((state["kind"], words, position, int(state["waiting"]), float(state["normal"])))


def variable(array, trainable: bool = True):
    return np.array(array)


def assign(target, array) -> None:
    target[...] = array


def move_variable(value, device: str):
    return np.array(value)


def evaluate_function(forward, compiled=None):
    return forward


def finite(variables):
    return next((i for i, v in enumerate(variables) if not np.isfinite(v).all()), None)


def train_function(*_, **__):
    raise NotImplementedError("NumPy computes forward only: train on torch, tensorflow, paddle or mindspore")


gradients = gradient_function = update_function = train_function


def clear_gradients(variables) -> None:
    """NumPy stores none."""


class RuleUpdates(RuleOptimizer):
    """Runs the update of a rule; the reference for optimizers of other backends."""

    def new_slot(self, variable, shape, start):
        return np.full(shape, start, variable.dtype)

    def load_slot(self, variable, array):
        return np.array(array, variable.dtype)

    def assign(self, variable, value):
        variable[...] = value

    def update(self, gradients) -> None:
        super().update(gradients)
        self.state = [
            {slot: np.asarray(a, v.dtype) for slot, a in slots.items()}
            for v, slots in zip(self.variables, self.state, strict=True)
        ]


optimizer = RuleUpdates


def is_trainable(variable) -> None:
    """None: arrays have no such flag."""


def set_trainable(variable, flag: bool) -> None:
    """No-op: NumPy computes no gradients."""


def with_gradient(forward, pull):
    return forward
