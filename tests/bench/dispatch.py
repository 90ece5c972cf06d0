"""What dispatch costs: an operator on a 4-element tensor against the framework's own call, in one run.

`python tests/bench/dispatch.py BACKEND` prints microseconds a call: LabDL's, the native one, and the difference.
"""

import statistics
import sys
import time

import numpy as np

import labdl
from labdl import ops


def native_calls(backend: str):
    """The call that somebody would write by hand, for each operator."""
    if backend == "torch":
        import torch

        return {
            "add": torch.add,
            "multiply": torch.mul,
            "exp": torch.exp,
            "relu": torch.relu,
            "tanh": torch.tanh,
            "matmul": torch.matmul,
            "less": torch.lt,
        }
    if backend == "tensorflow":
        import tensorflow as tf

        return {
            "add": tf.add,
            "multiply": tf.multiply,
            "exp": tf.exp,
            "relu": tf.nn.relu,
            "tanh": tf.tanh,
            "matmul": lambda x, y: tf.tensordot(x, y, 1),
            "less": tf.less,
        }
    if backend == "paddle":
        import paddle

        return {
            "add": paddle.add,
            "multiply": paddle.multiply,
            "exp": paddle.exp,
            "relu": paddle.nn.functional.relu,
            "tanh": paddle.tanh,
            "matmul": paddle.matmul,
            "less": paddle.less_than,
        }
    import mindspore

    o = mindspore.ops
    return {
        "add": o.add,
        "multiply": o.mul,
        "exp": o.exp,
        "relu": o.relu,
        "tanh": o.tanh,
        "matmul": o.matmul,
        "less": o.less,
    }


def once(function, args, calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        function(*args)
    return (time.perf_counter() - start) / calls * 1e6


def main(backend: str, rounds: int = 31, calls: int = 400) -> None:
    labdl.use(backend)
    x, y = (labdl.tensor(np.array(v, "float32")) for v in ([0.5, 1.0, 1.5, 2.0], [2.0, 1.0, 0.5, 0.25]))
    print(f"{backend}: microseconds a call on 4 elements, medians of {rounds} alternating rounds")
    gaps = []
    for name, native in native_calls(backend).items():
        args = (x, y) if name in ("add", "multiply", "matmul", "less") else (x,)
        ours = getattr(ops, name)
        times = [(once(ours, args, calls), once(native, args, calls)) for _ in range(rounds)]
        mine, theirs = (statistics.median(t[i] for t in times) for i in (0, 1))
        gap = statistics.median(a - b for a, b in times)
        gaps.append(gap)
        print(f"  {name:10} labdl {mine:6.2f}   native {theirs:6.2f}   overhead {gap:+6.2f}")
    print(f"  median overhead {statistics.median(gaps):+.2f} µs")


if __name__ == "__main__":
    main(sys.argv[1])
