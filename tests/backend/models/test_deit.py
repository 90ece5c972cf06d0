"""DeiT on one backend against the network of its paper in plain PyTorch, under timm's names."""

import numpy as np
import pytest
import torch

import labdl
from labdl import models
from labdl.models.vision.deit import DeiT

T = torch.nn
FEATURES, HEADS, LAYERS, CLASSES = 12, 3, 2, 5


class Attention(T.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.proj = T.Linear(FEATURES, 3 * FEATURES), T.Linear(FEATURES, FEATURES)

    def forward(self, x):
        batch, steps, _ = x.shape
        size = FEATURES // HEADS
        q, k, v = self.qkv(x).reshape(batch, steps, 3, HEADS, size).permute(2, 0, 3, 1, 4)
        shares = torch.softmax(q @ k.transpose(-2, -1) / size**0.5, -1)
        return self.proj((shares @ v).transpose(1, 2).reshape(batch, steps, FEATURES))


class Block(T.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = T.LayerNorm(FEATURES, 1e-6), T.LayerNorm(FEATURES, 1e-6)
        self.attn = Attention()
        self.mlp = T.ModuleDict({"fc1": T.Linear(FEATURES, 20), "fc2": T.Linear(20, FEATURES)})

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp["fc2"](T.functional.gelu(self.mlp["fc1"](self.norm2(x))))


class Net(T.Module):
    def __init__(self, distilled):
        super().__init__()
        tokens = 1 + distilled
        self.cls_token = T.Parameter(torch.randn(1, 1, FEATURES))
        self.patch_embed = T.ModuleDict({"proj": T.Conv2d(3, FEATURES, 4, 4)})
        self.pos_embed = T.Parameter(torch.randn(1, tokens + 6, FEATURES))
        self.blocks = T.ModuleList(Block() for _ in range(LAYERS))
        self.norm, self.head = T.LayerNorm(FEATURES, 1e-6), T.Linear(FEATURES, CLASSES)
        if distilled:
            self.dist_token, self.head_dist = T.Parameter(torch.randn(1, 1, FEATURES)), T.Linear(FEATURES, CLASSES)

    def forward(self, x):
        patches = self.patch_embed["proj"](x).flatten(2).transpose(1, 2)
        tokens = [self.cls_token, self.dist_token] if hasattr(self, "dist_token") else [self.cls_token]
        x = torch.cat([*(token.expand(len(x), -1, -1) for token in tokens), patches], 1) + self.pos_embed
        for block in self.blocks:
            x = block(x)
        x = self.norm(x)
        return (self.head(x[:, 0]), self.head_dist(x[:, 1])) if len(tokens) == 2 else (self.head(x[:, 0]),)


@pytest.mark.sample(backends=1)
@pytest.mark.parametrize("distilled", [False, True])
def test_deit_equals_the_papers_network(distilled, backend):
    torch.manual_seed(0)
    native = Net(distilled).eval()
    model = DeiT((8, 12), 4, LAYERS, HEADS, FEATURES, 20, classes=CLASSES, distilled=distilled)
    model.separate_heads = distilled
    model.build((None, 3, 8, 12), backend=backend.name)
    assert models.load_public(model, native.state_dict()).loaded == list(model.state_dict())
    x = np.random.default_rng(0).normal(size=(2, 3, 8, 12)).astype("float32")
    with torch.no_grad():
        expected = [y.numpy() for y in native(torch.from_numpy(x))]
    result = model.train()(backend.tensor(x))
    for ours, theirs in zip(result if distilled else [result], expected, strict=True):
        np.testing.assert_allclose(labdl.to_numpy(ours), theirs, atol=2e-5)
    np.testing.assert_allclose(labdl.to_numpy(model.eval()(backend.tensor(x))), np.mean(expected, 0), atol=2e-5)
    assert models.public_state_dict(model).keys() == native.state_dict().keys()


def test_separate_heads_are_those_of_a_distilled_model():
    with pytest.raises(ValueError, match="give distilled=True"):
        DeiT(separate_heads=True)
