"""PyTorch's training steps."""

import itertools
import warnings

import torch

from labdl.backends.eager_training import EagerTraining
from labdl.backends.torch.autograd import clear_gradients

_count = itertools.count()


def _compile(function, training: bool):
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

    def run_compiled(*tensors):
        nonlocal chosen
        try:
            return chosen(*tensors)
        except (TorchDynamoException, AssertionError) as error:  # the latter of compiled branches on unaligned slices
            chosen = function
            reason = f"torch.compile says {_first_line(error)}"
            if hasattr(function, "refuse"):
                function.refuse(reason)
            else:
                warnings.warn(f"the function is not compiled but runs as it is: {reason}", stacklevel=2)
        return chosen(*tensors)

    return run_compiled


def _first_line(error: Exception) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


_steps = EagerTraining(torch.Tensor, torch.no_grad, torch.inference_mode, clear_gradients, _compile)
gradient_function, train_function = _steps.gradient_function, _steps.train_function
update_function, evaluate_function = _steps.update_function, _steps.evaluate_function
