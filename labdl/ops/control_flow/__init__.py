"""Control flow on values of tensors: branches, loops, and functions over slices (JAX's meaning, Keras's names)."""

from labdl.ops.control_flow.cond import cond
from labdl.ops.control_flow.scan import scan
from labdl.ops.control_flow.vmap import vmap
from labdl.ops.control_flow.while_loop import while_loop

__all__ = ["cond", "scan", "vmap", "while_loop"]
