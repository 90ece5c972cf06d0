"""Operators do not copy to the host: counts copies while operators run."""

import gc
import sys

import numpy as np
import pytest
from cases import each_sample, native, value_calls

import labdl
from labdl import ops

pytestmark = pytest.mark.sample(every=4)

# Each framework's ways to bring values to the host, by the class that has them
HOST = ("numpy", "asnumpy", "item", "tolist", "__array__", "cpu", "__float__", "__int__", "__bool__", "__index__")


@pytest.fixture
def copies(backend, monkeypatch):
    """The names of the methods by which values went to the host, with operators told that tensors are on a device."""
    found: list[str] = []
    recorder = f"labdl.backends.{backend.name}.call_recorder"
    if hasattr(sys.modules.get(recorder), "on_host"):
        monkeypatch.setattr(f"{recorder}.on_host", lambda x: False)
    distributions = sys.modules["labdl.ops.random.distributions"]
    monkeypatch.setattr(distributions, "values_are_at_hand", lambda owner: False)
    monkeypatch.setattr(sys.modules["labdl.ops.operator.value_checks"], "values_are_at_hand", lambda backend: False)
    kinds = {type(native(np.ones(2, "float32"), backend.name)), *backend.tensor_types()}
    for kind in kinds:
        for name in HOST:
            method = getattr(kind, name, None)
            if method is not None:

                def counted(self, *args, _name=name, _method=method, **kwargs):
                    found.append(_name)
                    return _method(self, *args, **kwargs)

                monkeypatch.setattr(kind, name, counted)
    return found


def test_the_counter_counts(backend, copies):
    labdl.to_numpy(native(np.ones(2, "float32"), backend.name))
    assert copies


def test_a_chain_of_fifty_operators_copies_nothing(backend, copies):
    x = start = native(np.linspace(0.1, 0.9, 24, dtype="float32").reshape(4, 6), backend.name)
    kernel = native(np.full((6, 6), 0.1, "float32"), backend.name)
    chain = [
        ops.exp,
        ops.log1p,
        ops.sqrt,
        ops.tanh,
        ops.sigmoid,
        ops.relu,
        ops.softplus,
        ops.square,
        ops.sin,
        ops.cos,
        ops.abs,
        ops.negative,
        ops.erf,
        ops.silu,
        ops.gelu,
        ops.softmax,
        ops.log_softmax,
        ops.expm1,
        lambda t: ops.add(t, start),
        lambda t: ops.multiply(t, 0.5),
        lambda t: ops.matmul(t, kernel),
        lambda t: ops.reshape(t, (6, 4)),
        lambda t: ops.permute_dims(t, (1, 0)),
        lambda t: ops.concat([t, t], axis=0),
        lambda t: t[:4],
        lambda t: ops.subtract(t, ops.mean(t, axis=-1, keepdims=True)),
        lambda t: ops.where(ops.greater(t, 0.0), t, start),
        lambda t: ops.clip(t, -1.0, 1.0),
        lambda t: ops.expand_dims(t, 0),
        lambda t: ops.squeeze(t, 0),
        lambda t: ops.flip(t, axis=1),
        lambda t: ops.roll(t, 1, axis=0),
        lambda t: ops.cumulative_sum(t, axis=1),
        lambda t: ops.tile(t, (1, 2)),
        lambda t: ops.split(t, 2, axis=1)[0],
        lambda t: ops.maximum(t, start),
        lambda t: ops.minimum(t, start),
        lambda t: ops.divide(t, 2.0),
        lambda t: ops.pad(t, ((0, 0), (1, 1))),
        lambda t: t[:, 1:-1],
        lambda t: ops.stack([t, t], axis=0),
        lambda t: ops.sum(t, axis=0),
        lambda t: ops.std(t, axis=0, keepdims=True),
        lambda t: ops.broadcast_to(t, (4, 6)),
        lambda t: ops.linear(t, kernel),
        lambda t: ops.layer_norm(t, t[0], t[1]),
        lambda t: ops.max(t, axis=1, keepdims=True),
        lambda t: ops.add(t, start),
        lambda t: ops.var(t, axis=0),
        lambda t: ops.logsumexp(t, axis=0),
    ]
    assert len(chain) == 50
    for step in chain:
        x = step(x)
    assert copies == []
    assert np.isfinite(labdl.to_numpy(x)).all()


@pytest.mark.sample(every=4)
@pytest.mark.parametrize("call", [pytest.param(c, id=n) for n, c in value_calls() if n.endswith("-0")])
def test_an_operator_copies_nothing(call, backend, copies):
    """But for those whose result's shape depends on values: it has to be known to the host."""
    args, kwargs = call.arrays()
    specs = call(args, kwargs, lambda a: labdl.Spec(a.shape, labdl.spec.dtype_name(a.dtype)))
    if any(None in s.shape for s in specs):
        return
    args, kwargs = (each_sample(v, lambda a: native(a, backend.name)) for v in (args, kwargs))
    copies.clear()
    call(args, kwargs, lambda a: a)
    assert copies == []


def test_the_first_call_of_an_operator_keeps_no_tensor(backend):
    """It is found out by an error, whose traceback would hold the tensors of a whole first step."""
    x = native(np.ones(2, "float32"), backend.name)
    ops.relu.operator.implementations.clear()
    gc.collect()
    gc.disable()
    try:
        before = sys.getrefcount(x)
        ops.relu(x)
        assert sys.getrefcount(x) == before
    finally:
        gc.enable()
