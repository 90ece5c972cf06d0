"""Every operator's shape rule against its NumPy body, on its samples and on random variations."""

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import labdl
from labdl.ops.operator import OPERATORS, Sample
from labdl.spec import Spec, dtype_name

REFUSED = (ValueError, TypeError)


def replaced(value, function):
    """Every sample or array in nested arguments replaced."""
    if isinstance(value, Sample | np.ndarray):
        return function(value)
    if isinstance(value, list | tuple):
        return type(value)(replaced(v, function) for v in value)
    if isinstance(value, dict):
        return {k: replaced(v, function) for k, v in value.items()}
    return value


def changed(case, chance: random.Random):
    """The samples with other sizes (equal ones stay equal), and now and then one with an axis more, less or resized."""
    sizes = {n: chance.choice((n, n, 0, 1, 2, 3, 4, 5)) for n in range(20)} if chance.random() < 0.6 else {}

    def change(sample: Sample) -> Sample:
        shape = [sizes.get(n, n) for n in sample.shape]
        kind = chance.random()
        if kind < 0.08 and shape:
            del shape[chance.randrange(len(shape))]
        elif kind < 0.16:
            shape.insert(chance.randint(0, len(shape)), chance.choice((1, 2, 3)))
        elif kind < 0.24 and shape:
            shape[chance.randrange(len(shape))] = chance.choice((0, 1, 2, 3))
        return replace(sample, shape=tuple(shape))

    return replaced(case, change)


def shapes(result):
    return [tuple(r.shape) for r in (result if isinstance(result, list | tuple) else [result])]


def outcome(entry, args, kwargs):
    try:
        return shapes(getattr(labdl.ops, entry.name)(*args, **kwargs))
    except REFUSED:
        return "refused"
    except IndexError:
        return "values"  # a position outside of the tensor, which shapes do not tell


def check(entry, case, seed, *, may_refuse=False):
    rng = np.random.default_rng(seed)
    args, kwargs = replaced(case, lambda s: np.asarray(s.draw(rng)))
    spec = lambda a: Spec(a.shape, dtype_name(a.dtype))  # noqa: E731
    inferred = outcome(entry, *replaced((args, kwargs), spec))
    with np.errstate(all="ignore"):
        # the body itself: through the NumPy backend the rule would speak first
        try:
            actual = shapes(raw(entry, args, kwargs))
        except IndexError as error:
            actual = "refused" if isinstance(error, ValueError) else "values"
        except (*REFUSED, ZeroDivisionError):
            actual = "refused"
    if actual == "values":
        return
    if inferred == "refused" and may_refuse:
        return  # a rule may ask for more than NumPy does, which broadcasts what it can
    if actual == "refused" and may_refuse and any(0 in s.shape or s.dtype != "float32" for s in tensors(case)):
        return  # of nothing there is often no result, and what positions and masks say is not known to a rule
    assert "refused" not in (inferred, actual), f"rule {inferred}, body {actual}"
    assert len(inferred) == len(actual)
    for given_, found in zip(inferred, actual, strict=True):
        assert len(given_) == len(found)
        assert all(g in (None, f) for g, f in zip(given_, found, strict=True)), (inferred, actual)


def raw(entry, args, kwargs):
    result = entry.body(*args, **kwargs)
    return tuple(map(np.asarray, result)) if isinstance(result, list | tuple) else np.asarray(result)


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("entry", [e for e in OPERATORS.values() if e.rule], ids=lambda e: e.name)
def test_the_rule_gives_what_the_body_gives(entry):
    for i, case in enumerate(entry.samples):
        check(entry, case, i)


@pytest.mark.sample(every=12)
@pytest.mark.parametrize("entry", [e for e in OPERATORS.values() if e.rule], ids=lambda e: e.name)
@pytest.mark.slow
def test_the_rule_follows_the_body_on_other_shapes(entry):
    @settings(max_examples=12, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(st.integers(0, 2**32), st.integers(0, 99))
    def holds(seed, which):
        chance = random.Random(seed)
        check(entry, changed(entry.samples[which % len(entry.samples)], chance), seed, may_refuse=True)

    holds()


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("entry", OPERATORS.values(), ids=lambda e: e.name)
def test_unknown_batch_size_is_accepted(entry):
    """Where the batch is open, the rule still gives the other sizes."""
    for case in entry.samples:
        args, kwargs = replaced(case, lambda s: Spec(s.shape, s.dtype))
        known = shapes(getattr(labdl.ops, entry.name)(*args, **kwargs))
        first = next((s.shape[0] for s in tensors(case) if s.shape), None)
        if first is None:
            continue
        open_args, open_kwargs = replaced(
            case, lambda s, n=first: Spec((None, *s.shape[1:]) if s.shape and s.shape[0] == n else s.shape, s.dtype)
        )
        try:
            guessed = shapes(getattr(labdl.ops, entry.name)(*open_args, **open_kwargs))
        except REFUSED:
            continue  # some need to know: a matrix to invert is square
        assert len(guessed) == len(known)
        for g, k in zip(guessed, known, strict=True):
            assert all(a in (None, b) for a, b in zip(g, k, strict=True)), (guessed, known)


def tensors(case):
    found = []
    replaced(case, lambda s: found.append(s) or s)
    return found
