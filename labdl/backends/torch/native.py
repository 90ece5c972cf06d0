"""Models as torch.nn.Module, and PyTorch's modules in models."""

import torch

_WINDOW = {"kernel": ("weight", None), "bias": ("bias", None)}
_SCALE = {"gamma": ("weight", None), "beta": ("bias", None)}
# a layer's parameters under PyTorch's names; where the axes are in another order in a state_dict, that order
TWINS = {
    "Linear": {"kernel": ("weight", (1, 0)), "bias": ("bias", None)},
    **dict.fromkeys(("Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"), _WINDOW),
    **dict.fromkeys(("LayerNorm", "GroupNorm", "RMSNorm"), _SCALE),
    "BatchNorm": {**_SCALE, "moving_mean": ("running_mean", None), "moving_variance": ("running_var", None)},
    "Embedding": {"embeddings": ("weight", None)},
}


class LabModule(torch.nn.Module):
    """A model of LabDL as PyTorch's own: the same parameters, ordinary training loops, torch.compile, state_dict.

    Parameters have PyTorch's names where it has the layer; `state_dict` has its axes too, the parameters LabDL's. Forward
    hooks act on the whole model, the parts only hold parameters.
    """

    def __init__(self, call, branch, mode):
        super().__init__()
        self._call, self._mode, self._axes = call, mode, {}
        names = TWINS.get(branch.kind, {})
        for own, parameter in branch.parameters.items():
            name, axes = names.get(own, (own or "value", None))
            if isinstance(parameter.value, torch.nn.Parameter):
                self.register_parameter(name, parameter.value)
            else:
                self.register_buffer(name, parameter.value)
            if axes:
                self._axes[name] = axes
        for name, part in branch.parts.items():
            self.add_module(name, LabModule(None, part, None))
        self.register_state_dict_post_hook(_turn)
        self.register_load_state_dict_pre_hook(_turn_back)

    def forward(self, *inputs):
        return self._call(*inputs)

    def train(self, mode: bool = True):
        if self._mode is not None:
            self._mode(mode)
        return super().train(mode)


def _turn(module, state, prefix, metadata):
    for name, axes in module._axes.items():
        if prefix + name in state:
            state[prefix + name] = state[prefix + name].permute(axes)


def _turn_back(module, state, prefix, *_):
    for name, axes in module._axes.items():
        if prefix + name in state:
            state[prefix + name] = state[prefix + name].permute(sorted(range(len(axes)), key=axes.__getitem__))


def native_module(call, branch, mode):
    return LabModule(call, branch, mode).train(getattr(call, "training", True))


def is_native(value) -> bool:
    return isinstance(value, torch.nn.Module)


def native_parameters(module):
    learnt = {name: (value, value.requires_grad) for name, value in module.named_parameters()}
    return {**learnt, **{name: (value, False) for name, value in module.named_buffers()}}


def native_call(module, training: bool, inputs):
    if module.training != training:
        module.train(training)
    return module(*inputs)
