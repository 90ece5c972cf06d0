"""Images and clips that a network of the zoo cannot take are refused by a sentence before its first layer."""

import re

import pytest

from labdl import models
from labdl.errors import ModelError
from labdl.models.zoo import ZOO
from labdl.spec import Spec

# model, shapes of its inputs, and the message
REFUSED = [
    ("unet", [(None, 3, 8, 64)], "UNet wants (H, W) of at least (16, 16), received (None, 3, 8, 64)"),
    ("unet", [(None, 3, 64)], "UNet wants 4 axes (N, C, H, W), received (None, 3, 64)"),
    ("unet_paper", [(None, 1, 100, 572)], "UNet wants (H, W) of at least (188, 188)"),
    ("unet_resnet18", [(None, 3, 64, 50)], "ResNetUNet wants sizes (H, W) that are multiples of 32"),
    ("deeplabv3plus_resnet18", [(None, 3, 40, 64)], "multiples of 16, received (None, 3, 40, 64): pad or resize"),
    ("s3d", [(None, 3, 12, 224, 224)], "S3D wants (T, H, W) of at least (13, 209, 209)"),
    ("r3d_18", [(None, 3, 112, 112)], "VideoResNet wants 5 axes (N, C, T, H, W)"),
    ("slowfast_r50", [(None, 3, 8, 64, 64), (None, 3, 8, 64, 64)], "SlowFast wants 4 times as many frames"),
    ("pfld", [(None, 3, 96, 112)], "PFLD wants (H, W) of at least (112, 112)"),
    ("pfld", [(None, 3, 128, 112)], "PFLD wants (H, W) of at most 112"),
    ("openpose_body", [(None, 3, 7, 64)], "OpenPose wants (H, W) of at least (8, 8)"),
]


@pytest.mark.parametrize(("name", "shapes", "message"), REFUSED)
def test_sizes_that_a_network_cannot_take(name, shapes, message):
    model = models.create(name)
    with pytest.raises(ModelError, match=re.escape(message)):
        model.build(*map(Spec, shapes), backend="numpy")


def test_the_smallest_sizes_are_right():
    for name, shape in (("unet_paper", (None, 1, 188, 188)), ("s3d", (None, 3, 13, 209, 209))):
        models.create(name)._shapes_of(Spec(shape))


@pytest.mark.parametrize("name", ["unet", "unet_resnet18", "deeplabv3_resnet50", "r3d_18", "slow_r50", "openpose_body"])
def test_sizes_may_be_open(name):
    (spec,) = models.create(name).input_specs
    model = models.create(name)
    open_spec = Spec((*spec.shape[:2], *(None,) * (len(spec.shape) - 2)))
    assert model._shapes_of(open_spec) is not None
    assert model.count_parameters() == ZOO[name].parameters
