"""Models as mindspore.nn.Cell, and MindSpore's cells in models."""

from mindspore import Parameter, nn

_WINDOW = {"kernel": "weight", "bias": "bias"}
# a layer's parameters under MindSpore's names, where they differ from LabDL's
TWINS = {
    **dict.fromkeys(
        ("Linear", "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"), _WINDOW
    ),
    "Embedding": {"embeddings": "embedding_table"},
}


class LabCell(nn.Cell):
    """A model of LabDL as MindSpore's own: the same parameters, ordinary training loops, mindspore.save_checkpoint."""

    def __init__(self, call, branch, mode):
        super().__init__(auto_prefix=False)
        self._run, self._mode = call, mode
        names = TWINS.get(branch.kind, {})
        for own, parameter in branch.parameters.items():
            self.insert_param_to_cell(names.get(own, own or "value"), parameter.value, check_name_contain_dot=False)
        for name, part in branch.parts.items():
            self.insert_child_to_cell(name, LabCell(None, part, None))

    def construct(self, *inputs):
        return self._run(*inputs)

    def set_train(self, mode=True):
        if self._mode is not None:
            self._mode(mode)
        return super().set_train(mode)


def native_module(call, branch, mode):
    made = LabCell(call, branch, mode)
    for path, parameter in made.parameters_and_names():
        parameter.name = path  # checkpoints and optimisers know parameters by their names
    return made.set_train(getattr(call, "training", True))


def is_native(value) -> bool:
    return isinstance(value, nn.Cell)


def native_parameters(cell):
    return {
        name: (value, value.requires_grad)
        for name, value in cell.parameters_and_names()
        if isinstance(value, Parameter)
    }


def native_call(cell, training: bool, inputs):
    if cell.training != training:
        cell.set_train(training)
    return cell(*inputs)
