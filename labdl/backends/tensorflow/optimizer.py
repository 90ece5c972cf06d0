"""LabDL's optimisers on TensorFlow's fused update kernels, which change variables in place."""

import tensorflow as tf


class Optimizer:
    """Learning rate and step are variables, so that a change of them reaches steps that are compiled already."""

    def __init__(self, variables, settings: dict, slots: tuple[str, ...], update, prepare=None):
        self.variables = list(variables)
        self.settings = settings
        # the kernels want all that belongs to a variable where it lies
        with tf.device(self.variables[0].device if self.variables else None):
            self.rate = tf.Variable(settings["learning_rate"], trainable=False, dtype=tf.float32)
            self.step = tf.Variable(0, trainable=False, dtype=tf.int64)
            self.slots = [{s: tf.Variable(tf.zeros_like(v), trainable=False) for s in slots} for v in self.variables]
        self._update, self._prepare = update, prepare

    @property
    def learning_rate(self) -> float:
        return float(self.rate.numpy())

    @learning_rate.setter
    def learning_rate(self, value: float) -> None:
        self.rate.assign(value)

    def apply(self, gradients) -> None:
        """One update; a variable without a gradient stays as it is."""
        step = self.step.assign_add(1)
        shared = self._prepare(self.settings, self.rate, step) if self._prepare else (self.rate,)
        for variable, slots, gradient in zip(self.variables, self.slots, gradients, strict=True):
            if gradient is not None:
                scalars = [tf.cast(s, variable.dtype) for s in shared]
                self._update(self.settings, variable, slots, gradient, *scalars)


def _gradient_descent(settings, variable, slots, gradient, rate):
    if settings["weight_decay"]:
        gradient = gradient + settings["weight_decay"] * variable
    elif isinstance(gradient, tf.IndexedSlices):  # of a lookup: only the rows that were read move
        variable.scatter_sub(tf.IndexedSlices(rate * gradient.values, gradient.indices))
        return
    tf.raw_ops.ResourceApplyGradientDescent(var=variable.handle, alpha=rate, delta=gradient)


def _momentum(settings, variable, slots, gradient, rate):
    gradient = tf.convert_to_tensor(gradient)
    if settings["weight_decay"]:
        gradient = gradient + settings["weight_decay"] * variable
    tf.raw_ops.ResourceApplyMomentum(
        var=variable.handle, accum=slots["momentum"].handle, lr=rate, grad=gradient,
        momentum=tf.constant(settings["momentum"], variable.dtype), use_nesterov=settings["nesterov"])  # fmt: skip


def _adam_scalars(settings, rate, step):
    """Learning rate and epsilon with the bias corrections in them, for the kernel's own epsilon is not corrected."""
    beta_1, beta_2 = (tf.cast(tf.constant(settings[b], tf.float32), tf.float64) for b in ("beta_1", "beta_2"))
    count = tf.cast(step, tf.float64)
    spread = tf.sqrt(1 - beta_2**count)
    return tf.cast(rate, tf.float64) * spread / (1 - beta_1**count), settings["epsilon"] * spread, rate


def _adam(settings, variable, slots, gradient, corrected_rate, epsilon, rate):
    gradient = tf.convert_to_tensor(gradient)
    if settings["weight_decay"]:
        gradient = gradient + settings["weight_decay"] * variable
    _apply_adam(settings, variable, slots, gradient, corrected_rate, epsilon)


def _adamw(settings, variable, slots, gradient, corrected_rate, epsilon, rate):
    if settings["weight_decay"]:
        variable.assign_sub(rate * settings["weight_decay"] * variable)
    _apply_adam(settings, variable, slots, tf.convert_to_tensor(gradient), corrected_rate, epsilon)


def _apply_adam(settings, variable, slots, gradient, rate, epsilon):
    kind = variable.dtype
    none = tf.zeros((), kind)  # the corrections are in the rate, in float64
    tf.raw_ops.ResourceApplyAdam(
        var=variable.handle, m=slots["mean"].handle, v=slots["square"].handle, beta1_power=none, beta2_power=none,
        beta1=tf.constant(settings["beta_1"], kind), beta2=tf.constant(settings["beta_2"], kind), epsilon=epsilon,
        lr=rate, grad=gradient)  # fmt: skip


def optimizer(name: str, variables, settings: dict) -> Optimizer:
    if name == "sgd":
        if settings["momentum"]:
            return Optimizer(variables, settings, ("momentum",), _momentum)
        return Optimizer(variables, settings, (), _gradient_descent)
    update = {"adam": _adam, "adamw": _adamw}[name]
    return Optimizer(variables, settings, ("mean", "square"), update, _adam_scalars)
