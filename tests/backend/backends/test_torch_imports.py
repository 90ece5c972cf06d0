"""Importing PyTorch as a backend costs no more than importing PyTorch."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.sample(False)


@pytest.mark.backends("torch")
def test_use_does_not_import_the_compiler(backend):
    code = "import sys, labdl; labdl.use('torch'); print('torch._dynamo' in sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert printed.stdout.strip() == "False"
