"""Models as paddle.nn.Layer, and Paddle's layers in models."""

import paddle

from labdl.interop.weights import layer_mapping, variables_of
from labdl.interop.weights.paddle import LAYERS


class LabLayer(paddle.nn.Layer):
    """A model of LabDL as Paddle's own: the same parameters, ordinary training loops, paddle.jit.save, state_dict.

    Parameters have Paddle's names where it has the layer, and LabDL's axes: `labdl.saving` writes files in which recurrent
    layers have Paddle's. Hooks act on the whole model, the parts only hold parameters.
    """

    def __init__(self, call, branch, mode):
        super().__init__()
        self._call, self._mode = _as_it_is(call), mode
        here = layer_mapping(LAYERS, branch)
        for name, parameter in variables_of(here, branch):
            *homes, word = name.split("/")
            _put(self, homes, word, parameter.value)
        for name, (_, part) in here.parts.items():
            self.add_sublayer(name, LabLayer(None, part, None))

    # the first is an argument, because paddle.jit.save counts the inputs that it is told of
    def forward(self, x=None, *more, **named):
        return self._call(*(() if x is None and not more else (x,)), *more, **named)

    def train(self):
        if self._mode is not None:
            self._mode(True)
        super().train()

    def eval(self):
        if self._mode is not None:
            self._mode(False)
        super().eval()


def _put(layer, homes, word, value):
    for home in homes:
        if not hasattr(layer, home):
            layer.add_sublayer(home, paddle.nn.Layer())
        layer = getattr(layer, home)
    if isinstance(value, paddle.base.framework.EagerParamBase):
        layer.add_parameter(word, value)
    else:
        layer.register_buffer(word, value)


def _as_it_is(call):
    """Paddle's full-graph compiler rewrites Python, which fails in a dispatcher; this excludes the function."""

    def run(*inputs, **named):
        return call(*inputs, **named)

    return paddle.jit.not_to_static(run)


def native_module(call, branch, mode):
    made = LabLayer(call, branch, mode)
    made.train() if getattr(call, "training", True) else made.eval()
    return made


def is_native(value) -> bool:
    return isinstance(value, paddle.nn.Layer)


def native_parameters(module):
    learned = {name: (value, not value.stop_gradient) for name, value in module.named_parameters()}
    return {**learned, **{name: (value, False) for name, value in module.named_buffers()}}


def native_call(module, training: bool, inputs):
    if module.training != training:
        module.train() if training else module.eval()
    return module(*inputs)
