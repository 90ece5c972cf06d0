"""A Jupyter server with the extension of LabDL."""

import pytest
from known_warnings import WARNINGS


def pytest_configure(config):
    for line in WARNINGS:
        config.addinivalue_line("filterwarnings", line)


@pytest.fixture
def jp_server_config():
    return {"ServerApp": {"jpserver_extensions": {"labdl.lab.server.extension": True}}}
