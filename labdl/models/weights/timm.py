"""timm's weights on the Hugging Face Hub: names and preprocessing as in timm/models/*.py (1.0), the default of a model first.

Their names for ResNet are those of torchvision. Those that timm copies from torchvision, and those of licenses that allow
no commercial use, are left out; ``hf://timm/resnet50.fb_ssl_yfcc100m_ft_in1k`` loads them.
"""

from __future__ import annotations

from labdl.models.weights.weight_set import PicturePreprocessing, WeightSet

_HALF = (0.5, 0.5, 0.5)


def _set(model: str, name: str, preprocessing: PicturePreprocessing) -> WeightSet:
    return WeightSet(model, "timm", name, f"hf://timm/{model}.{name}/model.safetensors", preprocessing, "imagenet1k")


TIMM = (
    _set("resnet18", "a1_in1k", PicturePreprocessing(235, 224, "bicubic")),
    _set("resnet18", "a2_in1k", PicturePreprocessing(235, 224, "bicubic")),
    _set("resnet18", "a3_in1k", PicturePreprocessing(168, 160, "bicubic")),
    _set("resnet18", "gluon_in1k", PicturePreprocessing(256, 224, "bicubic")),
    _set("resnet34", "a1_in1k", PicturePreprocessing(235, 224, "bicubic")),
    _set("resnet34", "a2_in1k", PicturePreprocessing(235, 224, "bicubic")),
    _set("resnet34", "a3_in1k", PicturePreprocessing(168, 160, "bicubic")),
    _set("resnet34", "bt_in1k", PicturePreprocessing(256, 224, "bicubic")),
    _set("resnet34", "ra4_e3600_r224_in1k", PicturePreprocessing(248, 224, "bicubic", mean=_HALF, std=_HALF)),
    _set("resnet34", "gluon_in1k", PicturePreprocessing(256, 224, "bicubic")),
    _set("resnet50", "a1_in1k", PicturePreprocessing(235, 224, "bicubic")),
    _set("resnet50", "a1h_in1k", PicturePreprocessing(195, 176, "bicubic")),
    _set("resnet50", "a2_in1k", PicturePreprocessing(235, 224, "bicubic")),
    _set("resnet50", "a3_in1k", PicturePreprocessing(168, 160, "bicubic")),
    _set("resnet50", "b1k_in1k", PicturePreprocessing(235, 224, "bicubic")),
    _set("resnet50", "b2k_in1k", PicturePreprocessing(235, 224, "bicubic")),
    _set("resnet50", "c1_in1k", PicturePreprocessing(235, 224, "bicubic")),
    _set("resnet50", "c2_in1k", PicturePreprocessing(235, 224, "bicubic")),
    _set("resnet50", "d_in1k", PicturePreprocessing(235, 224, "bicubic")),
    _set("resnet50", "ram_in1k", PicturePreprocessing(256, 224, "bicubic")),
    _set("resnet50", "am_in1k", PicturePreprocessing(256, 224, "bicubic")),
    _set("resnet50", "ra_in1k", PicturePreprocessing(256, 224, "bicubic")),
    _set("resnet50", "bt_in1k", PicturePreprocessing(256, 224, "bicubic")),
    _set("resnet50", "gluon_in1k", PicturePreprocessing(256, 224, "bicubic")),
    _set("resnet101", "a1h_in1k", PicturePreprocessing(235, 224, "bicubic")),
    _set("resnet101", "a1_in1k", PicturePreprocessing(235, 224, "bicubic")),
    _set("resnet101", "a2_in1k", PicturePreprocessing(235, 224, "bicubic")),
    _set("resnet101", "a3_in1k", PicturePreprocessing(168, 160, "bicubic")),
    _set("resnet101", "gluon_in1k", PicturePreprocessing(256, 224, "bicubic")),
    _set("resnet152", "a1h_in1k", PicturePreprocessing(235, 224, "bicubic")),
    _set("resnet152", "a1_in1k", PicturePreprocessing(235, 224, "bicubic")),
    _set("resnet152", "a2_in1k", PicturePreprocessing(235, 224, "bicubic")),
    _set("resnet152", "a3_in1k", PicturePreprocessing(168, 160, "bicubic")),
    _set("resnet152", "gluon_in1k", PicturePreprocessing(256, 224, "bicubic")),
    _set("resnext50_32x4d", "a1h_in1k", PicturePreprocessing(235, 224, "bicubic")),
    _set("resnext50_32x4d", "a1_in1k", PicturePreprocessing(235, 224, "bicubic")),
    _set("resnext50_32x4d", "a2_in1k", PicturePreprocessing(235, 224, "bicubic")),
    _set("resnext50_32x4d", "a3_in1k", PicturePreprocessing(168, 160, "bicubic")),
    _set("resnext50_32x4d", "ra_in1k", PicturePreprocessing(256, 224, "bicubic")),
    _set("resnext50_32x4d", "gluon_in1k", PicturePreprocessing(256, 224, "bicubic")),
    _set("resnext101_32x4d", "gluon_in1k", PicturePreprocessing(256, 224, "bicubic")),
    _set("resnext101_64x4d", "c1_in1k", PicturePreprocessing(235, 224, "bicubic")),
    _set("resnext101_64x4d", "gluon_in1k", PicturePreprocessing(256, 224, "bicubic")),
    _set("wide_resnet50_2", "racm_in1k", PicturePreprocessing(256, 224, "bicubic")),
    _set("deit_tiny_patch16_224", "fb_in1k", PicturePreprocessing(248, 224, "bicubic")),
    _set("deit_small_patch16_224", "fb_in1k", PicturePreprocessing(248, 224, "bicubic")),
    _set("deit_base_patch16_224", "fb_in1k", PicturePreprocessing(248, 224, "bicubic")),
    _set("deit_tiny_distilled_patch16_224", "fb_in1k", PicturePreprocessing(248, 224, "bicubic")),
    _set("deit_small_distilled_patch16_224", "fb_in1k", PicturePreprocessing(248, 224, "bicubic")),
    _set("deit_base_distilled_patch16_224", "fb_in1k", PicturePreprocessing(248, 224, "bicubic")),
    _set("hrnet_w18_small", "gluon_in1k", PicturePreprocessing(256, 224, "bicubic")),
    _set("hrnet_w18_small", "ms_in1k", PicturePreprocessing(256, 224)),
    _set("hrnet_w18_small_v2", "gluon_in1k", PicturePreprocessing(256, 224, "bicubic")),
    _set("hrnet_w18_small_v2", "ms_in1k", PicturePreprocessing(256, 224)),
    _set("hrnet_w18", "ms_aug_in1k", PicturePreprocessing(235, 224)),
    _set("hrnet_w18", "ms_in1k", PicturePreprocessing(256, 224)),
    _set("hrnet_w30", "ms_in1k", PicturePreprocessing(256, 224)),
    _set("hrnet_w32", "ms_in1k", PicturePreprocessing(256, 224)),
    _set("hrnet_w40", "ms_in1k", PicturePreprocessing(256, 224)),
    _set("hrnet_w44", "ms_in1k", PicturePreprocessing(256, 224)),
    _set("hrnet_w48", "ms_in1k", PicturePreprocessing(256, 224)),
    _set("hrnet_w64", "ms_in1k", PicturePreprocessing(256, 224)),
)
