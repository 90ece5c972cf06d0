"""Facts about NumPy available without importing it."""

from labdl.backends.facts import FrameworkFacts

FACTS = FrameworkFacts(
    name="numpy",
    title="NumPy",
    distributions=("numpy",),
    requires="",
    preference=9,
    trains=False,
)
