"""Makes a development install look like the wheel's: JupyterLab finds the built front end and the server extension."""

import os
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PREFIX = Path(sys.prefix)


def main() -> None:
    built = ROOT / "labdl" / "lab" / "labextension"
    if not (built / "package.json").exists():
        sys.exit("The front end has not been built: run `make front`.")
    link = PREFIX / "share" / "jupyter" / "labextensions" / "labdl"
    link.parent.mkdir(parents=True, exist_ok=True)
    if link.is_symlink():
        link.unlink()
    elif link.exists():
        shutil.rmtree(link)  # the copy that the install made would grow stale
    os.symlink(built, link, target_is_directory=True)
    config = PREFIX / "etc" / "jupyter" / "jupyter_server_config.d"
    config.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / "jupyter-config" / "server-config" / "labdl.json", config)


if __name__ == "__main__":
    main()
