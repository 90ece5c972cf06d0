"""Converts Paddle models (3.3.1) with paddle2onnx 2.1.0: ``python make_paddle.py``."""

import sys
import tempfile

import numpy as np
import paddle
import paddle2onnx
from paddle import nn
from paddle.static import InputSpec
from recording import path, record


class Attention(nn.Layer):
    def __init__(self):
        super().__init__()
        self.net = nn.TransformerEncoderLayer(8, 2, 12)

    def forward(self, x):
        return self.net(x)


class Last(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embed, self.net, self.head = nn.Embedding(9, 4), nn.GRU(4, 5), nn.Linear(5, 2)

    def forward(self, x):
        return self.head(self.net(self.embed(x))[0][:, -1])


def cnn():
    return nn.Sequential(
        nn.Conv2D(2, 4, 3, padding=1), nn.BatchNorm2D(4), nn.ReLU(), nn.MaxPool2D(2), nn.Conv2DTranspose(4, 2, 2, stride=2),
        nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(2, 3),
    )  # fmt: skip


def mlp():
    return nn.Sequential(nn.Linear(6, 5), nn.GELU(), nn.LayerNorm(5), nn.Dropout(0.2), nn.Linear(5, 3), nn.Softmax())


MODELS = {
    "cnn": (cnn, (2, 8, 8), "float32"),
    "mlp": (mlp, (6,), "float32"),
    "attention": (Attention, (5, 8), "float32"),
    "gru": (Last, (6,), "int64"),
}

if __name__ == "__main__":
    for name in sys.argv[1:] or MODELS:
        make, shape, dtype = MODELS[name]
        paddle.seed(0)
        model = make()
        model.eval()
        with tempfile.TemporaryDirectory() as folder:
            static = paddle.jit.to_static(model, input_spec=[InputSpec([None, *shape], dtype, "x")], full_graph=True)
            paddle.jit.save(static, f"{folder}/net")
            paddle2onnx.export(
                f"{folder}/net.json", f"{folder}/net.pdiparams", str(path("paddle2onnx", name)), opset_version=17
            )
        draw = np.random.default_rng(0)
        cases = []
        for batch in (2, 3):
            x = draw.integers(0, 9, (batch, *shape)) if dtype == "int64" else draw.standard_normal((batch, *shape))
            x = x.astype(dtype)
            cases.append(([x], [model(paddle.to_tensor(x)).numpy()]))
        record("paddle2onnx", name, cases)
