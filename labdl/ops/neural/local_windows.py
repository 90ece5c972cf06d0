"""Local windows of attention: masks of neighboring steps, and images cut into windows."""

from labdl.dispatch import spec_of
from labdl.ops import rules
from labdl.ops.array.shape import expand_dims, permute_dims, reshape
from labdl.ops.math.arithmetic import abs as absolute
from labdl.ops.math.arithmetic import subtract
from labdl.ops.math.comparison import greater_equal, less, logical_and
from labdl.ops.neural.positions import step_positions
from labdl.ops.operator import ANY, case, floats, operator
from labdl.spec import per_axis


@operator(
    rules.local_attention_mask,
    case(floats(2, 5, 3), floats(2, 5, 3), 2),
    case(floats(4, 3), floats(6, 3), 3, causal=True),
    differentiable=False,
    composite=True,
)
def local_attention_mask(query, key, window, *, causal=False):
    """A mask (queries, keys) for `scaled_dot_product_attention`, true for keys less than ``window`` steps away.

    query and key are (..., steps, features). With ``causal`` a query attends to its own step and the ``window - 1`` before
    it (the local layers of GPT-Neo, the sliding window of Mistral).
    """
    apart = subtract(expand_dims(step_positions(query), 1), expand_dims(step_positions(key), 0))
    near = less(absolute(apart), window)
    return logical_and(near, greater_equal(apart, 0)) if causal else near


@operator(
    rules.window_partition,
    case(floats(2, 4, 6, 3), (2, 3)),
    case(floats(3, 4, 2), 2),
    case(floats(1, 2, 4, 2, 1), 2),
    takes=ANY,
    composite=True,
    cost=None,
)
def window_partition(x, size):
    """Cuts x (N, height, width, C) into windows that do not overlap: (N * windows, size, size, C) (Liu et al., 2021).

    Any number of spatial axes; ``size`` is one for all or one for each, and divides them. The windows of a sample are
    adjacent, in row-major order; `window_reverse` is the inverse.
    """
    shape = spec_of(x).shape
    window = per_axis(size, len(shape) - 2, "size")
    counts = [n // k for n, k in zip(shape[1:-1], window, strict=True)]  # type: ignore[operator]
    return _swap(x, shape, counts, window, rules.window_partition(spec_of(x), size).shape)


@operator(
    rules.window_reverse,
    case(floats(8, 2, 3, 2), (4, 6)),
    case(floats(6, 2, 2), 4),
    takes=ANY,
    composite=True,
    cost=None,
)
def window_reverse(windows, sizes):
    """Puts the windows (N * count, size, size, C) of `window_partition` back: (N, height, width, C).

    ``sizes`` are height and width, or the sizes of as many spatial axes as the windows have.
    """
    result = rules.window_reverse(spec_of(windows), sizes).shape
    window = spec_of(windows).shape[1:-1]
    counts = [n // k for n, k in zip(result[1:-1], window, strict=True)]  # type: ignore[operator]
    split = (-1 if result[0] is None else result[0], *counts, *window, result[-1])
    rank = len(counts)
    pairs = [axis for at in range(rank) for axis in (1 + at, 1 + rank + at)]
    whole = permute_dims(reshape(windows, split), (0, *pairs, 2 * rank + 1))
    return reshape(whole, tuple(-1 if n is None else n for n in result))


def _swap(x, shape, counts, window, result):
    """Split each spatial axis into windows and places, and move the windows to the front."""
    rank = len(window)
    split = [n for pair in zip(counts, window, strict=True) for n in pair]
    parts = reshape(x, (-1 if shape[0] is None else shape[0], *split, shape[-1]))
    order = (0, *range(1, 2 * rank, 2), *range(2, 2 * rank + 1, 2), 2 * rank + 1)
    return reshape(permute_dims(parts, order), tuple(-1 if n is None else n for n in result))
