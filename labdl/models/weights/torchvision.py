"""torchvision's weights: names, files and preprocessing as in torchvision/models/*.py (0.29), the default of a model first.

A file's name ends with the first digits of its SHA-256. The weights of VGG-16 for the features of SSD alone
(IMAGENET1K_FEATURES) are left out: their classifier holds no numbers.
"""

from __future__ import annotations

from typing import Any

from labdl.models.weights.weight_set import (
    IMAGENET_MEAN,
    IMAGENET_STD,
    ClipPreprocessing,
    Color,
    Interpolation,
    PicturePreprocessing,
    Preprocessing,
    WeightSet,
)

_HOST = "https://download.pytorch.org/models/"
_HALF = (0.5, 0.5, 0.5)


def _set(model: str, name: str, file: str, labels: str, preprocessing: Preprocessing, **settings: Any) -> WeightSet:
    return WeightSet(model, "torchvision", name, _HOST + file, preprocessing, labels, settings)


def _classes(
    model: str,
    name: str,
    file: str,
    resize: int,
    crop: int,
    interpolation: Interpolation = "bilinear",
    *,
    mean: Color = IMAGENET_MEAN,
    std: Color = IMAGENET_STD,
    **settings: Any,
) -> WeightSet:
    """Of a classifier of ImageNet's 1,000 classes."""
    preprocessing = PicturePreprocessing(resize, crop, interpolation, mean, std)
    return _set(model, name, file, "imagenet1k", preprocessing, **settings)


def _masks(model: str, name: str, file: str, resize: int) -> WeightSet:
    """Of a semantic segmentation of VOC's 21 classes."""
    return _set(model, name, file, "voc", PicturePreprocessing(resize))


def _clips(model: str, name: str, file: str, resize: tuple[int, int], crop: int) -> WeightSet:
    """Of a classifier of Kinetics' 400 classes."""
    return _set(model, name, file, "kinetics400", ClipPreprocessing(resize, crop))


TORCHVISION = (
    _classes("resnet18", "IMAGENET1K_V1", "resnet18-f37072fd.pth", 256, 224),
    _classes("resnet34", "IMAGENET1K_V1", "resnet34-b627a593.pth", 256, 224),
    _classes("resnet50", "IMAGENET1K_V2", "resnet50-11ad3fa6.pth", 232, 224),
    _classes("resnet50", "IMAGENET1K_V1", "resnet50-0676ba61.pth", 256, 224),
    _classes("resnet101", "IMAGENET1K_V2", "resnet101-cd907fc2.pth", 232, 224),
    _classes("resnet101", "IMAGENET1K_V1", "resnet101-63fe2227.pth", 256, 224),
    _classes("resnet152", "IMAGENET1K_V2", "resnet152-f82ba261.pth", 232, 224),
    _classes("resnet152", "IMAGENET1K_V1", "resnet152-394f9c45.pth", 256, 224),
    _classes("resnext50_32x4d", "IMAGENET1K_V2", "resnext50_32x4d-1a0047aa.pth", 232, 224),
    _classes("resnext50_32x4d", "IMAGENET1K_V1", "resnext50_32x4d-7cdf4587.pth", 256, 224),
    _classes("resnext101_32x8d", "IMAGENET1K_V2", "resnext101_32x8d-110c445d.pth", 232, 224),
    _classes("resnext101_32x8d", "IMAGENET1K_V1", "resnext101_32x8d-8ba56ff5.pth", 256, 224),
    _classes("resnext101_64x4d", "IMAGENET1K_V1", "resnext101_64x4d-173b62eb.pth", 232, 224),
    _classes("wide_resnet50_2", "IMAGENET1K_V2", "wide_resnet50_2-9ba9bcbe.pth", 232, 224),
    _classes("wide_resnet50_2", "IMAGENET1K_V1", "wide_resnet50_2-95faca4d.pth", 256, 224),
    _classes("wide_resnet101_2", "IMAGENET1K_V2", "wide_resnet101_2-d733dc28.pth", 232, 224),
    _classes("wide_resnet101_2", "IMAGENET1K_V1", "wide_resnet101_2-32ee1156.pth", 256, 224),
    _classes("vgg11", "IMAGENET1K_V1", "vgg11-8a719046.pth", 256, 224),
    _classes("vgg13", "IMAGENET1K_V1", "vgg13-19584684.pth", 256, 224),
    _classes("vgg16", "IMAGENET1K_V1", "vgg16-397923af.pth", 256, 224),
    _classes("vgg19", "IMAGENET1K_V1", "vgg19-dcbb9e9d.pth", 256, 224),
    _classes("vgg11_bn", "IMAGENET1K_V1", "vgg11_bn-6002323d.pth", 256, 224),
    _classes("vgg13_bn", "IMAGENET1K_V1", "vgg13_bn-abd245e5.pth", 256, 224),
    _classes("vgg16_bn", "IMAGENET1K_V1", "vgg16_bn-6c64b313.pth", 256, 224),
    _classes("vgg19_bn", "IMAGENET1K_V1", "vgg19_bn-c79401a0.pth", 256, 224),
    _classes("efficientnet_b0", "IMAGENET1K_V1", "efficientnet_b0_rwightman-7f5810bc.pth", 256, 224, "bicubic"),
    _classes("efficientnet_b1", "IMAGENET1K_V2", "efficientnet_b1-c27df63c.pth", 255, 240),
    _classes("efficientnet_b1", "IMAGENET1K_V1", "efficientnet_b1_rwightman-bac287d4.pth", 256, 240, "bicubic"),
    _classes("efficientnet_b2", "IMAGENET1K_V1", "efficientnet_b2_rwightman-c35c1473.pth", 288, 288, "bicubic"),
    _classes("efficientnet_b3", "IMAGENET1K_V1", "efficientnet_b3_rwightman-b3899882.pth", 320, 300, "bicubic"),
    _classes("efficientnet_b4", "IMAGENET1K_V1", "efficientnet_b4_rwightman-23ab8bcd.pth", 384, 380, "bicubic"),
    _classes("efficientnet_b5", "IMAGENET1K_V1", "efficientnet_b5_lukemelas-1a07897c.pth", 456, 456, "bicubic"),
    _classes("efficientnet_b6", "IMAGENET1K_V1", "efficientnet_b6_lukemelas-24a108a5.pth", 528, 528, "bicubic"),
    _classes("efficientnet_b7", "IMAGENET1K_V1", "efficientnet_b7_lukemelas-c5b4e57e.pth", 600, 600, "bicubic"),
    _classes("efficientnet_v2_s", "IMAGENET1K_V1", "efficientnet_v2_s-dd5fe13b.pth", 384, 384),
    _classes("efficientnet_v2_m", "IMAGENET1K_V1", "efficientnet_v2_m-dc08266a.pth", 480, 480),
    _classes(
        "efficientnet_v2_l",
        "IMAGENET1K_V1",
        "efficientnet_v2_l-59c71312.pth",
        480,
        480,
        "bicubic",
        mean=_HALF,
        std=_HALF,
    ),
    _classes("vit_b_16", "IMAGENET1K_V1", "vit_b_16-c867db91.pth", 256, 224),
    _classes("vit_b_16", "IMAGENET1K_SWAG_E2E_V1", "vit_b_16_swag-9ac1b537.pth", 384, 384, "bicubic", image_size=384),
    _classes("vit_b_16", "IMAGENET1K_SWAG_LINEAR_V1", "vit_b_16_lc_swag-4e70ced5.pth", 224, 224, "bicubic"),
    _classes("vit_b_32", "IMAGENET1K_V1", "vit_b_32-d86f8d99.pth", 256, 224),
    _classes("vit_l_16", "IMAGENET1K_V1", "vit_l_16-852ce7e3.pth", 242, 224),
    _classes("vit_l_16", "IMAGENET1K_SWAG_E2E_V1", "vit_l_16_swag-4f3808c9.pth", 512, 512, "bicubic", image_size=512),
    _classes("vit_l_16", "IMAGENET1K_SWAG_LINEAR_V1", "vit_l_16_lc_swag-4d563306.pth", 224, 224, "bicubic"),
    _classes("vit_l_32", "IMAGENET1K_V1", "vit_l_32-c7638314.pth", 256, 224),
    _classes("vit_h_14", "IMAGENET1K_SWAG_E2E_V1", "vit_h_14_swag-80465313.pth", 518, 518, "bicubic"),
    _classes(
        "vit_h_14", "IMAGENET1K_SWAG_LINEAR_V1", "vit_h_14_lc_swag-c1eb923e.pth", 224, 224, "bicubic", image_size=224
    ),
    _masks("deeplabv3_resnet50", "COCO_WITH_VOC_LABELS_V1", "deeplabv3_resnet50_coco-cd0a2569.pth", 520),
    _masks("deeplabv3_resnet101", "COCO_WITH_VOC_LABELS_V1", "deeplabv3_resnet101_coco-586e9e4e.pth", 520),
    _clips("s3d", "KINETICS400_V1", "s3d-d76dad2f.pth", (256, 256), 224),
    _clips("r3d_18", "KINETICS400_V1", "r3d_18-b3b3357e.pth", (128, 171), 112),
    _clips("mc3_18", "KINETICS400_V1", "mc3_18-a90a0ba3.pth", (128, 171), 112),
    _clips("r2plus1d_18", "KINETICS400_V1", "r2plus1d_18-91a641e6.pth", (128, 171), 112),
)
