"""The functions of the Array API standard (2024.12) that are operators of the same name and parameters."""

ELEMENTWISE = (
    "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and", "bitwise_invert",
    "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "ceil", "clip", "conj", "copysign",
    "cos", "cosh", "divide", "equal", "exp", "expm1", "floor", "floor_divide", "greater", "greater_equal", "hypot",
    "imag", "isfinite", "isinf", "isnan", "less", "less_equal", "log", "log1p", "log2", "log10", "logaddexp",
    "logical_and", "logical_not", "logical_or", "logical_xor", "maximum", "minimum", "multiply", "negative",
    "nextafter", "not_equal", "positive", "pow", "real", "reciprocal", "remainder", "round", "sign", "signbit",
    "sin", "sinh", "sqrt", "square", "subtract", "tan", "tanh", "trunc"
)  # fmt: skip
ARRANGING = (
    "broadcast_to", "concat", "expand_dims", "flip", "moveaxis", "permute_dims", "repeat", "roll", "squeeze",
    "stack", "tile", "unstack", "take", "take_along_axis", "tril", "triu", "matrix_transpose", "where"
)  # fmt: skip
REDUCING = (
    "all", "any", "argmax", "argmin", "count_nonzero", "cumulative_prod", "cumulative_sum", "diff", "max", "mean",
    "min", "prod", "std", "sum", "var"
)  # fmt: skip
SEARCHING = (
    "argsort", "nonzero", "searchsorted", "sort", "unique_all", "unique_counts", "unique_inverse", "unique_values"
)  # fmt: skip
PRODUCTS = (
    "matmul", "tensordot", "vecdot"
)  # fmt: skip
LINALG = (
    "cholesky", "cross", "det", "diagonal", "eigh", "eigvalsh", "inv", "matmul", "matrix_norm", "matrix_power",
    "matrix_rank", "matrix_transpose", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot",
    "trace", "vecdot", "vector_norm"
)  # fmt: skip
FFT = (
    "fft", "ifft", "fftn", "ifftn", "rfft", "irfft", "rfftn", "irfftn", "hfft", "ihfft", "fftshift", "ifftshift"
)  # fmt: skip
