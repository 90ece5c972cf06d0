"""An ordinary account for what must run without the rights of root."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Account:
    """An account of this machine, and its home folder."""

    name: str
    home: Path

    def command(self, command: Sequence[str]) -> list[str]:
        """The command, to be run as root, with the rights of this account."""
        return ["setpriv", "--reuid", self.name, "--regid", self.name, "--init-groups", "--no-new-privs", *command]

    def own(self, folder: Path) -> None:
        """Give a folder and all in it to this account."""
        entry = pwd.getpwnam(self.name)
        for path in (folder, *folder.rglob("*")):
            os.chown(path, entry.pw_uid, entry.pw_gid, follow_symlinks=False)


@contextmanager
def ordinary_account(name: str, home: Path) -> Iterator[Account]:
    """A new account without a password, which is gone afterwards together with its home folder."""
    subprocess.run(["useradd", "--home-dir", str(home), "--no-create-home", "--user-group", name], check=True)
    try:
        yield Account(name, home)
    finally:
        shutil.rmtree(home, ignore_errors=True)
        subprocess.run(["userdel", name], check=True)
