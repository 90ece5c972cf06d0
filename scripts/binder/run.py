"""Builds and visits the Binder of this checkout, as an ordinary account with little memory and without a network.

    python scripts/binder/run.py

The steps are those of `binder/`: a clone of the last commit, a new environment, postBuild, start. Then Chromium does what a
visitor does. Needs root, for the account, the control group and the network, which are all gone afterwards.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from account import Account, ordinary_account
from memory_limit import MemoryLimit, memory_limit

ROOT = Path(__file__).resolve().parents[2]
JOURNEY = Path(__file__).with_name("journey.py")
MEMORY = 2 << 30  # bytes, which a visitor of the public Binder has
# a server is given no settings but these: proxies, certificates and mirrors of package registries, and the language
KEEP = ("PIP_", "npm_", "SSL_", "NODE_EXTRA", "REQUESTS_CA", "http_", "https_", "no_proxy", "HTTP_", "HTTPS_", "LANG")
MIB = 1 << 20


def environment(home: Path, prefix: Path) -> dict[str, str]:
    """Variables of the environment as Binder sets them."""
    inherited = {name: value for name, value in os.environ.items() if name.startswith(KEEP)}
    return {
        "PIP_RETRIES": "1",  # an index of packages that does not answer delays each of them
        **inherited,
        "HOME": str(home),
        "PATH": f"{prefix / 'bin'}:/usr/local/bin:/usr/bin:/bin",
        "CPU_LIMIT": "1.0",
        "MEM_LIMIT": str(MEMORY),
    }


def size(folder: Path) -> int:
    """Bytes of the files in a folder; one that has several names counts once."""
    files = {(s.st_ino, s.st_blocks * 512) for path in folder.rglob("*") if (s := path.lstat()).st_size}
    return sum(blocks for _, blocks in files)


def processor_seconds() -> float:
    """Seconds of processors that ended child processes have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Binder:
    """The folder of a visitor, the environment beside it, and a table of what the steps have cost."""

    def __init__(self, folder: Path, account: Account, pictures: Path):
        self.account, self.pictures = account, pictures
        self.repository, self.prefix = account.home, folder / "environment"
        self.rows: list[tuple[str, float, float | None, float | None, float | None]] = []

    def run(self, name: str, command: Sequence[str], limit: MemoryLimit | None = None) -> None:
        """Run a step as the account, under a limit if there is one, and note seconds, megabytes and peak memory."""
        print(f"{name}: {' '.join(command)}", flush=True)
        command = self.account.command(command)
        start, processor = time.monotonic(), processor_seconds()
        subprocess.run(
            limit.command(command) if limit else command,
            cwd=self.repository,
            env=environment(self.account.home, self.prefix),
            check=True,
        )
        seconds, used = time.monotonic() - start, processor_seconds() - processor
        self.rows.append((name, seconds, used, size(self.prefix) / MIB, limit and limit.peak / MIB))

    def build(self) -> None:
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(self.repository)], check=True)
        self.prefix.mkdir()
        for folder in (self.repository, self.prefix):
            self.account.own(folder)
        version = (self.repository / "binder" / "runtime.txt").read_text().strip().removeprefix("python-")
        self.run("environment", [f"python{version}", "-m", "venv", "--upgrade-deps", str(self.prefix)])
        with memory_limit("labdl-build", MEMORY) as limit:
            self.run("postBuild", ["binder/postBuild"], limit)

    def visit(self) -> float:
        """Start the server as Binder does, and be a visitor; returns the accuracy of the training."""
        with memory_limit("labdl-visit", MEMORY) as limit:
            server = ["env", "-i"]
            server += [f"{name}={value}" for name, value in environment(self.account.home, self.prefix).items()]
            server = limit.command(self.account.command([*server, "binder/start", "jupyter", "lab"]))
            print("visit:", flush=True)
            arguments = [str(self.repository), str(self.pictures), "--", *server]
            subprocess.run(["unshare", "--net", sys.executable, str(JOURNEY), *arguments], check=True)
            result = json.loads((self.pictures / "result.json").read_text())
            self.rows += [(name, seconds, None, None, None) for name, seconds in result["seconds"].items()]
            self.rows.append(("visit in all", sum(result["seconds"].values()), None, None, limit.peak / MIB))
            if limit.kills:
                raise SystemExit(f"{limit.kills} processes were ended for their memory.")
        return result["accuracy"]

    def table(self) -> str:
        heads = ("seconds", "of processors", "environment", "peak memory")
        rows = [f"{'step':24}" + "".join(f"{head:>15}" for head in heads)]
        for name, seconds, processor, *sizes in self.rows:
            cells = [f"{seconds:.1f}", "" if processor is None else f"{processor:.1f}"]
            cells += ["" if value is None else f"{value:,.0f} MB" for value in sizes]
            rows.append(f"{name:24}" + "".join(f"{cell:>15}" for cell in cells))
        return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pictures", type=Path, default=ROOT / "build" / "binder", help="folder for the pictures")
    options = parser.parse_args()
    if os.geteuid():
        raise SystemExit("Run this as root: it makes an account, a control group and a network, and removes them.")
    options.pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="labdl-binder-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        with ordinary_account("labdl-visitor", folder / "home") as account:
            binder = Binder(folder, account, options.pictures.resolve())
            binder.build()
            accuracy = binder.visit()
        print(binder.table())
        print(f"limit of memory {MEMORY / MIB:,.0f} MB; accuracy {accuracy:.3f}; pictures in {options.pictures}")


if __name__ == "__main__":
    main()
