"""NumPy functions in TensorFlow, eager and in tf.function: differentiable functions of tensors, arrays computed at each run."""

import functools

import tensorflow as tf

from labdl.backends.tensorflow.tensors import spec_of, tensor


def _compute(function, tensors):
    if tf.executing_eagerly():  # errors keep their type this way
        return [tf.constant(a) for a in function.run(*(t.numpy() for t in tensors))]
    specs = function.specs(*map(spec_of, tensors))
    results = tf.numpy_function(function.run, tensors, [s.dtype for s in specs])
    return [tf.ensure_shape(r, s.shape) for r, s in zip(results, specs, strict=True)]


def _differentiable(function):
    if function.gradient is None:
        return lambda *tensors: function.run()  # a missing gradient raises in the tape
    gradient = _differentiable(function.gradient)

    @tf.custom_gradient
    def call(*tensors):
        results = _compute(function, tensors)

        def pull(*gradients):
            found = gradient(*tensors, *results, *gradients)
            return [
                g if t.dtype.is_floating or t.dtype.is_complex else None for g, t in zip(found, tensors, strict=True)
            ]

        return results, pull

    return call


def each_time(make, spec):
    """A call of Python in a graph, which XLA rejects."""
    if not tf.inside_function():
        return tensor(make())
    return tf.ensure_shape(tf.numpy_function(make, [], spec.dtype), spec.shape)


def host_function(bind):
    @functools.cache
    def native(options):
        differentiable = _differentiable(bind(options))

        def call(*tensors):
            results = differentiable(*map(tf.convert_to_tensor, tensors))
            return tuple(results) if len(results) > 1 else results[0]

        return call

    return native
