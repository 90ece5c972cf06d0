"""Tensors of two frameworks in one process: an operator refuses them, whatever it has computed before."""

import subprocess
import sys

import pytest

PROGRAM = """
import sys
import warnings

import numpy as np

warnings.simplefilter("ignore")
import labdl
from labdl.ops.operator import OPERATORS, Sample
from labdl.ops.operator.samples import samples_in

own, other = sys.argv[1:]
for name in labdl.framework_info.in_load_order({own, other}):
    labdl.backends.get(name)
rng = np.random.default_rng(0)


def place(value, wrap):
    if isinstance(value, Sample):
        return wrap(value.draw(rng))
    return type(value)(place(v, wrap) for v in value) if isinstance(value, list | tuple) else value


def count(value):
    if isinstance(value, Sample):
        return 1
    return sum(map(count, value)) if isinstance(value, list | tuple) else 0


accepted = []
for name, entry in OPERATORS.items():
    args, kwargs = entry.samples[0]
    tensors = sum(map(count, (*args, *kwargs.values())))
    if tensors < 2 or any(s.dtype == "string" for s in samples_in([*args, *kwargs.values()])):
        continue
    for foreign in (None, *range(tensors)):  # first all of one framework, as a model computes
        numbers = iter(range(tensors))
        wrap = lambda a: labdl.tensor(a, backend=other if next(numbers) == foreign else own)
        try:
            getattr(labdl.ops, name)(*[place(a, wrap) for a in args], **{k: place(v, wrap) for k, v in kwargs.items()})
        except TypeError as error:
            if foreign is None or "tensors of two backends" not in str(error):
                accepted.append(f"{name} {foreign}: {error}")
        except Exception as error:
            accepted.append(f"{name} {foreign}: {type(error).__name__} {error}")
        else:
            if foreign is not None:
                accepted.append(f"{name} takes one at {foreign}")
print(chr(10).join(accepted))
sys.exit(bool(accepted))
"""


@pytest.mark.sample(every=4)
@pytest.mark.parametrize(
    ("own", "other"),
    [
        ("paddle", "torch"),
        ("torch", "tensorflow"),
        ("tensorflow", "torch"),
        ("mindspore", "torch"),
    ],
)
def test_tensors_of_two_frameworks_are_refused(own, other):
    found = subprocess.run([sys.executable, "-c", PROGRAM, own, other], capture_output=True, text=True, timeout=300)
    assert found.returncode == 0, found.stdout[-4000:] + found.stderr[-1000:]
