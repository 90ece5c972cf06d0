"""Facts about PyTorch available without importing it."""

from labdl.backends.facts import FrameworkFacts

FACTS = FrameworkFacts(
    name="torch",
    title="PyTorch",
    distributions=("torch",),
    requires="torch>=2.5",
    preference=1,
    checkpoint_format="torch",
    checkpoint_suffixes=(".pt", ".pth", ".bin"),
    safetensors_format="pt",
)
