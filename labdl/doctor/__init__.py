"""Checks of an installation, for `labdl doctor`: each yields findings and changes nothing."""

from labdl.doctor.command import diagnose
from labdl.doctor.finding import Finding

__all__ = ["Finding", "diagnose"]
