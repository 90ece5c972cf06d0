"""Pretrained models of the Hugging Face Hub, or of folders in its form, on any backend."""

from labdl.models.pretrained.loading import PretrainedFolder, from_pretrained
from labdl.models.pretrained.saving import save_pretrained

__all__ = ["PretrainedFolder", "from_pretrained", "save_pretrained"]
