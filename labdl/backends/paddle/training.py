"""Paddle's training steps: eager, or flat calls compiled by ``paddle.jit.to_static``."""

import warnings

import paddle

from labdl.backends.eager_training import EagerTraining
from labdl.backends.paddle.autograd import backward, clear_gradients
from labdl.backends.paddle.random import random_state, set_random_state


def _compile(objective, training: bool):
    """The compiled flat form of each batch structure, or the objective itself without one."""
    if not hasattr(objective, "flat"):
        raise NotImplementedError(
            "paddle.jit.to_static cannot compile dispatching Python code: train a Module with the Trainer, "
            "or leave compiled out"
        )
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
            if not flat.control_flow:  # Paddle would search it for Python to rewrite, for as long as it compiles
                paddle.jit.marker.unified(flat.run.forward)
            compiled = paddle.jit.to_static(flat.run, full_graph=True)

            def function(*batch):
                return compiled(*batch, *flat.draw())

            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # Paddle warns about its own calls, such as `place`
                return function, function(*batch)
        except Exception as error:  # any error of the compiler, before any computation
            set_random_state(before)
            objective.refuse(f"paddle.jit.to_static says {str(error).strip().splitlines()[-1]}")
            return objective, objective(*batch)

    return run


_steps = EagerTraining(paddle.Tensor, paddle.no_grad, paddle.no_grad, clear_gradients, _compile, backward)
gradient_function, train_function = _steps.gradient_function, _steps.train_function
update_function, evaluate_function = _steps.update_function, _steps.evaluate_function
