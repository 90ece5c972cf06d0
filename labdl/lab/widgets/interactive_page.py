"""Whether a page may show the widgets of the running cell."""

from __future__ import annotations

import os


def has_page() -> bool:
    """Whether somebody may look at the running cell.

    False for a cell that nbconvert, nbclient, papermill, Quarto or nbval runs: these do not take input (``allow_stdin`` of the
    Jupyter messaging protocol), and nobody can use a widget of the saved notebook, whose kernel has ended. Voilà runs
    cells in the same way, but keeps the kernel for its page.
    """
    from IPython.core.getipython import get_ipython

    kernel = getattr(get_ipython(), "kernel", None)
    if kernel is None:
        return True
    request = kernel.get_parent("shell") or {}
    takes_input = request.get("content", {}).get("allow_stdin", True)
    return bool(takes_input) or os.environ.get("SERVER_SOFTWARE", "").startswith("voila/")
