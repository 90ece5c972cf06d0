"""Layers that a model holds and its forward does not use: reported at build, without false alarms."""

import functools
import warnings

import pytest

from labdl import models, nn, ops
from labdl.models.zoo import ZOO


class Net(nn.Module):
    def __init__(self):
        self.first, self.head = nn.Linear(4), nn.Linear(3)

    def forward(self, x):
        return self.head(ops.relu(self.first(x)))


class Holder(nn.Module):
    """A model with another inside."""

    def __init__(self):
        self.net = Net()

    def forward(self, x):
        return self.net(x)


def build(model, shape=(None, 5)):
    return model.build(shape, backend="numpy", seed=0)


def test_a_layer_that_forward_does_not_use_is_reported_at_build():
    model = Net()
    model.fc = nn.Linear(2)
    with pytest.warns(UserWarning, match=r"Net\.fc, a Linear, .* forward does not use it: did you mean 'head'\?"):
        build(model)


def test_a_layer_that_is_set_on_a_built_model_is_reported_once_at_the_next_call():
    model = build(Net())
    model.fc = nn.Linear(2)
    with pytest.warns(UserWarning, match="did you mean 'head'"):
        model.build((None, 5), backend="numpy")
    build(model).to("numpy")


@pytest.mark.parametrize("built", [False, True])
def test_the_path_of_an_inner_module_is_named(built):
    model = build(Holder()) if built else Holder()
    model.net.heda = nn.Linear(2)
    with pytest.warns(UserWarning, match=r"net\.heda, a Linear, .* did you mean 'head'\?"):
        build(model)


def test_without_a_similar_layer_the_advice_is_to_use_it_or_remove_it():
    model = Net()
    model.tail = nn.Sequential(nn.Conv2d(3), nn.BatchNorm())
    with pytest.warns(UserWarning, match=r"Net\.tail, a Sequential, .*: call it in forward, or remove it") as seen:
        build(model)
    assert len(seen) == 1  # not for its layers as well


class Optional(nn.Module):
    """Layers for training, for evaluation, for an optional input, for another method, by a helper, in a property, in a loop."""

    def __init__(self):
        self.head, self.drop, self.aux, self.mask, self.softmax = (nn.Linear(3) for _ in range(5))
        self.decoder, self.helped, self.tied, self.late = (nn.Linear(3) for _ in range(4))
        self.stages = nn.ModuleList([nn.Linear(4), nn.Linear(4)])
        self.tasks = nn.ModuleDict({"one": nn.Linear(3), "two": nn.Linear(3)})
        self.loss = nn.CrossEntropyLoss()
        self.teacher = build(Net())
        self.later = lambda x: self.late(x)

    @functools.cached_property
    def end(self):
        return self.tied

    def forward(self, x, mask=None):
        if mask is not None:
            x = x + self.mask(mask)
        x = self.aux(self.drop(x)) if self.training else self.softmax(x)
        if x.ndim > 7:
            x = help_with(self, self.end(self.tasks["one"](self.stages[1](self.later(x)))))
        return self.head(x)

    def decode(self, x):
        return self.decoder(x)


def help_with(model, x):
    return model.helped(x)


class Dynamic(nn.Module):
    def __init__(self):
        self.layer1, self.layer2, self.head = nn.Linear(4), nn.Linear(4), nn.Linear(2)

    def forward(self, x, deep=False):
        for at in range(1, 3 if deep else 2):
            x = getattr(self, f"layer{at}")(x)
        return self.head(x)


class Inherited(Net):
    """A forward that is inherited, with a layer replaced."""

    def __init__(self):
        super().__init__()
        self.head = nn.Sequential(nn.Linear(2), nn.Dropout(0.1))


class Reader(nn.Module):
    """Reads a parameter of a layer that is not called, from outside."""

    def __init__(self):
        self.holder, self.head = Net(), nn.Linear(2)

    def forward(self, x):
        return self.head(self.holder.first(x))


def wrapped():
    model = Net()
    inner = model.forward
    model.extra = nn.Linear(2)
    model.forward = lambda x: inner(x) if x.ndim < 9 else model.extra(x)
    return model


@pytest.mark.parametrize("mode", [True, False])
@pytest.mark.parametrize(
    "make",
    [
        Optional,
        Dynamic,
        Inherited,
        Reader,
        wrapped,
        lambda: nn.Sequential(nn.Linear(2), nn.Dropout(0.5), nn.Sequential()),
        Holder,
    ],
)
def test_what_may_be_used_is_not_reported(make, mode):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        build(make().train(mode))


@pytest.mark.sample(every=4)
@pytest.mark.parametrize("name", sorted(name for name, entry in ZOO.items() if entry.small))
@pytest.mark.parametrize("mode", [True, False])
def test_the_zoo_has_no_unused_layers(name, mode):
    model, specs = ZOO[name].small()
    assert name in models.list_models()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.train(mode).build(*specs, backend="numpy", seed=0)
