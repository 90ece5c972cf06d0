"""After all other tests of a process, for an array namespace changes what infix operators mean in the whole process."""

import pytest

import labdl


@pytest.fixture(scope="session")
def xp(backend):
    return labdl.array_namespace(backend.name)
