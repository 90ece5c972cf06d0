"""Models as Keras models, which are also tf.Modules and share the variables of the model."""

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
        taken = hasattr(layer, name)  # "metrics" and "layers" are attributes of Keras
        setattr(layer, f"{name}_part" if taken else name, type(part.kind or "Part", (LabLayer,), {})(part, name))
    layer.built = True


class LabLayer(keras.layers.Layer):
    """The parameters of a child of the model, under Keras's names."""

    def __init__(self, branch, name):
        super().__init__(name=name)
        with keras.name_scope(name):
            _hold(self, branch)

    def call(self, *inputs):
        raise ModelError(f"{self.name} holds the parameters of a child of the model; call the whole model")


class LabModule(keras.Model, tf.Module):
    """A model of LabDL as a Keras model and a tf.Module: `fit`, layers of other Keras models, `tf.saved_model.save`.

    As usual in Keras, calls are in evaluation mode unless ``training=True``, which ``fit`` passes.
    """

    name = None  # set by Keras; that of tf.Module is read-only

    def __init__(self, call, branch, mode):
        super().__init__(name=branch.kind, autocast=False)  # keeps float64
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
