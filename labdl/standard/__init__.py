"""The interfaces of T/AII 008-2023, annexes A and B, under their exact names: thin wrappers of LabDL's functions.

The tables of the standard omit the object that an interface belongs to (``forward`` is a module's, ``train_one_batch`` a
trainer's): here it is the first argument. `labdl conformance` checks all of them. `construct_evaluator` and `evaluate`
are the English spellings of construct_evalvater and evalvate.
"""

from labdl.standard.datasets import construct_dataset, get_sample
from labdl.standard.evaluation import construct_evaluator, construct_evalvater, evaluate, evalvate
from labdl.standard.inference import construct_inference, infer_one_sample, infer_samples
from labdl.standard.modules import (
    backward,
    forward,
    get_modules,
    get_parameters,
    load_state_dict,
    register_backward_function,
)
from labdl.standard.operators import construct_operator, operate
from labdl.standard.optimizers import construct_optimizer, update_learnable_parameter, zero_gradient
from labdl.standard.samplers import construct_sampler, iterate_batch, iterate_sample
from labdl.standard.tensors import index, initialize, permute, reshape
from labdl.standard.training import construct_trainer, train, train_one_batch, train_one_epoch

__all__ = [
    "backward",
    "construct_dataset",
    "construct_evaluator",
    "construct_evalvater",
    "construct_inference",
    "construct_operator",
    "construct_optimizer",
    "construct_sampler",
    "construct_trainer",
    "evaluate",
    "evalvate",
    "forward",
    "get_modules",
    "get_parameters",
    "get_sample",
    "index",
    "infer_one_sample",
    "infer_samples",
    "initialize",
    "iterate_batch",
    "iterate_sample",
    "load_state_dict",
    "operate",
    "permute",
    "register_backward_function",
    "reshape",
    "train",
    "train_one_batch",
    "train_one_epoch",
    "update_learnable_parameter",
    "zero_gradient",
]


def __dir__() -> list[str]:
    return sorted(__all__)
