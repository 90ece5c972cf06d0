"""Layers of a functional Keras model that are alike: by name, or refused, never exchanged in silence."""

import h5py
import numpy as np
import pytest

import labdl
from labdl import nn
from labdl.errors import StateDictError


class Backwards(nn.Module):
    """Creates its layers in another order than it calls them."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4), nn.Linear(4)

    def forward(self, x):
        return self.first(self.second(x))


def keras_file(path, *names):
    """A file as Keras 3.9 writes it: layers by number in the order in which they run, and their names."""
    with h5py.File(path, "w") as file:
        file.create_group("vars").attrs["name"] = "functional"
        for number, name in enumerate(names):
            variables = file.create_group(f"layers/dense{f'_{number}' if number else ''}/vars")
            if name:
                variables.attrs["name"] = name
            variables["0"], variables["1"] = np.full((4, 4), number, "float32"), np.zeros(4, "float32")
    return path


def load(path):
    state = labdl.load_checkpoint(Backwards().build((None, 4), backend="numpy"), path).state_dict()
    return state["first/kernel:0"][0, 0], state["second/kernel:0"][0, 0]


def test_layers_are_found_by_name(tmp_path):
    assert load(keras_file(tmp_path / "net.weights.h5", "second", "first")) == (1, 0)
    assert load(keras_file(tmp_path / "net.weights.h5", "first", "second")) == (0, 1)


def test_layers_that_run_in_another_order_than_they_were_created_are_refused(tmp_path):
    with pytest.raises(StateDictError, match="could be exchanged: name the layers in Keras as the model does"):
        load(keras_file(tmp_path / "net.weights.h5", "dense_8", "dense_7"))


def test_layers_in_the_order_of_their_creation_are_numbered(tmp_path):
    for names in (("dense_2", "dense_3"), ("dense", "dense_1"), ("", ""), ("encode", "decode")):
        assert load(keras_file(tmp_path / "net.weights.h5", *names)) == (0, 1)
