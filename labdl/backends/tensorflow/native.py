"""Models as tf.Module, and modules of TensorFlow and Keras in models."""

import tensorflow as tf

# a layer's parameters under Keras's names, where they differ from LabDL's
TWINS = {"RMSNorm": {"gamma": "scale"}}


class LabModule(tf.Module):
    """A model of LabDL as TensorFlow's own: the same variables, ordinary training loops, tf.saved_model.save, checkpoints.

    ``training`` says how it behaves, and may be given with a call, as in Keras.
    """

    def __init__(self, call, branch, mode):
        super().__init__()
        self._run, self._mode, self.training = call, mode, bool(getattr(call, "training", True))
        names = TWINS.get(branch.kind, {})
        for own, parameter in branch.parameters.items():
            setattr(self, names.get(own, own or "value"), parameter.value)
        # tf.Module finds its parts in dictionaries too, and "0" is no attribute
        self.parts = {name: LabModule(None, part, None) for name, part in branch.parts.items()}

    def __call__(self, *inputs, training: bool | None = None):
        wanted = self.training if training is None else training
        if self._run.training != wanted:
            self._mode(wanted)
        return self._run(*inputs)


def native_module(call, branch, mode):
    return LabModule(call, branch, mode)


def is_native(value) -> bool:
    return isinstance(value, tf.Module)


def native_parameters(module):
    return {v.name.partition(":")[0].replace("/", "_") + (f"_{n}" if n else ""): (_variable(v), bool(v.trainable))
            for n, v in enumerate(module.variables)}  # fmt: skip


def _variable(value):
    """The variable inside of Keras's own."""
    return getattr(value, "value", value) if not isinstance(value, tf.Variable) else value


def native_mode(module, training: bool) -> None:
    """Keras passes this along with each call."""
    module.training = training
