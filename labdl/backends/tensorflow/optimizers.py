"""LabDL's optimizers on TensorFlow: its fused kernels where one means the same, else the rule's own update, in the graph."""

# the stubs of TensorFlow lack argument types, slices and callables that it accepts, and type unknown shapes as None
# pyright: reportArgumentType=false

import tensorflow as tf


def _slots(rule, variables):
    return [
        {
            slot: tf.Variable(tf.fill(shape, tf.cast(start, v.dtype)), trainable=False)
            for slot, (shape, start) in rule.slots(tuple(v.shape)).items()
        }
        for v in variables
    ]


def _assign(own, state) -> None:
    for variables, arrays in zip(own, state, strict=True):
        for slot, array in arrays.items():
            variables[slot].assign(array)


def _place(variables):
    """The kernels want all that belongs to a variable where it lies."""
    return tf.device(variables[0].device if variables else None)


class NativeOptimizer:
    """A fused kernel; learning rate and step are variables, so that a change of them reaches steps that are compiled."""

    def __init__(self, rule, variables, update, prepare=None):
        self.variables, self.settings, self.version = list(variables), rule.settings(), 0
        with _place(self.variables):
            self.rate = tf.Variable(rule.learning_rate, trainable=False, dtype=tf.float32)
            self.count = tf.Variable(0, trainable=False, dtype=tf.int64)
            self.state = _slots(rule, self.variables)
        self._update, self._prepare = update, prepare

    @property
    def learning_rate(self) -> float:
        return float(self.rate.numpy())

    @learning_rate.setter
    def learning_rate(self, value: float) -> None:
        self.rate.assign(value)

    @property
    def step(self) -> int:
        return int(self.count.numpy())

    def advance(self) -> None:
        """The graph counts."""

    def update(self, gradients) -> None:
        step = self.count.assign_add(1)
        shared = self._prepare(self.settings, self.rate, step) if self._prepare else (self.rate,)
        for variable, slots, gradient in zip(self.variables, self.state, gradients, strict=True):
            if gradient is not None:
                scalars = [tf.cast(s, variable.dtype) for s in shared]
                self._update(self.settings, variable, slots, gradient, *scalars)

    def load(self, step: int, state) -> None:
        self.count.assign(step)
        _assign(self.state, state)


class RuleUpdates:
    """The update of a rule, run as it is; its numbers are a variable that is set before each step."""

    def __init__(self, rule, variables):
        self.rule, self.variables = rule, list(variables)
        self.learning_rate, self.version, self.step = rule.learning_rate, 0, 0
        self._names = list(rule.numbers(1, rule.learning_rate))
        with _place(self.variables):
            self._numbers = tf.Variable(tf.zeros(len(self._names), tf.float64), trainable=False)
            self.state = _slots(rule, self.variables)

    def advance(self) -> None:
        self.step += 1
        self._numbers.assign(list(self.rule.numbers(self.step, self.learning_rate).values()))

    def update(self, gradients) -> None:
        cast: dict = {}
        for variable, slots, gradient in zip(self.variables, self.state, gradients, strict=True):
            if gradient is None:
                continue
            kind = variable.dtype
            if kind not in cast:
                cast[kind] = dict(zip(self._names, tf.unstack(tf.cast(self._numbers, kind)), strict=True))
            before = {slot: value.read_value() for slot, value in slots.items()}
            gradient = tf.convert_to_tensor(gradient)
            value, after = self.rule.update(variable.read_value(), gradient, before, **cast[kind])
            variable.assign(value)
            for slot, tensor in after.items():
                slots[slot].assign(tensor)

    def load(self, step: int, state) -> None:
        self.step = step
        _assign(self.state, state)


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
        var=variable.handle,
        accum=slots["momentum"].handle,
        lr=rate,
        grad=gradient,
        momentum=tf.constant(settings["momentum"], variable.dtype),
        use_nesterov=settings["nesterov"],
    )


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
        var=variable.handle,
        m=slots["mean"].handle,
        v=slots["square"].handle,
        beta1_power=none,
        beta2_power=none,
        beta1=tf.constant(settings["beta_1"], kind),
        beta2=tf.constant(settings["beta_2"], kind),
        epsilon=epsilon,
        lr=rate,
        grad=gradient,
    )


_NATIVE = {
    "sgd": (_gradient_descent,),
    "momentum": (_momentum,),
    "adam": (_adam, _adam_scalars),
    "adamw": (_adamw, _adam_scalars),
}


def optimizer(rule, variables):
    settings, kind = rule.settings(), rule.kind
    if kind not in _NATIVE or settings.get("amsgrad"):
        return RuleUpdates(rule, variables)
    return NativeOptimizer(rule, variables, *_NATIVE["momentum" if settings.get("momentum") else kind])
