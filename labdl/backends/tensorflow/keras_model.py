"""Models as Keras models, which are also tf.Modules and share the variables of the model."""

import inspect

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


def _signature(model) -> inspect.Signature:
    """The signature of a model's call as a method with the argument ``training``."""
    kinds = inspect.Parameter
    own = [
        kinds(a.name, kinds.KEYWORD_ONLY if a.by_name else kinds.POSITIONAL_OR_KEYWORD, default=a.default)
        for a in model._arguments()
        if a.name != "training"
    ]
    training = kinds("training", kinds.KEYWORD_ONLY, default=None)
    if not own:  # *inputs
        return inspect.Signature(
            [kinds("self", kinds.POSITIONAL_ONLY), kinds("inputs", kinds.VAR_POSITIONAL), training]
        )
    placed = [p for p in own if p.kind is kinds.POSITIONAL_OR_KEYWORD]
    first = next((at for at, p in enumerate(placed) if p.default is not p.empty), len(placed))
    placed[first:] = [p.replace(default=None if p.default is p.empty else p.default) for p in placed[first:]]
    named = [p for p in own if p.kind is kinds.KEYWORD_ONLY]
    return inspect.Signature([kinds("self", kinds.POSITIONAL_ONLY), *placed, training, *named])


class LabModule(keras.Model, tf.Module):
    """A model of LabDL as a Keras model and a tf.Module: `fit`, layers of other Keras models, `tf.saved_model.save`.

    As usual in Keras, calls are in evaluation mode unless ``training=True``, which ``fit`` passes.
    """

    name = None  # set by Keras; that of tf.Module is read-only

    def __new__(cls, call, branch, mode):
        # Keras binds arguments by the signature of its class: that of the model, with training
        def run(self, *inputs, training=None, **named):
            return cls.call(self, *inputs, training=training, **named)

        run.__signature__ = _signature(call)  # type: ignore[attr-defined]
        return super().__new__(type(cls.__name__, (cls,), {"call": run}), call, branch, mode)

    def __init__(self, call, branch, mode):
        super().__init__(name=branch.kind, autocast=False)  # keeps float64
        self._run, self._mode = call, mode
        self.supports_masking = True  # the model itself decides about an input named mask
        _hold(self, branch)

    def call(self, *inputs, training=None, **named):
        if self._run.training != bool(training):
            self._mode(bool(training))
        return self._run(*inputs, **named)

    def get_config(self):
        raise ModelError(
            "Keras cannot rebuild a model of LabDL from a .keras file: labdl.save keeps the model, and "
            "export() or save_weights() what Keras needs of it"
        )
