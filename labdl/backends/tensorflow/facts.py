"""Facts about TensorFlow available without importing it."""

from labdl.backends.facts import FrameworkFacts

FACTS = FrameworkFacts(
    name="tensorflow",
    title="TensorFlow",
    distributions=("tensorflow", "tensorflow-cpu"),
    requires="tensorflow-cpu>=2.18",
    preference=2,
    class_roots=("keras",),
    checkpoint_format="keras",
    checkpoint_suffixes=(".weights.h5", ".h5", ".hdf5"),
    safetensors_format="tf",
)
