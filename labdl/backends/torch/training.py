"""PyTorch's training steps."""

import itertools
import warnings

import torch

from labdl.backends.torch.runtime import clear_gradients

_count = itertools.count()


def gradient_function(objective, optimizer, compiled: bool | None = None):
    """Eager by default: on CPUs torch.compile makes training steps slower."""
    objective = _compiled(objective) if compiled else objective

    def run(*batch):
        variables = optimizer.variables
        clear_gradients(variables)
        result = objective(*batch)
        result[0].backward()
        told = tuple([r.detach() if isinstance(r, torch.Tensor) else r for r in result])
        return told, [v.grad for v in variables]

    return run


def train_function(objective, optimizer, compiled: bool | None = None, update=None, timed=None):
    """See `gradient_function`; ``timed(update)`` may put another function in the place of the update, to take its time."""
    gradients = gradient_function(objective, optimizer, compiled)
    apply = update or (lambda found: optimizer.update(found))  # another one when other variables are learnt
    apply = apply if timed is None else timed(apply)

    def step(*batch):
        result, found = gradients(*batch)
        optimizer.advance()
        with torch.no_grad():
            told = apply(found)
        return (*result, *(told or ()))

    return step


def update_function(optimizer, update, compiled: bool | None = None):
    """An update from gradients that were made before; gives what ``update(gradients)`` gives."""

    def apply(gradients):
        optimizer.advance()
        with torch.no_grad():
            return update(gradients)

    return apply


def evaluate_function(forward, compiled: bool | None = None):
    forward = _compiled(forward) if compiled else forward

    def evaluate(*inputs):
        with torch.inference_mode():
            return forward(*inputs)

    return evaluate


def _compiled(function):
    """The function compiled as a whole, or itself where torch.compile cannot; the reason is said once, as a warning.

    Not in pieces around what cannot be compiled: entering and leaving them costs more than they gain.
    """
    from torch._dynamo.exc import TorchDynamoException  # takes a second

    if hasattr(function, "prepare"):
        function.prepare()

    def run(*tensors):
        return function(*tensors)

    # torch.compile counts recompilations by code, and all trainings would share one count
    run.__code__ = run.__code__.replace(co_name=f"run_{next(_count)}")
    chosen = torch.compile(run, fullgraph=True)

    def compiled(*tensors):
        nonlocal chosen
        try:
            return chosen(*tensors)
        except TorchDynamoException as error:  # nothing was computed
            chosen = function
            reason = f"torch.compile says {_first_line(error)}"
            if hasattr(function, "refuse"):
                function.refuse(reason)
            else:
                warnings.warn(f"the function is not compiled but runs as it is: {reason}", stacklevel=2)
        return chosen(*tensors)

    return compiled


def _first_line(error: Exception) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
