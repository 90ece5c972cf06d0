"""Facts about a framework, available without importing it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class FrameworkFacts:
    """Facts about one framework, declared as ``FACTS`` in the ``facts.py`` of its folder.

    A folder with such a file is a backend: nothing else lists the backends. `labdl.framework_info` reads all of them.
    """

    name: str
    """Name of the backend, of its folder, and of the package that Python imports."""

    title: str
    """Name for people."""

    distributions: tuple[str, ...]
    """Names on PyPI under which the framework can be installed."""

    requires: str
    """The oldest version that works, as in ``pyproject.toml``: ``"torch>=2.5"``; "" if LabDL itself depends on it."""

    preference: int
    """Rank among the installed backends: the smallest is the default."""

    trains: bool = True
    """Whether the backend computes gradients."""

    class_roots: tuple[str, ...] = ()
    """Top-level packages whose modules belong to the backend, besides ``name``."""

    load_before: tuple[str, ...] = ()
    """Backends that make this one crash if their frameworks are loaded first."""

    built_for_numpy: str | None = None
    """A version of NumPy that works, if the framework fails with a newer major version."""

    checkpoint_format: str | None = None
    """Name of the native file format in `labdl.saving.native`."""

    checkpoint_suffixes: tuple[str, ...] = ()
    """Suffixes of the native file format, the usual one first."""

    safetensors_format: str | None = None
    """Name of the framework in the metadata of .safetensors files."""

    @property
    def install_command(self) -> str:
        """The command that installs the framework."""
        return f'pip install "labdl[{self.name}]"'

    @property
    def checkpoint_suffix(self) -> str:
        """The usual suffix of a native checkpoint, "" if the framework has none."""
        return self.checkpoint_suffixes[0] if self.checkpoint_suffixes else ""
