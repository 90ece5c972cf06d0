"""Custom operators on PaddlePaddle: NumPy functions as differentiable functions of tensors, eager and in to_static."""

# PaddlePaddle annotates results as unions, and omits None and tuples that its functions accept
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportGeneralTypeIssues=false, reportOptionalCall=false, reportPrivateImportUsage=false

import functools
import itertools

import paddle
from paddle.jit.dy2static.py_layer import StaticPyLayerContext

from labdl.backends.paddle import kernels
from labdl.backends.paddle.autograd import keep_error
from labdl.backends.paddle.call_recorder import log_as_one_call
from labdl.backends.paddle.tensors import spec_of

_numbers = itertools.count()


def _tensor(array):
    if array.size:
        return paddle.to_tensor(array)
    # operators of a program reject empty tensors, which have no memory; an empty slice has
    whole = paddle.zeros([max(n, 1) for n in array.shape], str(array.dtype))
    return whole[tuple(slice(0, n) for n in array.shape)]


def _eager(function):
    gradient = _eager(function.gradient) if function.gradient is not None else None

    class Call(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, *tensors):
            results = [_tensor(a) for a in function.run(*(t.numpy() for t in tensors))]
            ctx.save_for_backward(*tensors, *results)
            ctx.count = len(tensors)
            return tuple(results)

        @staticmethod
        @keep_error
        def backward(ctx, *gradients):
            saved = ctx.saved_tensor()
            found = gradient(*saved, *gradients)
            return tuple(None if t.stop_gradient else g for g, t in zip(found, saved[: ctx.count], strict=True))

    if gradient is None:
        return lambda *tensors: function.run()  # a missing gradient raises in backward
    return Call.apply


def _program(function):
    """The function as a Python operator in a program of paddle.jit.to_static."""
    number = next(_numbers)

    @keep_error
    def compute(*tensors):
        with paddle.base.dygraph.guard():
            return tuple(_tensor(a) for a in function.run(*(t.numpy() for t in tensors)))

    def call(*tensors):
        # inferred here: an exception in Paddle's own call would end the process
        specs = function.specs(*map(spec_of, tensors))
        metas = tuple(
            paddle.static.MetaTensor(shape=[-1 if n is None else n for n in s.shape], dtype=getattr(paddle, s.dtype))
            for s in specs
        )
        return kernels._run_python_op(
            *tensors,
            name=f"labdl_{number}",
            input_names=[f"x{i}" for i in range(len(tensors))],
            output_names=[f"y{i}" for i in range(len(specs))],
            attrs={"infer_meta_fn_ptr": lambda *_: metas, "fn_ptr": compute},
            inplace_map={},
        )

    return call


def _symbolic(function):
    """The function inside a program; Paddle does not support its second gradient."""
    compute, pull = _program(function), _program(function.gradient)

    def forward(context, *tensors):
        results = compute(*tensors)
        context.save_for_backward(*tensors, *results)
        return tuple(results)

    @keep_error
    def backward(context, *gradients):
        if function.gradient.gradient is None:
            function.gradient.run()
        return tuple(pull(*context.saved_tensor(), *gradients))

    def call(*tensors):
        context = StaticPyLayerContext()
        results = paddle.static.nn.static_pylayer(
            functools.partial(forward, context), list(tensors), functools.partial(backward, context)
        )
        return results if isinstance(results, list | tuple) else (results,)

    return call


def host_function(bind):
    def make(options):
        function = bind(options)
        eager, symbolic = _eager(function), _symbolic(function)

        def call(*tensors):
            results = (eager if paddle.in_dynamic_mode() else symbolic)(*tensors)
            return tuple(results) if len(results) > 1 else results[0]

        return _opaque(log_as_one_call(call))

    made = functools.cache(_opaque(make))
    return _opaque(lambda options: made(options))


def _opaque(function):
    """Function that the bytecode translator of paddle.jit.to_static does not translate, nor what it calls."""

    @functools.wraps(function)
    def run(*args):
        translator = paddle.framework.core.set_eval_frame(None)
        try:
            return function(*args)
        finally:
            paddle.framework.core.set_eval_frame(translator)

    paddle.jit.marker.force_dynamic(run)
    return run
