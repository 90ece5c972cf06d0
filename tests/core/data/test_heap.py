"""Memory that is freed stays with the process."""

import platform
import subprocess
import sys

import pytest

_CODE = """
import resource, sys
import numpy as np
from labdl.data.heap import keep_freed_memory
if sys.argv[1] == "kept":
    keep_freed_memory()
def work():
    arrays = [np.ones(size, np.uint8) for size in (400_000, 700_000, 900_000, 1_200_000)]
work(); work()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(50):
    work()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def _faults(how):
    return int(subprocess.run([sys.executable, "-c", _CODE, how], check=True, capture_output=True, text=True).stdout)


@pytest.mark.sample(False)
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have other rules")
def test_pages_of_freed_arrays_are_used_again():
    assert _faults("kept") < 200 < _faults("as it is")
