"""A process that reads changed copies of valid files under limits.

    python mutation_process.py FOLDER TURNS     FOLDER: one folder of valid files for each reader

Prints a line of JSON for each reader with the counts of what came out. A file that takes all memory, crashes or never ends
ends the process; the line before names its reader, and FOLDER/last is the file.
"""

import collections
import json
import os
import resource
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from mutations import mutate
from reading_process import MEMORY, bounded_outcome, status, warm

warnings.simplefilter("ignore")
folder, turns = Path(sys.argv[1]), int(sys.argv[2])
scratch = folder / "scratch"
scratch.mkdir()
warm(scratch)
limit = status("VmSize") * 1024 + MEMORY
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
print("ready", flush=True)
for home in sorted(path for path in folder.iterdir() if path.is_dir() and path != scratch):
    rng = np.random.default_rng(len(home.name))
    samples = sorted(path for path in home.rglob("*") if path.is_file())
    contents = {path: path.read_bytes() for path in samples}
    counts, faults, slowest = collections.Counter(), [], 0.0
    print(json.dumps({"begin": home.name}), flush=True)
    for turn in range(turns):
        sample = samples[turn % len(samples)]
        alike = [path for path in samples if path.suffix == sample.suffix]
        other = contents[alike[rng.integers(len(alike))]]
        changed = mutate(contents[sample], other, rng, turn // len(samples))
        sample.write_bytes(changed)
        (folder / "last").write_bytes(changed)
        target = sample if len(sample.relative_to(home).parts) == 1 else home / sample.relative_to(home).parts[0]
        Path("/proc/self/clear_refs").write_text("5")
        before, begin = status("VmRSS"), time.process_time()
        found = bounded_outcome(home.name, str(target))
        seconds, megabytes = time.process_time() - begin, (status("VmHWM") - before) / 1024
        sample.write_bytes(contents[sample])
        slowest = max(slowest, seconds)
        kind = found.partition(":")[0]
        counts["loaded" if kind == "loaded" else "refused"] += 1
        if kind.startswith(("undocumented", "out of")) or megabytes > 100 or seconds > 3:
            faults.append(f"{sample.name}, turn {turn}: {seconds:.1f} s, {megabytes:.0f} MB, {found}")
    print(json.dumps({"end": home.name, "counts": counts, "faults": faults, "slowest": slowest}), flush=True)
os._exit(0)  # without the cleaning up of libraries, whose objects may come from broken files
