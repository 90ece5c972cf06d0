"""PaddlePaddle tensors, variables, gradients and training steps."""

import paddle

from labdl.backends.paddle.recorder import itself
from labdl.spec import DTYPES, Spec

TENSORS = (paddle.Tensor, paddle.pir.Value)  # eager, and symbolic inside paddle.jit.to_static
_NAMES = {getattr(paddle, n): n for n in DTYPES if n != "string"}


def dtype(name: str):
    return getattr(paddle, name)


def copy(value):
    return value.clone()


def from_dlpack(value):
    return paddle.utils.dlpack.from_dlpack(value)


def dtype_name(value) -> str:
    return _NAMES[value.dtype]


def spec_of(value) -> Spec:
    return Spec(tuple(None if n < 0 else n for n in value.shape), _NAMES[value.dtype])


def devices() -> tuple[str, ...]:
    others = [name if ":" in name else f"{name}:0" for name in paddle.device.get_available_custom_device() or ()]
    return ("cpu", *(f"cuda:{i}" for i in range(paddle.device.cuda.device_count())), *others)


def current_device() -> str:
    return paddle.device.get_device().replace("gpu", "cuda")


def set_device(name: str) -> None:
    """For all of Paddle: whatever makes tensors there follows it."""
    paddle.device.set_device(name.replace("cuda", "gpu"))


def device_of(value) -> str:
    return str(value.place)[len("Place(") : -1].replace("gpu", "cuda")


def to_device(value, name: str):
    return value.to(name.replace("cuda", "gpu"))


def tensor(array):
    if _bfloat16(array):
        return paddle.to_tensor(array.astype("float32"), dtype="bfloat16")
    return paddle.to_tensor(array)


def _bfloat16(array) -> bool:
    """Whether it is an array of NumPy's bfloat16, which Paddle cannot read."""
    return getattr(getattr(array, "dtype", None), "kind", "") == "V"


def to_numpy(value):
    return (value.astype("float32") if value.dtype == paddle.bfloat16 else value).numpy()


def seed(value: int) -> None:
    paddle.seed(value)


def variable(array, trainable: bool = True):
    value = tensor(array)  # Paddle names it: a name given twice in one process is an error
    return paddle.base.framework.EagerParamBase.from_tensor(value) if trainable else value


def assign(target, array) -> None:
    with paddle.no_grad():
        values = array.astype("float32") if _bfloat16(array) else array
        target.set_value(paddle.to_tensor(values, dtype=target.dtype))


def finite(variables):
    return next((i for i, v in enumerate(variables) if not paddle.isfinite(v).all()), None)


def clear_gradients(variables) -> None:
    for v in variables:
        v.clear_gradient(False)


def gradients(function, values):
    """By ``backward``: ``paddle.grad`` of some inputs only is wrong for batch_norm, layer_norm and rnn (3.3)."""
    parameter = paddle.base.framework.EagerParamBase
    leaves = [v if isinstance(v, parameter) and not v.stop_gradient else v.detach() for v in values]
    for leaf in leaves:
        leaf.stop_gradient = False
        leaf.clear_gradient(False)
    result = function(*leaves)
    result.backward()
    # copies, because clearing a variable's gradient empties it wherever it is held
    found = [paddle.zeros_like(v).detach() if v.grad is None else v.grad.detach().clone() for v in leaves]
    for leaf in leaves:
        leaf.clear_gradient(False)
    return result.detach(), found


def set_trainable(variable, flag: bool) -> None:
    variable.stop_gradient = not flag


def move_variable(value, device: str):
    made = to_device(value.detach(), device)
    if not isinstance(value, paddle.base.framework.EagerParamBase):
        return made
    made = paddle.base.framework.EagerParamBase.from_tensor(made)
    made.stop_gradient = value.stop_gradient
    return made


def with_gradient(forward, pull):
    class Call(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, *tensors):
            ctx.save_for_backward(*tensors)
            return forward(*tensors)

        @staticmethod
        def backward(ctx, *gradients):
            tensors = ctx.saved_tensor()
            found = pull(gradients, tensors)
            return tuple(paddle.zeros_like(t) if g is None else g for g, t in zip(found, tensors, strict=True)
                         if not t.stop_gradient)  # fmt: skip

    return itself(Call.apply)
