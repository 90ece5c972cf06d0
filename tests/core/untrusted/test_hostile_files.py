"""Files made to end a process or to take a machine are refused with a sentence, in bounded time and memory."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hostile_files import CASES, build

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]  # the first test waits for the files of all

CHILD = Path(__file__).with_name("reading_process.py")
# what the case of another format tries in the same code, for seconds
REPEATED = (
    "old .pt: a million objects",
    ".pdparams: a million objects",
    ".pdparams: dictionaries of one another",
    ".pdparams: a doubled module",
    "old .pt: deep name",
    ".pdparams: deep name",
    "old .pt: sizes that are no numbers",
    ".pdparams: sizes that are no numbers",
)
assert {*REPEATED} <= {*CASES}
MEGABYTES, SECONDS = 450, 18  # of the processor, for one file; those of tens of megabytes take a few times their size


def read_all(folder, jobs):
    """The lines of the process that reads files, by number; several processes if one ends early."""
    found, left = {}, list(enumerate(jobs))
    while left:
        (folder / "jobs.json").write_text(json.dumps([[reader, str(path)] for _, (reader, path) in left]))
        done = subprocess.run([sys.executable, str(CHILD), str(folder / "jobs.json")], capture_output=True, text=True)
        assert done.stdout.startswith("ready"), done.stderr
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        found |= {number: line for (number, _), line in zip(left, lines, strict=False)}
        if len(lines) < len(left):
            number = left[len(lines)][0]
            found[number] = {"outcome": f"ended the process: {done.returncode} {done.stderr[-300:]}"}
        left = left[len(lines) + 1 :]
    return [found[number] for number in range(len(jobs))]


@pytest.fixture(scope="module")
def lines(tmp_path_factory, request):
    """Results of the processes that read the files, by the names of the cases that are to run."""
    folder = tmp_path_factory.mktemp("hostile")
    names = [item.callspec.params["name"] for item in request.session.items if item.path == request.path]
    jobs = [(CASES[name][0], build(name, folder / str(number))) for number, name in enumerate(names)]
    return dict(zip(names, read_all(folder, jobs), strict=True))


@pytest.mark.sample(every=40)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.sample(False)] if name in REPEATED else []) for name in CASES]
)
def test_hostile_file_is_refused(lines, name):
    line, sentence = lines[name], CASES[name][2]
    if sentence is None:  # what is not an event or not a note is passed over
        assert line["outcome"] == "loaded"
    else:
        assert re.match(r"\w+Error: ", line["outcome"]), line
        assert re.search(sentence, line["outcome"]), line
    assert line["megabytes"] < MEGABYTES, line
    assert line["seconds"] < SECONDS, line
