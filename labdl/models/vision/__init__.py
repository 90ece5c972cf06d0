"""Models of images."""

from labdl.models.vision import resnet, vit

__all__ = ["resnet", "vit"]
