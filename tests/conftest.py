"""The backend under test: `pytest tests/backend --backend torch`, one backend a process."""

import gc
import os
import signal

import pytest

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as shells start commands in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)

gc.disable()  # until all is imported and collected: hardly any of it is garbage, and it would be looked at again and again

pytest_plugins = ["breadth", "stage_report"]


def pytest_addoption(parser):
    parser.addoption("--backend", default=os.environ.get("LABDL_BACKEND", "torch"), help="the backend under test")
    parser.addoption("--compile", action="store_true", help="train and predict compiled in every test, not in some")
    parser.addoption("--case", help="only this case of the tests that run many, such as conv2d-0-nan")


def pytest_collection_finish(session):
    """Leave what imports and collection have made out of later garbage collections, which would look at it each time."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def backend(pytestconfig):
    import labdl

    return labdl.backends.get(pytestconfig.getoption("--backend"))


@pytest.fixture(autouse=True)
def own_random_numbers():
    """Each test begins with the backends' own random numbers, whatever the test before has asked for."""
    yield
    from labdl import dispatch

    dispatch._portable = False  # not by a seed, which takes time on TensorFlow
