"""Computations on sounds in NumPy, on which the transforms of sounds and the codecs stand."""
