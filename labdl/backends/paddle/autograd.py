"""Gradients in PaddlePaddle."""

import functools
import threading

import paddle

from labdl.backends.paddle.call_recorder import log_as_one_call


class _Failure(threading.local):
    error: BaseException | None = None


_failure = _Failure()


def keep_error(function):
    """Wrap a function that Paddle calls while it computes gradients: `backward` raises the function's own error."""

    @functools.wraps(function)
    def call(*args):
        try:
            return function(*args)
        except BaseException as error:
            _failure.error = error
            raise

    return call


def backward(result) -> None:
    """``result.backward()``; Paddle turns every error of a Python function in it into an OSError."""
    _failure.error = None
    try:
        result.backward()
    except OSError:
        error, _failure.error = _failure.error, None
        if error is None:
            raise
        raise error from None


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
    backward(result)
    # copies: clearing a variable's gradient clears it in place
    found = [paddle.zeros_like(v).detach() if v.grad is None else v.grad.detach().clone() for v in leaves]
    for leaf in leaves:
        leaf.clear_gradient(False)
    return result.detach(), found


def is_trainable(variable) -> bool:
    return not variable.stop_gradient


def set_trainable(variable, flag: bool) -> None:
    variable.stop_gradient = not flag


def with_gradient(forward, pull):
    class Call(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, *tensors):
            ctx.save_for_backward(*tensors)
            return forward(*tensors)

        @staticmethod
        @keep_error
        def backward(ctx, *gradients):
            tensors = ctx.saved_tensor()
            found = pull(gradients, tensors)
            return tuple(
                None if t.stop_gradient else paddle.zeros_like(t) if g is None else g
                for g, t in zip(found, tensors, strict=True)
            )

    return log_as_one_call(Call.apply)
