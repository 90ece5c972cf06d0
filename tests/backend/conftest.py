"""One backend a process: `pytest tests/backend --backend torch`."""

import os

import pytest


def pytest_addoption(parser):
    parser.addoption("--backend", default=os.environ.get("LABDL_BACKEND", "torch"), help="the backend under test")


def pytest_configure(config):
    import labdl

    labdl.use(config.getoption("--backend"))  # a missing backend fails the run, it is never skipped


@pytest.fixture(scope="session")
def backend(pytestconfig):
    import labdl

    return labdl.backends.get(pytestconfig.getoption("--backend"))


def pytest_report_header(config):
    return f"labdl backend: {config.getoption('--backend')}"
