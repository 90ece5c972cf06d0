"""MindSpore's training steps: flat calls compiled by ``mindspore.jit``, or eager (PyNative mode)."""

# MindSpore generates and overloads its functions: pyright infers None and unions for their types
# pyright: reportArgumentType=false, reportAssignmentType=false, reportGeneralTypeIssues=false, reportOptionalCall=false, reportOptionalMemberAccess=false

import contextlib
import time
from pathlib import Path

import mindspore
from mindspore import ParameterTuple, ops
from mindspore.graph.api import _pynative_executor

from labdl.backends.mindspore.interrupts import interruptible
from labdl.backends.mindspore.optimizers import fused_kernels
from labdl.backends.mindspore.random import random_state, set_random_state
from labdl.backends.mindspore.threads import compiled_calls, exclusive

PATIENCE = 1.0  # seconds of eager calls, about what compiling takes
_LEFT = Path("rank_0", "om", "analyze_fail.ir")  # written by the compiler to the working folder after errors
_REFUSALS = (RuntimeError, TypeError, ValueError, NotImplementedError, AttributeError, SyntaxError)  # of the compiler


def gradient_function(objective, optimizer, compiled: bool | None = None):
    """Compiled by default where the objective has a flat form: mindspore.jit cannot compile dispatching Python code."""
    eager = _eager_gradients(objective, optimizer)

    def compile_(flat):
        run = mindspore.jit(_of(flat, optimizer))
        return lambda *inputs: run(*inputs, *flat.draw())

    return _compile_each(objective, eager, compile_, compiled, optimizer)


def train_function(objective, optimizer, compiled: bool | None = None, update=None, timed=None):
    """Compiled by default where the objective has a flat form, with the optimizer where it has kernels or a flat rule.

    ``timed(update)`` may wrap an update that is not compiled with the rest, to measure it.
    """
    if update is not None:  # functions that change gradients or parameters dispatch in Python
        return _updating(gradient_function(objective, optimizer, compiled), optimizer, update, timed)

    def compile_(flat):
        differentiate, kernels = _of(flat, optimizer), fused_kernels(optimizer)
        if kernels is None:
            gradients = mindspore.jit(differentiate)
            return _updating(lambda *inputs: gradients(*inputs, *flat.draw()), optimizer, None, timed)

        count = len(kernels.numbers())

        @mindspore.jit
        def step(*given):  # one by one: what comes in a tuple is taken for constant
            result, gradients = differentiate(*given[count:])
            return ops.depend(result, kernels(gradients, *given[:count]))

        def run(*inputs):
            result = step(*kernels.numbers(), *inputs, *flat.draw())
            optimizer.advance()
            return result

        return run

    eager = _updating(_eager_gradients(objective, optimizer), optimizer, None, timed)
    return _compile_each(objective, eager, compile_, compiled, optimizer)


def update_function(optimizer, update, compiled: bool | None = None):
    """An update from computed gradients; returns the result of ``update(gradients)``. Kernel by kernel."""

    def apply(gradients):
        optimizer.advance()
        return update(gradients)

    return apply


def evaluate_function(forward, compiled: bool | None = None):
    """Compiled at once if ``compiled``, and by default when eager calls for such inputs have taken `PATIENCE` seconds.

    MindSpore records operations for gradients only inside value_and_grad.
    """

    def compile_(flat):
        run = mindspore.jit(flat.run)
        return lambda *inputs: run(*inputs, *flat.draw())

    run = _compile_each(forward, forward, compile_, compiled)
    return run if compiled is not None or run is forward else _compile_late(forward, run)


def _compile_late(eager, compiled):
    """Eager calls first, for compiling takes as long as many of them, and a prediction may be the only one."""
    spent: dict = {}

    def run(*inputs):
        key = _signature(inputs)
        if spent.get(key, 0.0) >= PATIENCE:
            return compiled(*inputs)
        began = time.perf_counter()
        result = eager(*inputs)
        spent[key] = spent.get(key, 0.0) + time.perf_counter() - began
        return result

    return run


def _signature(tensors) -> tuple:
    return tuple((tuple(x.shape), x.dtype) for x in tensors)


def _of(flat, optimizer):
    return mindspore.value_and_grad(flat.run, None, ParameterTuple(optimizer.variables), has_aux=True)


def _eager_gradients(objective, optimizer):
    """The eager function of the gradients, recreated when other variables are trained."""
    differentiate, version = None, None

    @exclusive
    def run(*batch):
        nonlocal differentiate, version
        if version != optimizer.version:
            differentiate = mindspore.value_and_grad(objective, None, tuple(optimizer.variables), has_aux=True)
            version = optimizer.version
        try:
            return differentiate(*batch)
        except BaseException:
            _pynative_executor.clear_res()  # otherwise MindSpore would include later calls in the gradient
            raise

    return run


def _updating(gradients, optimizer, update, timed):
    apply = update or (lambda found: optimizer.update(found))  # changes when other variables are trained
    apply = apply if timed is None else timed(apply)

    def step(*batch):
        result, found = gradients(*batch)
        optimizer.advance()
        return (*result, *(apply(found) or ()))

    return step


def _compile_each(objective, eager, compile_, compiled, optimizer=None):
    """The compiled function of each batch structure, created on first use; without a flat form the eager one."""
    if compiled is False:
        return eager
    if not hasattr(objective, "flat"):
        if compiled:
            raise NotImplementedError(
                "mindspore.jit cannot compile dispatching Python code: train a Module with the Trainer, "
                "or leave compiled out"
            )
        return eager
    made: dict = {}

    def run(*batch):
        if optimizer and made.get("version") != optimizer.version:
            made.clear()
            made["version"] = optimizer.version
        key = _signature(batch)
        if key not in made:
            made[key], result = first(batch)
            return result
        return made[key](*batch)

    def first(batch):
        flat = objective.flat(batch, training=optimizer is not None)
        if flat is None:
            return eager, eager(*batch)
        function, random, there = interruptible(_in_turn(compile_(flat))), random_state(), _LEFT.exists()
        try:
            return function, function(*batch)
        except _REFUSALS as error:  # of the compiler, before any computation
            set_random_state(random)
            if not there:
                _tidy()
            objective.refuse(f"mindspore.jit says {str(error).strip().splitlines()[0]}")
            return eager, eager(*batch)

    return run


def _in_turn(function):
    """The compiled function, called by one thread at a time."""

    def run(*args):
        with compiled_calls:
            return function(*args)

    return run


def _tidy() -> None:
    """Remove the file that the compiler has just written to the user's folder."""
    with contextlib.suppress(OSError):  # no file, or the folder has other files
        _LEFT.unlink()
        _LEFT.parent.rmdir()
        _LEFT.parent.parent.rmdir()
