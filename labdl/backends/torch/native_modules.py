"""Models as torch.nn.Module, and PyTorch's modules in models."""

import torch

from labdl.backends.torch.tensors import tensor, to_numpy
from labdl.interop.weights import layer_mapping, variables_of
from labdl.interop.weights.torch import LAYERS


class LabModule(torch.nn.Module):
    """A model of LabDL as PyTorch's own: the same parameters, ordinary training loops, torch.compile, state_dict.

    `state_dict` is that of the same architecture in plain PyTorch, whose own it loads as well. Parameters have PyTorch's
    names where it has the layer, and LabDL's axes. Forward hooks act on the whole model, the parts only hold parameters.
    """

    def __init__(self, call, branch, mode):
        super().__init__()
        self._call, self._mode = call, mode
        here = layer_mapping(LAYERS, branch)
        self._mappings = [mapping for mapping in here.mappings if mapping.axes or not mapping.direct]
        for name, parameter in variables_of(here, branch):
            *homes, word = name.split("/")
            _put(self, homes, word, parameter.value)
        for name, (_, part) in here.parts.items():
            self.add_module(name, LabModule(None, part, None))
        self.register_state_dict_post_hook(_turn)
        self.register_load_state_dict_pre_hook(_turn_back)

    def forward(self, *inputs, **named):
        return self._call(*inputs, **named)

    def train(self, mode: bool = True):
        if self._mode is not None:
            self._mode(mode)
        return super().train(mode)


def _put(module, homes, word, value):
    for home in homes:
        if not hasattr(module, home):
            module.add_module(home, torch.nn.Module())
        module = getattr(module, home)
    if isinstance(value, torch.nn.Parameter):
        module.register_parameter(word, value)
    else:
        module.register_buffer(word, value)


def _turn(module, state, prefix, metadata):
    """LabDL's names and axes in a state_dict to PyTorch's."""
    for mapping in module._mappings:
        own, native = _keys(prefix, mapping.own), _keys(prefix, mapping.native)
        if mapping.direct and native[0] in state:
            state[native[0]] = state[native[0]].permute(mapping.axes)
        elif own and all(key in state for key in own):
            state.update(zip(native, _convert_tensors(mapping.to_native, [state.pop(key) for key in own]), strict=True))


def _turn_back(module, state, prefix, *_):
    for mapping in module._mappings:
        own, native = _keys(prefix, mapping.own), _keys(prefix, mapping.native)
        if not all(key in state for key in native):
            continue
        if mapping.direct:
            axes = sorted(range(len(mapping.axes)), key=mapping.axes.__getitem__)
            state[native[0]] = state[native[0]].permute(axes)
        else:  # what PyTorch counts besides, such as batches, has no own name
            state.update(
                zip(own, _convert_tensors(mapping.from_native, [state.pop(key) for key in native]), strict=True)
            )


def _keys(prefix, names):
    return [prefix + name.replace("/", ".") for name in names]


def _convert_tensors(function, tensors):
    return [tensor(array).to(tensors[0].device) for array in function(*(to_numpy(t.detach()) for t in tensors))]


def native_module(call, branch, mode):
    return LabModule(call, branch, mode).train(getattr(call, "training", True))


def is_native(value) -> bool:
    return isinstance(value, torch.nn.Module)


def native_parameters(module):
    learned = {name: (value, value.requires_grad) for name, value in module.named_parameters()}
    return {**learned, **{name: (value, False) for name, value in module.named_buffers()}}


def native_call(module, training: bool, inputs):
    if module.training != training:
        module.train(training)
    return module(*inputs)
