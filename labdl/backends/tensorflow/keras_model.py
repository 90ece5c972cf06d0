"""Models as Keras's own, which are tf.Modules too: they hold a model's very variables."""

import keras
import tensorflow as tf

from labdl.errors import ModelError
from labdl.interop.weights import layer_mapping
from labdl.interop.weights.tensorflow import LAYERS


def _hold(layer, branch) -> None:
    """Set the branch's parameters and parts as the layer's attributes, where Keras and TensorFlow find them.

    They have Keras's names where it has the layer, and LabDL's axes.
    """
    mappings = layer_mapping(LAYERS, branch).mappings
    names = {
        mapping.own[0]: mapping.native[0] for mapping in mappings if mapping.direct and "/" not in mapping.native[0]
    }
    for own, parameter in branch.parameters.items():
        name, value = names.get(own, own) or "value", parameter.value
        made = keras.Variable(value, dtype=value.dtype.name, trainable=parameter.trainable, name=name)
        setattr(layer, name, made)
    for name, part in branch.parts.items():
        taken = hasattr(layer, name)  # "metrics" and "layers" mean something to Keras
        setattr(layer, f"{name}_part" if taken else name, type(part.kind or "Part", (LabLayer,), {})(part, name))
    layer.built = True


class LabLayer(keras.layers.Layer):
    """The parameters of a part of the model, under Keras's names."""

    def __init__(self, branch, name):
        super().__init__(name=name)
        with keras.name_scope(name):
            _hold(self, branch)

    def call(self, *inputs):
        raise ModelError(f"{self.name} holds the parameters of a part of the model; call the whole model")


class LabModule(keras.Model, tf.Module):
    """A model of LabDL as Keras's own and a tf.Module: `fit`, layers of other Keras models, `tf.saved_model.save`.

    As everywhere in Keras, a call that does not say ``training=True`` is meant for use; ``fit`` says so itself.
    """

    name = None  # Keras sets it; tf.Module's can only be read

    def __init__(self, call, branch, mode):
        super().__init__(name=branch.kind, autocast=False)  # float64 stays what it is
        self._run, self._mode = call, mode
        _hold(self, branch)

    def call(self, *inputs, training=None):
        if self._run.training != bool(training):
            self._mode(bool(training))
        return self._run(*inputs)

    def get_config(self):
        raise ModelError(
            "Keras cannot rebuild a model of LabDL from a .keras file: labdl.save keeps the model, and "
            "export() or save_weights() what Keras needs of it"
        )
