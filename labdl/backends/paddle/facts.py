"""Facts about PaddlePaddle available without importing it."""

from labdl.backends.facts import FrameworkFacts

FACTS = FrameworkFacts(
    name="paddle",
    title="PaddlePaddle",
    distributions=("paddlepaddle", "paddlepaddle-gpu"),
    requires="paddlepaddle>=3.0",
    preference=3,
    load_before=("tensorflow",),  # with TensorFlow's symbols in the process Paddle crashes while it loads
    checkpoint_format="paddle",
    checkpoint_suffixes=(".pdparams",),
    safetensors_format="pd",
)
