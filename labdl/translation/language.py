"""The language of a terminal or a kernel, from the environment."""

from __future__ import annotations

import os


def asked_language() -> str:
    """The language that the environment asks for: LABDL_LANGUAGE, else LC_ALL, LC_MESSAGES or LANG; "en" without one.

    Examples:
        >>> import os
        >>> os.environ["LABDL_LANGUAGE"] = "zh_CN.UTF-8"
        >>> asked_language()
        'zh_CN'
        >>> del os.environ["LABDL_LANGUAGE"]
    """
    for name in ("LABDL_LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        if value := os.environ.get(name):
            return value.partition(".")[0]
    return "en"
