"""No order of importing the frameworks crashes: each works, or is refused in one sentence that says what to do.

Every order runs in a process of its own, at most two at a time, for each framework takes seconds to start.
"""

import itertools
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

FRAMEWORKS = ("mindspore", "paddle", "tensorflow", "torch")

# of the 24 orders those that have each three frameworks in each order; the others are not in the sample
ORDERS = [
    ("mindspore", "paddle", "tensorflow", "torch"),
    ("mindspore", "torch", "tensorflow", "paddle"),
    ("paddle", "torch", "mindspore", "tensorflow"),
    ("tensorflow", "paddle", "mindspore", "torch"),
    ("tensorflow", "torch", "mindspore", "paddle"),
    ("torch", "paddle", "tensorflow", "mindspore"),
]
OTHERS = [order for order in itertools.permutations(FRAMEWORKS) if order not in ORDERS]

# Imports what the user is to import, then uses the backends in order and a second time backwards. On each it computes
# what the frameworks leave to oneDNN, a product and a convolution, because their copies of oneDNN are what clashes.
PROGRAM = """
import sys
import numpy as np
import labdl
from labdl import ops

def compute(name):
    x, kernel = (labdl.tensor(np.ones(s, "float32"), backend=name) for s in ((2, 3, 8, 8), (3, 3, 3, 4)))
    return [float(labdl.to_numpy(ops.sum(y))) for y in (ops.matmul(x, x), ops.conv2d(x, kernel))]

for name in sys.argv[1].split():
    __import__(name)  # the user's own import statement, before labdl is asked for anything
names = sys.argv[2].split()
for name in names:
    try:
        labdl.use(name)
    except labdl.errors.BackendError as error:
        print("refused", name, error)
        break
    print("works", name, *compute(name), labdl.backends.default())
else:
    for name in reversed(names):
        labdl.use(name)
        print("again", name, *compute(name), labdl.backends.default())
"""


def run(order, imported="", together=""):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("LABDL_")}
    environment["OMP_NUM_THREADS"] = "1"  # two processes share the cores, and waiting threads of OpenMP burn them
    if together:
        environment["LABDL_BACKENDS"] = together
    command = [sys.executable, "-X", "faulthandler", "-c", PROGRAM, imported, " ".join(order)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)


def expected(order, imported=()):
    """How many backends of the order can be used before one is refused: the rule, written a second time."""
    seen = set(imported)
    for i, name in enumerate(order):
        late = (name == "paddle" and "tensorflow" in seen) or (name == "mindspore" and "paddle" in seen)
        if late and name not in seen:
            return i
        seen.add(name)
    return len(order)


def verify(process, order, count):
    """``count`` backends computed the right sums, the next one was refused in a sentence, and nothing crashed."""
    shown = f"{' '.join(order)}: exit status {process.returncode}\n{process.stdout}\n{process.stderr}"
    assert process.returncode == 0, shown
    assert "Traceback" not in process.stderr, shown
    lines = process.stdout.splitlines()
    assert lines[:count] == [f"works {name} 3072.0 6480.0 {name}" for name in order[:count]], shown
    if count == len(order):
        assert lines[count:] == [f"again {name} 3072.0 6480.0 {name}" for name in reversed(order)], shown
        return
    assert len(lines) == count + 1, shown
    refusal = lines[count]
    assert refusal.startswith(f"refused {order[count]} {order[count]} cannot be loaded after "), shown
    assert f"restart the kernel and call labdl.use('{order[count]}') first" in refusal, shown
    assert "or set LABDL_BACKENDS=" in refusal, shown


@pytest.fixture(scope="module")
def pool():
    with ThreadPoolExecutor(max_workers=2) as pool:
        yield pool
        pool.shutdown(cancel_futures=True)


@pytest.fixture(scope="module")
def started(pool, request):
    """The orders that are to be tested, under way; the long ones first, so that no worker waits at the end."""
    tests = (item for item in request.session.items if item.name.startswith("test_every_order"))
    orders = sorted((item.callspec.params["order"] for item in tests), key=expected, reverse=True)
    return {order: pool.submit(run, order) for order in orders}


def test_the_orders_have_each_three_frameworks_in_each_order():
    triples = {triple for order in ORDERS for triple in itertools.combinations(order, 3)}
    assert triples == set(itertools.permutations(FRAMEWORKS, 3))


@pytest.mark.sample(every=6)
@pytest.mark.parametrize(
    "order",
    [*ORDERS, *(pytest.param(order, marks=pytest.mark.sample(False), id="-".join(order)) for order in OTHERS)],
    ids="-".join,
)
def test_every_order_works_or_is_refused(order, started):
    verify(started[order].result(), order, expected(order))


IMPORTED = {
    "tensorflow before paddle": (("tensorflow",), ("paddle",)),
    "tensorflow before mindspore": (("tensorflow",), ("mindspore", "tensorflow")),
    "paddle before mindspore": (("paddle",), ("mindspore",)),
    "paddle before tensorflow": (("paddle",), ("tensorflow", "paddle")),
    "all, in an order that works": (("mindspore", "paddle", "tensorflow"), ("tensorflow", "paddle", "mindspore")),
}


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("case", IMPORTED)
def test_frameworks_that_the_user_imported_first(case, pool, started):
    imported, order = IMPORTED[case]
    verify(pool.submit(run, order, " ".join(imported)).result(), order, expected(order, imported))


def test_named_together_any_order_works(pool, started):
    order = ("tensorflow", "paddle", "torch", "mindspore")
    verify(pool.submit(run, order, together=",".join(order)).result(), order, len(order))
