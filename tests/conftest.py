"""The backend under test: `pytest tests/backend --backend torch`, one backend a process."""

import os

import pytest


def pytest_addoption(parser):
    parser.addoption("--backend", default=os.environ.get("LABDL_BACKEND", "torch"), help="the backend under test")


@pytest.fixture(scope="session")
def backend(pytestconfig):
    import labdl

    return labdl.backends.get(pytestconfig.getoption("--backend"))
