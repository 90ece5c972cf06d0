"""Products of matrices and tensors (Python Array API standard)."""

import numpy as np

from labdl.ops import rules
from labdl.ops.operator import case, floats, operator


@operator(rules.matmul, case(floats(2, 3), floats(3, 4)), case(floats(5, 2, 3), floats(3, 4)),
          case(floats(3), floats(3, 2)), case(floats(2, 1, 2, 3), floats(4, 3, 2)))  # fmt: skip
def matmul(x, y, /):
    """Matrix product over the last two axes; the others broadcast."""
    return np.matmul(x, y)


@operator(
    rules.einsum, case("ij,jk->ik", floats(2, 3), floats(3, 4)), case("bhi,bhj->bij", floats(2, 3, 4), floats(2, 3, 5))
)
def einsum(equation, *operands):
    """Sum of products by the Einstein notation, the result's axes named after ``->``."""
    return np.einsum(equation, *operands)
