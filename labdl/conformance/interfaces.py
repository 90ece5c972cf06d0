"""The interface tables of T/AII 008-2023, annexes A and B: parameters, results and errors."""

from __future__ import annotations

from dataclasses import dataclass

from labdl import errors

_CONFIG, _MODEL = errors.ConfigError, errors.ModelError
_GRADIENT, _UPDATE = errors.GradientError, errors.UpdateError


@dataclass(frozen=True)
class Interface:
    """A row of the annexes. ``owner`` is the object that the tables omit; "?" marks optional parameters."""

    clause: str
    table: str
    owner: str
    inputs: tuple[str, ...]
    output: str
    errors: tuple[type[Exception], ...] = ()

    @property
    def parameters(self) -> list[tuple[str, bool]]:
        """Names in order, and whether each is optional; "…" stands for further keyword parameters."""
        named = [(name.rstrip("?"), name.endswith("?")) for name in self.inputs if not name.startswith("…")]
        further = [(name.removeprefix("…"), True) for name in self.inputs if name.startswith("…")]
        return [(self.owner, False)] * bool(self.owner) + named + further


INTERFACES = {
    "initialize": Interface("A.1.2.1", "A.1", "", ("data", "type?"), "tensor"),
    "index": Interface("A.1.2.2", "A.2", "", ("tensor", "index?"), "tensor"),
    "permute": Interface("A.1.2.3", "A.3", "", ("tensor", "dims"), "tensor"),
    "reshape": Interface("A.1.2.4", "A.4", "", ("tensor", "shape"), "tensor"),
    "forward": Interface("A.2.2.1", "A.5", "module", ("input", "…parameters"), "tensor"),
    "get_parameters": Interface("A.2.2.2", "A.6", "module", (), "parameters"),
    "get_modules": Interface("A.2.2.3", "A.7", "module", (), "module"),
    "load_state_dict": Interface("A.2.2.4", "A.8", "module", ("state_dict",), "", (errors.StateDictError,)),
    "backward": Interface("A.2.2.5", "A.9", "module", ("grad_input",), "grad_output"),
    "register_backward_function": Interface("A.2.2.5", "(text)", "module", ("function",), ""),
    "construct_dataset": Interface("B.1.1", "B.1", "", ("path", "…parameters"), "dataset", (errors.MissingFileError,)),
    "get_sample": Interface("B.1.2", "B.2", "", ("dataset", "index"), "sample", (errors.MissingFileError,)),
    "construct_sampler": Interface("B.2.1", "B.3", "", ("sampler_config", "dataset"), "sampler"),
    "iterate_sample": Interface("B.2.2", "B.4", "", ("dataset", "sampler?"), "sample"),
    "iterate_batch": Interface("B.2.3", "B.5", "", ("dataset", "sampler?"), "sample"),
    "construct_optimizer": Interface("B.3.1", "B.6", "", ("model", "optimizer_config"), "optimizer", (_CONFIG, _MODEL)),
    "update_learnable_parameter": Interface(
        "B.3.2", "B.7", "", ("model", "optimizer"), "model", (_MODEL, _GRADIENT, _UPDATE)
    ),
    "zero_gradient": Interface("B.3.3", "B.8", "", ("model", "optimizer"), "model", (_MODEL,)),
    "construct_trainer": Interface("B.4.1", "B.9", "", ("model", "trainer_config"), "trainer", (_CONFIG, _MODEL)),
    "train_one_batch": Interface("B.4.2", "B.10", "trainer", ("data_batch",), "loss_value", (_GRADIENT, _UPDATE)),
    "train_one_epoch": Interface("B.4.3", "B.11", "trainer", ("epoch_index",), "loss_value", (_GRADIENT, _UPDATE)),
    "train": Interface("B.4.4", "(text)", "trainer", (), "", (_GRADIENT, _UPDATE)),
    "construct_inference": Interface("B.5.1", "B.12", "", ("model", "infer_config"), "infer", (_CONFIG, _MODEL)),
    "infer_one_sample": Interface("B.5.2", "B.13", "infer", ("input", "infer_config?"), "output"),
    "infer_samples": Interface("B.5.3", "B.14", "infer", ("inputs", "infer_config?"), "outputs"),
    "construct_evalvater": Interface("B.6.1", "B.15", "", ("infer", "eval_config"), "evalvater", (_CONFIG,)),
    "evalvate": Interface("B.6.2", "B.16", "evalvater", ("dataset?", "eval_config?"), "score"),
    "construct_operator": Interface("B.7.1", "B.17", "", ("op_config?",), "operator", (_CONFIG,)),
    "operate": Interface("B.7.2", "B.18", "operator", ("indata?",), "outdata"),
}
