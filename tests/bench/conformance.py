"""The public conformance suite of the Array API standard, on one backend's array namespace.

`python tests/bench/conformance.py BACKEND FOLDER [options of pytest]`, FOLDER being a copy of data-apis/array-api-tests,
for example with `--max-examples=20 -q`. The suite is not on PyPI, and so not among
the tests; what it requires must be installed.
"""

import os
import subprocess
import sys


def main(backend: str, folder: str, *options: str) -> int:
    module = f"""exec('import labdl; xp = labdl.array_namespace("{backend}")')"""
    environment = {**os.environ, "ARRAY_API_TESTS_MODULE": module, "ARRAY_API_TESTS_VERSION": "2024.12"}
    command = [sys.executable, "-m", "pytest", "array_api_tests", *options]
    return subprocess.run(command, cwd=folder, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
