"""Processor time (user and system) of `import labdl` and of its larger parts, each in new processes: the median."""

import os
import statistics
import subprocess
import sys
import tempfile

STATEMENTS = ("pass", "import numpy", "import labdl", "import labdl.nn", "import labdl.train", "import labdl.lab")
REPEATS = 9

CODE = """
import resource, sys
{statement}
usage = resource.getrusage(resource.RUSAGE_SELF)
print(usage.ru_utime + usage.ru_stime, len(sys.modules))
"""


def measure(statement: str, environment: dict[str, str]) -> tuple[float, int]:
    """Seconds of one process that runs the statement, and the number of modules that it has loaded."""
    command = [sys.executable, "-c", CODE.format(statement=statement)]
    output = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()
    return float(output[0]), int(output[1])


def main() -> None:
    with tempfile.TemporaryDirectory() as bytecode:  # as an installation has it, whatever this environment forbids
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = bytecode
        print(f"{'statement':22} {'seconds':>8} {'modules':>8}")
        for statement in STATEMENTS:
            measure(statement, environment)  # compiles
            times, counts = zip(*(measure(statement, environment) for _ in range(REPEATS)), strict=True)
            print(f"{statement:22} {statistics.median(times):8.3f} {counts[0]:8}")


if __name__ == "__main__":
    main()
