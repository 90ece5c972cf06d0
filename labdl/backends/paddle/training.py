"""Paddle's training steps: eager, or flat calls compiled by ``paddle.jit.to_static``."""

import warnings

import paddle

from labdl.backends.paddle.random import random_state, set_random_state
from labdl.backends.paddle.runtime import clear_gradients


def gradient_function(objective, optimizer, compiled: bool | None = None):
    """Eager by default: on CPUs paddle.jit.to_static makes training steps slower."""
    objective = _compiled(objective) if compiled else objective

    def run(*batch):
        variables = optimizer.variables
        clear_gradients(variables)
        result = objective(*batch)
        result[0].backward()
        return _detached(result), [v.grad for v in variables]

    return run


def train_function(objective, optimizer, compiled: bool | None = None, update=None, timed=None):
    """See `gradient_function`; ``timed(update)`` may put another function in the place of the update, to take its time."""
    gradients = gradient_function(objective, optimizer, compiled)
    apply = update or (lambda found: optimizer.update(found))  # another one when other variables are learnt
    apply = apply if timed is None else timed(apply)

    def step(*batch):
        result, found = gradients(*batch)
        optimizer.advance()
        with paddle.no_grad():
            told = apply(found)
        return (*result, *(told or ()))

    return step


def update_function(optimizer, update, compiled: bool | None = None):
    """An update from gradients that were made before; gives what ``update(gradients)`` gives."""

    def apply(gradients):
        optimizer.advance()
        with paddle.no_grad():
            return update(gradients)

    return apply


def evaluate_function(forward, compiled: bool | None = None):
    forward = _compiled(forward, training=False) if compiled else forward

    def evaluate(*inputs):
        with paddle.no_grad():
            return forward(*inputs)

    return evaluate


def _compiled(objective, training=True):
    """For each kind of batch the compiled flat form, or the objective itself where there is none."""
    if not hasattr(objective, "flat"):
        raise NotImplementedError("paddle.jit.to_static compiles no Python that dispatches: train a Module with the Trainer, "
                                  "or leave compiled out")  # fmt: skip
    made: dict = {}

    def run(*batch):
        key = tuple((tuple(x.shape), x.dtype) for x in batch)
        if key not in made:
            flat = objective.flat(batch, training)
            if flat is None:
                made[key] = objective
            else:
                made[key], result = first(flat, batch)
                return result
        return made[key](*batch)

    def first(flat, batch):
        before = random_state()
        try:
            compiled = paddle.jit.to_static(flat.run, full_graph=True)

            def function(*batch):
                return compiled(*batch, *flat.draw())

            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # of Paddle about its own calls, such as `place`
                return function, function(*batch)
        except Exception as error:  # whatever the compiler says of it, before anything was computed
            set_random_state(before)
            objective.refuse(f"paddle.jit.to_static says {str(error).strip().splitlines()[-1]}")
            return objective, objective(*batch)

    return run


def _detached(value):
    """Results without their history, whatever tuples, lists and dicts they come in."""
    if isinstance(value, list | tuple):
        return type(value)(map(_detached, value))
    if isinstance(value, dict):
        return {key: _detached(v) for key, v in value.items()}
    return value.detach() if isinstance(value, paddle.Tensor) else value
