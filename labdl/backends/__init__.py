"""The frameworks that LabDL runs on, one folder each, found by listing this one.

A folder has a ``facts.py``, which imports nothing of the framework (`labdl.backends.facts`), and a ``backend.py`` with the
members of `labdl.backends.protocol.Backend`. A backend imports its framework, `labdl.spec`, `labdl.interop.weights`,
`labdl.call_logging` and the modules beside the folders, nothing else.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from labdl.dispatch import default, device_of, devices, get, load, to_device, use
    from labdl.framework_info import available
    from labdl.framework_info import installed_backends as installed

__all__ = ["available", "default", "device_of", "devices", "get", "installed", "load", "to_device", "use"]


def __getattr__(name: str):
    """The public functions, imported when asked for: they import the facts of the folders here themselves."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from labdl import dispatch, framework_info

    if name == "installed":
        return framework_info.installed_backends
    return getattr(framework_info if name == "available" else dispatch, name)


def __dir__() -> list[str]:
    return __all__
