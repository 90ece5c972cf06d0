"""A Jupyter server with the extension of LabDL."""

import pytest


@pytest.fixture
def jp_server_config():
    return {"ServerApp": {"jpserver_extensions": {"labdl.lab.server.extension": True}}}
