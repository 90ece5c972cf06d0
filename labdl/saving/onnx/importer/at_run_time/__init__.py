"""Readers of nodes whose axes, sizes or positions are computed by the model: the shape of the result is open."""
