"""A model with the weights of a file, and its inference, are the same on every backend."""

import numpy as np
import pytest

from labdl import models
from labdl.infer import Inference
from labdl.models import zoo
from labdl.models.vision.resnet import BasicBlock, ResNet
from labdl.models.weights import PicturePreprocessing


@pytest.mark.sample(backends=1)
def test_inference_with_a_file(backend, tmp_path, monkeypatch):
    monkeypatch.setattr(zoo, "ZOO", dict(zoo.ZOO))

    @zoo.register("image classification", inputs=zoo.images(16), parameters=0, paper="https://example.org")
    def small_resnet(classes: int | None = 7) -> ResNet:
        """A small one."""
        return ResNet(BasicBlock, (1, 1, 1, 1), classes=classes, channels=4)

    np.savez(tmp_path / "small.npz", **models.public_state_dict(models.create("small_resnet").build(backend="numpy")))
    picture = np.random.default_rng(0).integers(0, 256, (20, 30, 3), dtype=np.uint8)

    def probabilities(name):
        found = Inference.of(
            "small_resnet", tmp_path / "small.npz", preprocess=PicturePreprocessing(18, 16), backend=name
        )
        return found.infer_one(picture).probabilities

    np.testing.assert_allclose(probabilities(backend.name), probabilities("numpy"), rtol=1e-4)
    with pytest.warns(UserWarning, match="all but the head is loaded"):
        model = models.create("small_resnet", classes=2, weights=tmp_path / "small.npz", backend=backend.name)
    assert models.public_state_dict(model)["fc.bias"].shape == (2,)
