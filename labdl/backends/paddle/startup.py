"""Import of PaddlePaddle without its messages."""

import os
import warnings

# glog reads these once, while Paddle loads. GLOG_v=3 means "errors only" for MindSpore and "verbose" for Paddle.
_LEVEL, _VERBOSITY = "GLOG_minloglevel", "GLOG_v"
_before = {key: os.environ.pop(key, None) for key in (_LEVEL, _VERBOSITY)}
os.environ[_LEVEL] = _before[_LEVEL] or "2"  # Paddle warns at each promotion of a dtype
with warnings.catch_warnings():
    warnings.simplefilter("ignore", UserWarning)  # "No ccache found"
    import paddle  # noqa: F401
del os.environ[_LEVEL]
os.environ.update({key: value for key, value in _before.items() if value is not None})
