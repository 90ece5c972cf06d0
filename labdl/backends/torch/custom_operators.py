"""Custom operators on PyTorch: NumPy functions as differentiable functions of tensors, eager and compiled."""

import functools
from collections.abc import Sequence

import torch

from labdl.backends.torch.tensors import dtype, spec_of

_FUNCTIONS: list = []  # a compiled graph refers to functions by index


def _compute(inputs, number: int):
    arrays = _FUNCTIONS[number].run(*(t.detach().cpu().numpy() for t in inputs))
    return [torch.from_numpy(a).to(inputs[0].device) for a in arrays]


@torch.library.custom_op("labdl::host", mutates_args=())
def _opaque(inputs: Sequence[torch.Tensor], number: int) -> list[torch.Tensor]:
    return _compute(inputs, number)


@_opaque.register_fake
def _(inputs, number):
    specs = _FUNCTIONS[number].specs(*map(spec_of, inputs))
    return [inputs[0].new_empty(s.shape, dtype=dtype(s.dtype)) for s in specs]


class _Call(torch.autograd.Function):
    """Takes the indices of the function and of its gradients, then the tensors."""

    @staticmethod
    def forward(*given):
        ctx, numbers, *inputs = given  # torch.compile omits ctx if the numbers of parameters and arguments are equal
        # eager calls bypass torch.library, whose overhead is twice the rest
        compute = _opaque if torch.compiler.is_compiling() else _compute
        results = compute(inputs, numbers[0])
        ctx.numbers, ctx.count = numbers, len(inputs)
        ctx.mark_non_differentiable(*[r for r in results if not (r.is_floating_point() or r.is_complex())])
        ctx.save_for_backward(*inputs, *results)
        return tuple(results)

    @staticmethod
    def backward(ctx, *gradients):
        saved = ctx.saved_tensors
        results = saved[ctx.count :]
        given = [torch.zeros_like(r) if g is None else g for g, r in zip(gradients, results, strict=True)]
        if torch.compiler.is_compiling():  # which supports neither second gradients nor functions called in one
            return None, *_opaque((*saved, *given), ctx.numbers[1])
        return None, *_Call.apply(ctx.numbers[1:], *saved, *given)


def host_function(bind):
    @functools.cache
    def first(options) -> int:
        number, function = len(_FUNCTIONS), bind(options)
        for _ in range(3):  # the function, its gradient, the gradient's gradient
            _FUNCTIONS.append(function)
            function = function.gradient or function  # the last one raises, as does its gradient
        return number

    @torch.compiler.assume_constant_result  # torch.compile runs it while tracing, and uses the result as a constant
    def number(options) -> int:
        return first(options)

    def native(options):
        start = number(options)

        def call(*tensors):
            results = _Call.apply((start, start + 1, start + 2, start + 2), *tensors)
            return results if len(results) > 1 else results[0]

        return call

    return native
