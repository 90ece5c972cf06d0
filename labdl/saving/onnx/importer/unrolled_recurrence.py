"""Recurrent nodes written step by step, with the settings that LabDL's layers do not have.

These are peepholes, a clip, coupled gates, ``layout``, a reset before the product, other activations, and weights that are
computed or inputs. The number of steps must be known.
"""

from __future__ import annotations

from typing import Any

from labdl.errors import FileFormatError

_LONGEST = 1_000  # steps
_ACTIVATIONS = {"Sigmoid": "sigmoid", "Tanh": "tanh", "Relu": "relu", "Softsign": "softsign", "Softplus": "softplus"}
_DEFAULTS = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"], "RNN": ["Tanh"]}
_GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


class Cell:
    """One direction of a node: its weights, activations and step."""

    def __init__(self, r, node, at: int, activations, kernel, recurrent_kernel, bias, peepholes):
        self.r, self.kind, self.attributes, self.activations = r, node.kind, node.attributes, activations
        self.gates = _GATES[node.kind]
        self.kernel, self.recurrent = (
            r.call("permute_dims", r.call("getitem", v, at), (1, 0)) for v in (kernel, recurrent_kernel)
        )
        self.biases = None if bias is None else r.call("split", r.call("getitem", bias, at), 2, 0)
        self.peepholes = None if peepholes is None else r.call("split", r.call("getitem", peepholes, at), 3, 0)

    def _sum(self, *values):
        total = None
        for value in values:
            if value is not None:
                total = value if total is None else self.r.call("add", total, value)
        return total

    def _times(self, a, b):
        return self.r.call("multiply", a, b)

    def _activate(self, at: int, x):
        clip = self.attributes.get("clip")
        x = self.r.call("clip", x, -float(clip), float(clip)) if clip else x
        return self.r.call(_ACTIVATIONS[self.activations[at]], x)

    def _rest(self, share):
        return self.r.call("subtract", 1.0, share)

    def products(self, x):
        """Products of the inputs of all steps with the kernel: (steps, batch, gates * size)."""
        return self._sum(self.r.call("matmul", x, self.kernel), self.biases and self.biases[0])

    def step(self, given, hidden, cell):
        """The states after a step."""
        return getattr(self, f"_{self.kind.lower()}")(given, hidden, cell)

    def _parts(self, value) -> Any:
        return self.r.call("split", value, self.gates, -1)

    def _rnn(self, given, hidden, cell):
        added = self._sum(self.r.call("matmul", hidden, self.recurrent), self.biases and self.biases[1])
        return self._activate(0, self._sum(given, added)), None

    def _gru(self, given, hidden, cell):
        r, bias = self.r, None if self.biases is None else self._parts(self.biases[1])
        update, reset, new = self._parts(given)
        kernels = r.call("split", self.recurrent, 3, 1)
        own = [self._sum(r.call("matmul", hidden, k), bias and bias[i]) for i, k in enumerate(kernels[:2])]
        update, reset = (self._activate(0, self._sum(v, w)) for v, w in zip((update, reset), own, strict=True))
        if self.attributes.get("linear_before_reset"):
            inner = self._times(reset, self._sum(r.call("matmul", hidden, kernels[2]), bias and bias[2]))
        else:
            inner = self._sum(r.call("matmul", self._times(reset, hidden), kernels[2]), bias and bias[2])
        new = self._activate(1, self._sum(new, inner))
        return self._sum(self._times(self._rest(update), new), self._times(update, hidden)), None

    def _lstm(self, given, hidden, cell):
        added = self._sum(self.r.call("matmul", hidden, self.recurrent), self.biases and self.biases[1])
        take, give, forget, new = self._parts(self._sum(given, added))
        peepholes = self.peepholes or (None, None, None)  # of input, output, forget

        def gate(value, weights, state):
            return self._activate(0, self._sum(value, None if weights is None else self._times(weights, state)))

        take = gate(take, peepholes[0], cell)
        forget = self._rest(take) if self.attributes.get("input_forget") else gate(forget, peepholes[2], cell)
        cell = self._sum(self._times(forget, cell), self._times(take, self._activate(1, new)))
        give = gate(give, peepholes[1], cell)
        last = self.r.call(_ACTIVATIONS[self.activations[2]], cell)
        return self._times(give, last), cell


def unroll(r, node, refusal: FileFormatError, x, kernel, recurrent_kernel, bias, lengths, states, peepholes):
    """The outputs of a node: of all steps, and the last states."""
    a, kind = node.attributes, node.kind
    by_batch, direction = bool(a.get("layout")), a.get("direction", "forward")
    directions = 2 if direction == "bidirectional" else 1
    names = a.get("activations", _DEFAULTS[kind] * directions)
    count = len(_DEFAULTS[kind])
    if any(n not in _ACTIVATIONS for n in names) or len(names) != count * directions or a.get("activation_alpha"):
        raise r.refuse(node, f"has activations {names}, and LabDL's are {', '.join(_ACTIVATIONS)}, without parameters")
    x = r.call("permute_dims", x, (1, 0, 2)) if by_batch else x
    if x.shape[0] is None or not 0 < x.shape[0] <= _LONGEST:
        raise FileFormatError(f"{refusal}; it can be written step by step for a known length of 1 to {_LONGEST:,}")
    steps = range(x.shape[0])
    states = [v if v is None or not by_batch else r.call("permute_dims", v, (1, 0, 2)) for v in states]
    outputs, lasts = [], []
    for at in range(directions):
        own = names[at * count : (at + 1) * count]
        cell = Cell(r, node, at, own, kernel, recurrent_kernel, bias, peepholes)
        inputs = cell.products(x)
        own_states = [None if v is None else r.call("getitem", v, at) for v in states]
        if any(v is None for v in own_states):
            first = r.call("getitem", inputs, (0, slice(None), slice(recurrent_kernel.shape[-1])))
            own_states = [r.call("zeros_like", first) if v is None else v for v in own_states]
        hidden, memory = [*own_states, None][:2]
        backward = direction == "reverse" or at == 1
        step_outputs: list[Any] = [None] * len(steps)
        for step in reversed(steps) if backward else steps:
            new, new_memory = cell.step(r.call("getitem", inputs, step), hidden, memory)
            step_outputs[step] = new
            if lengths is not None:  # after its end a sequence keeps its state, and its outputs are 0
                live = r.call("expand_dims", r.call("greater", lengths, step), 1)
                step_outputs[step] = r.call("where", live, new, 0.0)
                new = r.call("where", live, new, hidden)
                new_memory = None if new_memory is None else r.call("where", live, new_memory, memory)
            hidden, memory = new, new_memory
        outputs.append(r.call("stack", step_outputs, axis=0))
        lasts.append([v for v in (hidden, memory) if v is not None])
    whole = r.call("stack", outputs, axis=2 if by_batch else 1)
    if by_batch:
        whole = r.call("permute_dims", whole, (1, 0, 2, 3))
    return [whole, *(r.call("stack", list(v), axis=1 if by_batch else 0) for v in zip(*lasts, strict=True))]
