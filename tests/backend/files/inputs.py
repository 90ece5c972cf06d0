"""Inputs of the networks of the checkpoint tests, and paths of their files."""

from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
SUFFIXES = {
    "torch": (".pt", ".safetensors"),
    "paddle": (".pdparams",),
    "mindspore": (".ckpt",),
    "tensorflow": (".weights.h5", ""),
}
SHAPES = {
    "image": ((2, 3, 9, 8),),
    "signal": ((2, 3, 9),),
    "volume": ((1, 2, 4, 5, 4),),
    "sequence": ((2, 5),),
    "attention": ((2, 4, 6), (2, 3, 5)),
    "transformer": ((2, 4, 6), (2, 3, 6)),
    "pairs": ((2, 3), (2, 4)),
    "cells": ((2, 3),),
    "parts": ((2, 3),),
}


def inputs_of(name):
    rng = np.random.default_rng(7)
    if name == "sequence":
        return (rng.integers(0, 11, SHAPES[name][0]),)
    return tuple(rng.normal(size=shape).astype("float32") for shape in SHAPES[name])


def drawn(shape, rng, name):
    """Values for a parameter, which no initializer gives: biases and statistics too."""
    values = np.asarray(rng.normal(size=shape) * 0.4)
    return np.asarray(np.abs(values) + 0.5 if "var" in name else values, "float32")
