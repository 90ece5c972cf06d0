"""Facts about MindSpore available without importing it."""

from labdl.backends.facts import FrameworkFacts

FACTS = FrameworkFacts(
    name="mindspore",
    title="MindSpore",
    distributions=("mindspore",),
    requires="mindspore>=2.10",
    preference=4,
    load_before=("paddle",),  # with Paddle's oneDNN in place of its own MindSpore does not find a symbol
    built_for_numpy="1.26.4",
    checkpoint_format="mindspore",
    checkpoint_suffixes=(".ckpt",),
    safetensors_format="np",
)
