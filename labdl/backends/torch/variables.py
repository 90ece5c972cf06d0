"""Changes of variables."""


def assign(variable, value):
    if variable.shape != value.shape:
        raise ValueError(f"assign wants a value of shape {tuple(variable.shape)}, received {tuple(value.shape)}")
    value = value.detach().to(variable.dtype)
    variable.detach().copy_(value)
    return value
