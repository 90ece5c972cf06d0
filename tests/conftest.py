"""The backend under test: `pytest tests/backend --backend torch`, one backend a process."""

import os

import pytest


def pytest_addoption(parser):
    parser.addoption("--backend", default=os.environ.get("LABDL_BACKEND", "torch"), help="the backend under test")
    parser.addoption("--case", help="only this case of the tests that run many, such as conv2d-0-nan")


@pytest.fixture(scope="session")
def backend(pytestconfig):
    import labdl

    return labdl.backends.get(pytestconfig.getoption("--backend"))


@pytest.fixture(autouse=True)
def own_random_numbers():
    """Each test begins with the backends' own random numbers, whatever the test before has asked for."""
    yield
    from labdl import dispatch

    if dispatch.portable():
        dispatch.seed(0)
