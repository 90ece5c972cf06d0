"""TensorFlow's training steps, compiled as one graph."""

# the stubs of TensorFlow lack argument types, slices and callables that it accepts, and type unknown shapes as None
# pyright: reportOptionalCall=false

import functools
import warnings

import tensorflow as tf

from labdl.backends.tensorflow.devices import device_scope


def _gradients(objective, optimizer, batch):
    variables = optimizer.variables
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(variables)
        result = objective(*batch)
    return result, tape.gradient(result[0], variables)


def _dense(gradients):
    """Convert sparse gradients of lookups to dense ones."""
    return [None if g is None else tf.convert_to_tensor(g) for g in gradients]


def gradient_function(objective, optimizer, compiled: bool | str | None = None):
    """Compiled by default; ``compiled="xla"`` for XLA, False for eager."""

    def run(*batch):
        result, gradients = _gradients(objective, optimizer, batch)
        return result, _dense(gradients)

    return _following(run, optimizer, compiled, objective)


def train_function(objective, optimizer, compiled: bool | str | None = None, update=None, timed=None):
    """Compiled by default, the whole step as one graph; ``compiled="xla"`` for XLA, False for eager.

    ``timed(update)`` may wrap an eager update, to measure it.
    """

    def apply(gradients):
        return optimizer.update(gradients) if update is None else update(_dense(gradients))

    if timed is not None and compiled is False:  # a graph calls it only when it is traced
        apply = timed(apply)

    def step(*batch):
        result, gradients = _gradients(objective, optimizer, batch)
        told = apply(gradients)
        return (*result, *(told or ()))

    run = _following(step, optimizer, compiled, objective)

    def train(*batch):
        optimizer.advance()
        return run(*batch)

    return train


def update_function(optimizer, update, compiled: bool | str | None = None):
    """An update from computed gradients; returns the result of ``update(gradients)``. Compiled by default."""
    runs: dict = {}  # by the set of parameters with gradients

    def apply(gradients):
        there = tuple(i for i, g in enumerate(gradients) if g is not None)
        if there not in runs:
            runs[there] = _following(functools.partial(spread, there, len(gradients)), optimizer, compiled)
        optimizer.advance()
        return runs[there](*[gradients[i] for i in there])

    def spread(there, count, *found):
        whole = dict(zip(there, found, strict=True))
        return update([whole.get(i) for i in range(count)])

    return apply


def evaluate_function(forward, compiled: bool | str | None = None):
    return _compile(lambda *inputs: forward(*inputs), compiled, forward)


def _following(function, optimizer, compiled, objective=None):
    """The function, compiled again when other variables are trained, which is another graph."""
    run, version = None, None

    def call(*batch):
        nonlocal run, version
        if version != optimizer.version:
            run, version = _compile(function, compiled, objective), optimizer.version
        return run(*batch)

    return call


def _compile(function, compiled, objective=None):
    """The function as a graph, or itself if it cannot be traced; ``objective`` gets the warning."""
    if compiled is False or getattr(objective, "refused", False):
        return _on_device(function)
    made = {}

    def compile_():
        unread: list[Exception] = []

        def read(*inputs):
            try:
                return function(*inputs)
            except Exception as error:
                unread.append(error)
                raise

        # without autograph, which rewrites the user's Python, a data-dependent `if` is an error of the trace.
        # The first trace is for these shapes, which is fastest; the first other shape causes one for any batch size.
        graph = tf.function(read, autograph=False, reduce_retracing=True, jit_compile=compiled == "xla" or None)

        def run(*inputs):
            if unread:
                return function(*inputs)
            try:
                return graph(*inputs)
            except Exception:
                if not unread:  # it was traced, and failed at run time
                    raise
            result = function(*inputs)  # raises its own error if it is wrong in any case
            _refuse(objective, unread[0])
            return result

        return run

    def call(*inputs):
        # other sizes than the batch size are Python numbers, such as a number of positions
        key = tuple(x.shape[1:] if x.shape.rank else x.shape for x in inputs)
        if key not in made:
            made[key] = compile_()
        return made[key](*inputs)

    return _on_device(call)


def _refuse(objective, error) -> None:
    reason = f"tf.function says {str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__}"
    if hasattr(objective, "refuse"):
        objective.refuse(reason)
    else:
        warnings.warn(f"the function is not compiled but runs as it is: {reason}", stacklevel=2)


def _on_device(function):
    def call(*inputs):
        with device_scope():  # without a device, TensorFlow computes on its first GPU, wherever the variables are
            return function(*inputs)

    return call
