"""Filters of warnings in tests: any other warning that a test does not expect fails it."""

WARNINGS = (
    "error",  # a warning that no test expects fails it; those that follow are known
    # NumPy, where cases are about infinities, NaN, overflow and empty axes
    "ignore:.*encountered in:RuntimeWarning",
    "ignore:Mean of empty slice:RuntimeWarning",
    "ignore:Degrees of freedom <= 0:RuntimeWarning",
    # pipes of processes that tests kill, and of event loops of Jupyter's clients, are closed by the garbage collector
    "ignore::ResourceWarning",
    # PyTorch, the oracle of affine_grid, for images of one pixel
    "ignore:Since version 1.3.0, affine_grid:UserWarning",
    # what the frameworks, h5py and Jupyter's packages warn of inside of themselves while they are imported
    "ignore::DeprecationWarning:(torch|tensorflow|keras|paddle|mindspore|onnx|h5py|jupyter|traitlets|ipywidgets|IPython)",
)
