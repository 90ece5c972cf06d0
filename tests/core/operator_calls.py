"""Models of one operator call, from the samples of the operators."""

from labdl import nn, ops
from labdl.ops.operator import Sample


class Calls(nn.Module):
    """A model that does nothing but call one operator with tensors in the places of the samples."""

    def __init__(self, name: str, args, kwargs):
        self.call = (name, args, kwargs)

    def forward(self, *inputs):
        given = iter(inputs)

        def place(value):
            if isinstance(value, Sample):
                return next(given)
            return type(value)(map(place, value)) if isinstance(value, list | tuple) else value

        name, args, kwargs = self.call
        args = [place(a) for a in args]  # before the named ones
        return getattr(ops, name)(*args, **{k: place(v) for k, v in kwargs.items()})


def samples(value):
    if isinstance(value, Sample):
        return [value]
    return [s for v in value for s in samples(v)] if isinstance(value, list | tuple) else []
