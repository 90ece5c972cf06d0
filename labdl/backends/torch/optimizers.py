"""LabDL's optimizers on PyTorch: torch.optim where it means the same and is faster, else the rule's own update."""

from typing import Any

import numpy as np
import torch

from labdl.backends.rule_optimizer import RuleOptimizer

# for each of its names in torch, the slot's in LabDL
_ADAM = {"exp_avg": "mean", "exp_avg_sq": "square", "max_exp_avg_sq": "largest"}
_SETTINGS = {
    "learning_rate": "lr",
    "epsilon": "eps",
    "rate_decay": "lr_decay",
    "initial": "initial_accumulator_value",
}
_RMSPROP = {"square_avg": "square", "grad_avg": "mean", "momentum_buffer": "momentum"}
# where PyTorch has fused kernels, for real numbers
_FUSED_DEVICES = {"cpu", "cuda", "mps", "xpu"}
# the fused and for-each kernels cost what native code costs
_NATIVE: dict[str, tuple[Any, dict[str, str], dict[str, Any]]] = {
    "sgd": (torch.optim.SGD, {"momentum_buffer": "momentum"}, {"fused": True}),
    "adam": (torch.optim.Adam, _ADAM, {"fused": True}),
    "adamw": (torch.optim.AdamW, _ADAM, {"fused": True}),
    "adagrad": (torch.optim.Adagrad, {"sum": "sum"}, {"fused": True}),
    "adadelta": (torch.optim.Adadelta, {"square_avg": "square", "acc_delta": "moved"}, {"foreach": True}),
    "rmsprop": (torch.optim.RMSprop, _RMSPROP, {"foreach": True}),
}


def optimizer(rule, variables):
    if rule.kind not in _NATIVE or getattr(
        rule, "centered", False
    ):  # whose variance may round to a number below 0: NaN
        return RuleUpdates(rule, variables)
    kind, slots, options = _NATIVE[rule.kind]
    settings: dict[str, Any] = {_SETTINGS.get(name) or name: value for name, value in rule.settings().items()}
    settings.pop("decay_norm_and_bias", None)  # the parameters are divided by it
    if "beta_1" in settings:
        settings["betas"] = (settings.pop("beta_1"), settings.pop("beta_2"))
    if kind is torch.optim.RMSprop:
        settings["alpha"] = settings.pop("rho")
    if not all(v.is_floating_point() and v.device.type in _FUSED_DEVICES for v in variables):
        options = {name: on for name, on in options.items() if name != "fused"}
    views = [_contiguous(v) for v in variables]
    return NativeOptimizer(rule, variables, views, kind(views, **settings, **options), slots)


class NativeOptimizer:
    """An optimizer of torch.optim, its state under LabDL's names.

    It has views of the variables that are contiguous: kernels of layers are transposed views of the memory that PyTorch's
    layers read, on which its fused and for-each updates take up to four times as long.
    """

    def __init__(self, rule, variables, views, native: torch.optim.Optimizer, slots: dict[str, str]):
        self.rule, self.variables, self.native = rule, list(variables), native
        self._views = views
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
        for v, view, g in zip(self.variables, self._views, gradients, strict=True):
            view.grad = g if view is v or g is None else g.permute(_order(v))
        self.native.step()
        for v, view in zip(self.variables, self._views, strict=True):
            if view is not v:
                view.grad = None  # its memory is that of the variable's gradient, which may be cleared

    @property
    def state(self):
        return [
            {slot: self._slot(v, view, slot) for slot in self.rule.slots(tuple(v.shape))}
            for v, view in zip(self.variables, self._views, strict=True)
        ]

    def _slot(self, variable, view, slot: str):
        found = self.native.state.get(view, {}).get(self._theirs[slot])
        if found is None:  # torch makes them in the first step
            return torch.zeros_like(variable)
        return found if view is variable else found.permute(np.argsort(_order(variable)).tolist())

    def load(self, step: int, state) -> None:
        self.step = step
        for v, view, slots in zip(self.variables, self._views, state, strict=True):
            own = {self._theirs[s]: _beside(v, np.shape(a)).copy_(torch.as_tensor(a)) for s, a in slots.items()}
            if view is not v:
                own = {s: a.permute(_order(v)) for s, a in own.items()}
            # as torch's kernels want it: the fused ones count on the variable's device
            own["step"] = torch.tensor(float(step), dtype=torch.float32, device=v.device)
            self.native.state[view] = own


def _order(variable) -> list[int]:
    """The axes of a variable in the order of its memory."""
    return sorted(range(variable.ndim), key=lambda axis: -variable.stride(axis))


def _contiguous(variable):
    """The variable itself, or a view of it with its axes in the order of its memory, if that is contiguous."""
    if variable.is_contiguous():
        return variable
    view = variable.detach().permute(_order(variable))
    return view if view.is_contiguous() else variable


class RuleUpdates(RuleOptimizer):
    """Runs the update of a rule."""

    def new_slot(self, variable, shape, start):
        return _beside(variable, shape).fill_(start)

    def load_slot(self, variable, array):
        return _beside(variable, np.shape(array)).copy_(torch.as_tensor(array))

    def assign(self, variable, value):
        variable.copy_(value)

    def keep_layout(self, before, after):
        # results of decompositions are stored by columns
        return {
            slot: value if value.stride() == before[slot].stride() else before[slot].copy_(value)
            for slot, value in after.items()
        }

    @torch.no_grad()
    def update(self, gradients) -> None:
        super().update(gradients)


def _beside(variable, shape) -> torch.Tensor:
    """A tensor for a slot, in memory like its variable if it has that shape: in another order kernels round otherwise."""
    if tuple(shape) == tuple(variable.shape):
        return torch.empty_like(variable, requires_grad=False)
    return torch.empty(tuple(shape), dtype=variable.dtype, device=variable.device)
