"""What PaddlePaddle's private kernels gain: a call of each on 4 elements against the public function of that name.

`python tests/bench/paddle_kernels.py` prints medians of processor time in microseconds, the smallest gain first. The list
in `labdl/backends/paddle/kernels.py` follows from it.
"""

import statistics
import time

import paddle
import paddle.nn.functional as F
from paddle import _C_ops

X, Y = paddle.to_tensor([0.5, 0.6, 0.7, 0.8]), paddle.to_tensor([0.1, 0.2, 0.3, 0.4])
MATRIX, PLACES, MASK = paddle.ones([4, 4]), paddle.to_tensor([0, 1, 2, 3]), paddle.to_tensor([True, False, True, True])
PICTURE, WINDOW = paddle.ones([1, 1, 4, 4]), paddle.ones([1, 1, 2, 2])

UNARY = [
    "abs",
    "erf",
    "exp",
    "floor",
    "isfinite",
    "lgamma",
    "log",
    "reciprocal",
    "rsqrt",
    "sigmoid",
    "sign",
    "sin",
    "sqrt",
    "square",
    "tanh",
]
BINARY = [
    "add",
    "atan2",
    "complex",
    "divide",
    "equal",
    "floor_divide",
    "less_than",
    "maximum",
    "minimum",
    "multiply",
    "remainder",
    "subtract",
]
# name: arguments of the kernel, arguments of the public function
CASES = {
    **{name: ((X,), (X,)) for name in UNARY},
    **{name: ((X, Y), (X, Y)) for name in BINARY},
    "argsort": ((X, 0, False, False), (X, 0)),
    "bincount": ((PLACES, None, 0), (PLACES,)),
    "cast": ((X, paddle.float64), (X, paddle.float64)),
    "clip": ((X, 0.0, 1.0), (X, 0.0, 1.0)),
    "concat": (([X, Y], 0), ([X, Y], 0)),
    "conv2d": ((PICTURE, WINDOW, [1, 1], [0, 0], "EXPLICIT", [1, 1], 1, "NCHW"), (PICTURE, WINDOW)),
    "cumsum": ((X, 0, False, False, False), (X, 0)),
    "expand": ((X, [4, 4]), (X, [4, 4])),
    "flip": ((X, [0]), (X, [0])),
    "gather": ((X, PLACES, 0), (X, PLACES, 0)),
    "gelu": ((X, False), (X,)),
    "inverse": ((MATRIX + paddle.eye(4),), (MATRIX + paddle.eye(4),)),
    "logical_and": ((MASK, MASK), (MASK, MASK)),
    "matmul": ((MATRIX, MATRIX, False, False), (MATRIX, MATRIX)),
    "put_along_axis": ((X, PLACES, Y, 0, "assign", True), (X, PLACES, Y, 0)),
    "qr": ((MATRIX, "reduced"), (MATRIX,)),
    "reshape": ((X, [2, 2]), (X, [2, 2])),
    "scale": ((X, 2.0, 1.0, True), (X, 2.0, 1.0)),
    "searchsorted": ((X, Y, False, False), (X, Y)),
    "silu": ((X,), (X,)),
    "softmax": ((X, -1), (X, -1)),
    "stack": (([X, Y], 0), ([X, Y], 0)),
    "sum": ((X, [], None, False), (X,)),
    "transpose": ((MATRIX, [1, 0]), (MATRIX, [1, 0])),
    "unsqueeze": ((X, [0]), (X, [0])),
    "where": ((MASK, X, Y), (MASK, X, Y)),
}


def microseconds(function, args, calls: int = 300) -> float:
    start = time.process_time()
    for _ in range(calls):
        function(*args)
    return (time.process_time() - start) / calls * 1e6


def main(rounds: int = 15) -> None:
    rows = []
    for name, (inner, outer) in CASES.items():
        kernel = getattr(_C_ops, name)
        public = next(getattr(home, name) for home in (paddle, F, paddle.linalg) if hasattr(home, name))
        times = [(microseconds(kernel, inner), microseconds(public, outer)) for _ in range(rounds)]
        ours, theirs = (statistics.median(t[i] for t in times) for i in (0, 1))
        rows.append((theirs - ours, name, ours, theirs))
    for gain, name, ours, theirs in sorted(rows):
        print(f"  {name:16} kernel {ours:6.2f}   public {theirs:6.2f}   gain {gain:+6.2f}")


if __name__ == "__main__":
    main()
