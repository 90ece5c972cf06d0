"""Mixtures of experts: layers of which each token uses a few parts."""

from __future__ import annotations

from labdl import dispatch, ops
from labdl.nn.activation import ACTIVATIONS, Activation
from labdl.nn.initializers import uniform
from labdl.nn.linear import resolve_size
from labdl.nn.module import Module
from labdl.nn.parameter import Parameter
from labdl.nn.schema import layer
from labdl.nn.types import Count
from labdl.ops.operator import floats
from labdl.spec import show


@layer(
    {"experts": 4, "hidden_features": 6, "top_k": 2},
    floats(2, 3, 5),
    outputs=("output", "balance_loss"),
    category="linear",
)
class MixtureOfExperts(Module):
    """Feed-forward experts of which each token uses the ``top_k`` most probable (Shazeer et al., 2017).

    (..., in) to (..., out), and the loss that balances the use of the experts (Fedus et al., 2021), 1 where it is even: the
    number of experts times the sum over experts of the fraction of tokens and the mean probability. Add it to the loss, about
    a hundredth of it::

        trainer = Trainer(model, loss=lambda y, t: {"task": cross_entropy(y[0], t), "balance": 0.01 * y[1]})

    An expert is two linear layers with an activation in between; ``out_features`` is that of the input by default. The
    outputs of the experts are weighted by their probabilities, which ``normalize`` scales to a sum of 1, by default with two
    experts or more (Mixtral); one alone keeps its probability, or the router would not learn (Switch Transformer). No token
    is dropped: each expert computes every token, and counts where it is chosen.
    """

    experts: Count
    hidden_features: Count
    top_k: Count = 2
    out_features: Count | None = None
    activation: Activation = "gelu"
    normalize: bool | None = None
    use_bias: bool = True
    in_features: Count | None = None

    def setup(self, x):
        if x.ndim < 2:
            raise ValueError(f"MixtureOfExperts wants (N, ..., features), received {show(x.shape)}")
        if self.top_k > self.experts:
            raise ValueError(f"MixtureOfExperts: top_k={self.top_k} is more than experts={self.experts}")
        size = resolve_size("MixtureOfExperts", "in_features", self.in_features, x.shape[-1])
        hidden, out = self.hidden_features, self.out_features or size
        self.router = Parameter((size, self.experts), uniform(size**-0.5))
        self.hidden_kernel = Parameter((self.experts, size, hidden), uniform(size**-0.5))
        self.hidden_bias = Parameter((self.experts, 1, hidden)) if self.use_bias else None
        self.output_kernel = Parameter((self.experts, hidden, out), uniform(hidden**-0.5))
        self.output_bias = Parameter((self.experts, 1, out)) if self.use_bias else None

    def forward(self, x):
        probabilities = ops.softmax(ops.matmul(x, self.router), axis=-1)
        factors, chosen = self._choose(probabilities)
        counted = ops.expand_dims(ops.moveaxis(ops.greater(chosen, 0), -1, -2), -1)
        # 0 for the experts that are not chosen: an overflow in them would be NaN times 0, in the gradient too
        y = ops.matmul(ops.where(counted, ops.expand_dims(x, -3), 0.0), self.hidden_kernel)
        y = y if self.hidden_bias is None else ops.add(y, self.hidden_bias)
        y = ops.matmul(ACTIVATIONS[self.activation](y), self.output_kernel)
        y = y if self.output_bias is None else ops.add(y, self.output_bias)
        y = ops.sum(ops.multiply(ops.expand_dims(ops.moveaxis(factors, -1, -2), -1), y), axis=-3)
        tokens = tuple(range(len(x.shape) - 1))
        used, likely = ops.mean(chosen, axis=tokens), ops.mean(probabilities, axis=tokens)
        return y, ops.multiply(ops.sum(ops.multiply(used, likely)), self.experts / self.top_k)

    def _choose(self, probabilities):
        """Factors of all experts, zero for those that are not chosen, and ones and zeros (..., experts)."""
        places = ops.topk(ops.stop_gradient(probabilities), self.top_k)[1]
        chosen = ops.sum(ops.one_hot(places, self.experts), axis=-2)
        chosen = ops.astype(chosen, dispatch.spec_of(probabilities).dtype)
        factors = ops.multiply(probabilities, chosen)
        if self.normalize or (self.normalize is None and self.top_k > 1):
            factors = ops.divide(factors, ops.sum(factors, axis=-1, keepdims=True))
        return factors, chosen
