"""Where the time of a training goes: waiting for data, forward by layer, loss, backward and update."""

from labdl.train.profiling.profile import LayerTime, Profile

__all__ = ["LayerTime", "Profile"]
