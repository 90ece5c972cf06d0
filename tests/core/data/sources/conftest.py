"""The server of the tests in this folder, and how they load a set from it."""

import pytest
from set_server import Server

from labdl.data import sources


@pytest.fixture
def server(tmp_path):
    server = Server(tmp_path)
    yield server
    server.stop()


@pytest.fixture
def load(tmp_path):
    return lambda entry, split=None: sources.load(entry, split, tmp_path, progress=False)
