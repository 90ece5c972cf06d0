"""An RNN over 100 steps by `ops.scan`, outputs and gradients, against the same loop in the framework's own calls.

    python tests/bench/control_flow.py torch [--steps 100]

Both run eagerly; a third line is the compiled step of those compilers that have gradients of loops.
"""

import argparse
import statistics
import time

import numpy as np

BATCH, FEATURES, ROUNDS = 32, 64, 7


def native_rnn(name: str):
    """The loss of a loop that is written without LabDL."""
    if name == "torch":
        import torch as framework

        tanh, total, stack, unstack = framework.tanh, framework.sum, framework.stack, framework.unbind
    elif name == "tensorflow":
        import tensorflow as framework

        tanh, total, stack, unstack = framework.tanh, framework.reduce_sum, framework.stack, framework.unstack
    elif name == "paddle":
        import paddle as framework

        tanh, total, stack, unstack = framework.tanh, framework.sum, framework.stack, framework.unbind
    else:
        from mindspore import ops as framework

        tanh, total, stack, unstack = framework.tanh, framework.sum, framework.stack, framework.unbind

    def loss(h, xs, w):
        outputs = []
        for x in unstack(xs):
            h = tanh(x + framework.matmul(h, w))
            outputs.append(h)
        return total(stack(outputs))

    return loss


def scanned_rnn(h, xs, w):
    from labdl import ops

    def step(h, x):
        h = ops.tanh(ops.add(x, ops.matmul(h, w)))
        return h, h

    return ops.sum(ops.scan(step, h, xs)[1])


def seconds(run) -> float:
    run()
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        run()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def compiled_step(backend, arrays):
    """A step of a Trainer with the scan in its model."""
    from labdl import nn, ops
    from labdl.train import SGD, Trainer

    class Scanned(nn.Module):
        def __init__(self):
            self.kernel = nn.Parameter((FEATURES, FEATURES), "orthogonal")

        def forward(self, xs):
            return scanned_rnn(ops.zeros_like(xs[:, 0]), ops.permute_dims(xs, (1, 0, 2)), self.kernel)

    def loss(output, target):
        return output

    trainer = Trainer(Scanned(), loss=loss, optimizer=SGD(0.0), backend=backend.name, compiled=True)
    xs, targets = np.moveaxis(arrays[1], 0, 1).copy(), np.zeros(BATCH, "int64")
    return lambda: trainer.train_one_batch(xs, targets)["loss"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("backend")
    parser.add_argument("--steps", type=int, default=100)
    args = parser.parse_args()
    import labdl

    labdl.use(args.backend)
    backend = labdl.backends.get(args.backend)
    draws = np.random.default_rng(0)
    shapes = (BATCH, FEATURES), (args.steps, BATCH, FEATURES), (FEATURES, FEATURES)
    arrays = [(0.1 * draws.normal(size=shape)).astype("float32") for shape in shapes]
    tensors = [backend.tensor(a) for a in arrays]
    losses = native_rnn(args.backend), scanned_rnn
    found = [
        [backend.to_numpy(part) for part in (value, *gradients)]
        for value, gradients in (backend.gradients(loss, tensors) for loss in losses)
    ]
    for native, ours in zip(*found, strict=True):
        np.testing.assert_allclose(ours, native, rtol=1e-3, atol=1e-3)
    native, ours = (seconds(lambda loss=loss: backend.to_numpy(backend.gradients(loss, tensors)[0])) for loss in losses)
    steps = f"{args.backend}: {args.steps} steps"
    print(f"{steps}, native loop {native * 1e3:.1f} ms, ops.scan {ours * 1e3:.1f} ms, {ours / native:.2f}")
    if args.backend in ("tensorflow", "mindspore"):
        compiled = seconds(compiled_step(backend, arrays))
        print(
            f"{args.backend}: {args.steps} steps, compiled training step {compiled * 1e3:.1f} ms, {compiled / native:.2f}"
        )


if __name__ == "__main__":
    main()
