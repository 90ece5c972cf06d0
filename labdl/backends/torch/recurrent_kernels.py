"""Kernels that torch.compile leaves out; a file of its own, because marking them imports torch._dynamo (a second)."""

from typing import Any

import torch

# torch.compile leaves out torch.nn.LSTM and GRU too; what it makes of the kernel for CPUs fails when it is run (2.13)
_disable: Any = torch.compiler.disable
lstm, gru = (_disable(f, reason="it leaves recurrent layers out") for f in (torch.lstm, torch.gru))
