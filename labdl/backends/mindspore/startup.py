"""Import of MindSpore with its environment variables."""

import os
import warnings
from contextlib import contextmanager

import numpy as np


@contextmanager
def _environment(**values):
    """Set environment variables while MindSpore reads them; those of the user are kept."""
    added = [name for name in values if name not in os.environ]
    os.environ.update({name: values[name] for name in added})
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


# GLOG_v=3 silences MindSpore and makes Paddle verbose, so it must not outlive the import. ONEDNN_MAX_CPU_ISA: where oneDNN
# sees AVX-512 it computes the plain memory layout of MindSpore's convolutions to its reference kernel (1200 ms instead of
# 12 for 32x32x16x16 by 64x3x3); oneDNN reads the variable at its first operation, hence the product below.
with _environment(GLOG_v="3", ONEDNN_MAX_CPU_ISA="AVX2"), warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import mindspore
    from mindspore import Tensor
    from mindspore.ops import operations as P

    if mindspore.get_context("device_target") == "CPU":  # elsewhere the first operation would fix the device
        mindspore.set_context(pynative_synchronize=True)  # before it: if set later, idle threads keep spinning
        P.MatMul()(Tensor(np.ones((1, 1), "float32")), Tensor(np.ones((1, 1), "float32"))).asnumpy()
