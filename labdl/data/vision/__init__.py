"""Functions of pictures, boxes and masks on NumPy arrays: what the transforms are computed with, metrics and drawing."""
