"""Models as mindspore.nn.Cell, and MindSpore's cells in models."""

from mindspore import Parameter, nn

from labdl.backends.mindspore.threads import exclusive
from labdl.interop.weights import layer_mapping, variables_of
from labdl.interop.weights.mindspore import LAYERS


class LabCell(nn.Cell):
    """A model of LabDL as MindSpore's own: the same parameters, ordinary training loops, mindspore.save_checkpoint.

    Parameters have MindSpore's names where it has the layer, and LabDL's axes: `labdl.saving` writes files with MindSpore's.
    """

    def __init__(self, call, branch, mode):
        super().__init__(auto_prefix=False)
        self._run, self._mode = call, mode
        here = layer_mapping(LAYERS, branch)
        for name, parameter in variables_of(here, branch):
            *homes, word = name.split("/")
            cell = self
            for home in homes:
                if not hasattr(cell, home):
                    cell.insert_child_to_cell(home, nn.Cell(auto_prefix=False))
                cell = getattr(cell, home)
            cell.insert_param_to_cell(word, parameter.value, check_name_contain_dot=False)
        for name, (_, part) in here.parts.items():
            self.insert_child_to_cell(name, LabCell(None, part, None))

    def construct(self, *inputs, **named):
        return self._run(*inputs, **named)

    def set_train(self, mode=True):
        if self._mode is not None:
            self._mode(mode)
        return super().set_train(mode)


def native_module(call, branch, mode):
    made = LabCell(call, branch, mode)
    for path, parameter in made.parameters_and_names():
        parameter.name = path  # checkpoints and optimizers identify parameters by name
    return made.set_train(getattr(call, "training", True))


def is_native(value) -> bool:
    return isinstance(value, nn.Cell)


def native_parameters(module):
    return {
        name: (value, value.requires_grad)
        for name, value in module.parameters_and_names()
        if isinstance(value, Parameter)
    }


@exclusive
def native_call(module, training: bool, inputs):
    if module.training != training:
        module.set_train(training)
    return module(*inputs)
