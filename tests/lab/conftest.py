"""Jupyter's own server, with LabDL in it."""

import pytest


@pytest.fixture
def jp_server_config():
    return {"ServerApp": {"jpserver_extensions": {"labdl.lab.server.extension": True}}}
