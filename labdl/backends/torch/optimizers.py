"""LabDL's optimizers on PyTorch: torch.optim where it means the same and is faster, else the rule's own update."""

from typing import Any

import numpy as np
import torch

from labdl.backends.rule_optimizer import RuleOptimizer

# for each of its names in torch, the slot's in LabDL
_ADAM = {"exp_avg": "mean", "exp_avg_sq": "square", "max_exp_avg_sq": "largest"}
_SETTINGS = {"learning_rate": "lr", "epsilon": "eps"}
# the fused and for-each kernels cost what native code costs
_NATIVE: dict[str, tuple[Any, dict[str, str], dict[str, Any]]] = {
    "sgd": (torch.optim.SGD, {"momentum_buffer": "momentum"}, {}),
    "adam": (torch.optim.Adam, _ADAM, {"fused": True}),
    "adamw": (torch.optim.AdamW, _ADAM, {"fused": True}),
}


def optimizer(rule, variables):
    if rule.kind not in _NATIVE:
        return RuleUpdates(rule, variables)
    kind, slots, options = _NATIVE[rule.kind]
    settings: dict[str, Any] = {_SETTINGS.get(name) or name: value for name, value in rule.settings().items()}
    if "beta_1" in settings:
        settings["betas"] = (settings.pop("beta_1"), settings.pop("beta_2"))
    return NativeOptimizer(rule, variables, kind(variables, **settings, **options), slots)


class NativeOptimizer:
    """An optimizer of torch.optim, its state under LabDL's names."""

    def __init__(self, rule, variables, native: torch.optim.Optimizer, slots: dict[str, str]):
        self.rule, self.variables, self.native = rule, list(variables), native
        self._theirs = {ours: theirs for theirs, ours in slots.items()}
        self.version = self.step = 0

    @property
    def learning_rate(self) -> float:
        return self.native.param_groups[0]["lr"]

    @learning_rate.setter
    def learning_rate(self, value: float) -> None:
        for group in self.native.param_groups:
            group["lr"] = value

    def advance(self) -> None:
        self.step += 1

    def update(self, gradients) -> None:
        for v, g in zip(self.variables, gradients, strict=True):
            if v.grad is not g:
                v.grad = g
        self.native.step()

    @property
    def state(self):
        return [{slot: self._slot(v, slot) for slot in self.rule.slots(tuple(v.shape))} for v in self.variables]

    def _slot(self, variable, slot: str):
        found = self.native.state.get(variable, {}).get(self._theirs[slot])
        return torch.zeros_like(variable) if found is None else found  # torch makes them in the first step

    def load(self, step: int, state) -> None:
        self.step = step
        for v, slots in zip(self.variables, state, strict=True):
            own = {self._theirs[s]: _beside(v, np.shape(a)).copy_(torch.as_tensor(a)) for s, a in slots.items()}
            # as torch's kernels want it: the fused ones count on the variable's device
            own["step"] = torch.tensor(float(step), dtype=torch.float32, device=v.device)
            self.native.state[v] = own


class RuleUpdates(RuleOptimizer):
    """Runs the update of a rule."""

    def new_slot(self, variable, shape, start):
        return _beside(variable, shape).fill_(start)

    def load_slot(self, variable, array):
        return _beside(variable, np.shape(array)).copy_(torch.as_tensor(array))

    def assign(self, variable, value):
        variable.copy_(value)

    @torch.no_grad()
    def update(self, gradients) -> None:
        super().update(gradients)


def _beside(variable, shape) -> torch.Tensor:
    """A tensor for a slot, in memory like its variable if it has that shape: in another order kernels round otherwise."""
    if tuple(shape) == tuple(variable.shape):
        return torch.empty_like(variable, requires_grad=False)
    return torch.empty(tuple(shape), dtype=variable.dtype, device=variable.device)
