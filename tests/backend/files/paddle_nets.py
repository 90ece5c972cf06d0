"""The networks of the checkpoint tests in plain PaddlePaddle, and their files, written by ``python paddle_nets.py``."""

import sys

import numpy as np
import paddle
from inputs import HERE, SHAPES, drawn, inputs_of
from paddle import nn


class Separable2d(nn.Layer):
    def __init__(self, into, out):
        super().__init__()
        self.depthwise = nn.Conv2D(into, into, 3, groups=into, bias_attr=False)
        self.pointwise = nn.Conv2D(into, out, 1)

    def forward(self, x):
        return self.pointwise(self.depthwise(x))


class Separable1d(nn.Layer):
    def __init__(self, into, out):
        super().__init__()
        self.depthwise = nn.Conv1D(into, 2 * into, 2, groups=into, bias_attr=False)
        self.pointwise = nn.Conv1D(2 * into, out, 1)

    def forward(self, x):
        return self.pointwise(self.depthwise(x))


class RMSNorm(nn.Layer):
    def __init__(self, size):
        super().__init__()
        self.weight = self.create_parameter([size])

    def forward(self, x):
        return x * paddle.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * self.weight


class Image(nn.Layer):
    def __init__(self):
        super().__init__()
        self.mix = Separable2d(4, 5)
        self.stem = nn.Sequential(
            nn.Conv2D(3, 4, (3, 2)),
            nn.BatchNorm2D(4),
            nn.PReLU(4),
            nn.Conv2D(4, 8, 2, groups=4),
            nn.GroupNorm(2, 8),
            nn.Conv2D(8, 6, 1, groups=2, bias_attr=False),
            nn.InstanceNorm2D(6),
            nn.Conv2DTranspose(6, 4, 2, stride=2),
        )
        self.head = nn.Linear(5, 3)

    def forward(self, x):
        return self.head(self.mix(self.stem(x)).mean([2, 3]))


class Signal(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1D(3, 4, 3)
        self.up = nn.Conv1DTranspose(4, 5, 3, stride=2)
        self.each = nn.Conv1D(5, 10, 2, groups=5)
        self.mix = Separable1d(10, 3)

    def forward(self, x):
        return self.mix(self.each(self.up(self.conv(x))))


class Volume(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv3D(2, 3, 2)
        self.up = nn.Conv3DTranspose(3, 2, 2, stride=2)

    def forward(self, x):
        return self.up(self.conv(x))


class Sequence(nn.Layer):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(11, 6)
        self.lstm = nn.LSTM(6, 4, 2, direction="bidirect")
        self.gru = nn.GRU(8, 3, direction="bidirect")
        self.rnn = nn.SimpleRNN(6, 5)
        self.norm = nn.LayerNorm(5)
        self.head = nn.Linear(5, 2)

    def forward(self, x):
        x = self.words(x)
        for layer in (self.lstm, self.gru, self.rnn):
            x, _ = layer(x)
        return self.head(self.norm(x))


class Attention(nn.Layer):
    def __init__(self):
        super().__init__()
        self.own = nn.MultiHeadAttention(6, 2)
        self.scale = RMSNorm(6)
        self.other = nn.MultiHeadAttention(6, 3, kdim=5, vdim=5)

    def forward(self, x, context):
        return self.other(self.scale(self.own(x)), context, context)


class Transformer(nn.Layer):
    def __init__(self):
        super().__init__()
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(6, 2, 7), 2, nn.LayerNorm(6))
        self.decoder = nn.TransformerDecoderLayer(6, 2, 7)

    def forward(self, x, context):
        return self.decoder(x, self.encoder(context))


class Pairs(nn.Layer):
    def __init__(self):
        super().__init__()
        self.both = nn.Bilinear(3, 4, 5)

    def forward(self, x, y):
        return self.both(x, y)


class Cells(nn.Layer):
    def __init__(self):
        super().__init__()
        self.lstm, self.gru, self.rnn = nn.LSTMCell(3, 4), nn.GRUCell(4, 5), nn.SimpleRNNCell(5, 2)

    def forward(self, x):
        return self.rnn(self.gru(self.lstm(x)[0])[0])[0]


class Parts(nn.Layer):
    def __init__(self):
        super().__init__()
        self.scale = self.create_parameter([3])
        self.blocks = nn.LayerList([nn.Linear(3, 4), nn.Linear(4, 4)])
        self.heads = nn.LayerDict({"low": nn.Linear(4, 2), "high": nn.Linear(4, 2)})
        self.register_buffer("shift", paddle.zeros([4]))

    def forward(self, x):
        x = x * self.scale
        for block in self.blocks:
            x = block(x)
        return self.heads["low"](x + self.shift) - self.heads["high"](x)


NETS = dict(zip(SHAPES, (Image, Signal, Volume, Sequence, Attention, Transformer, Pairs, Cells, Parts), strict=True))


def run(net, name):
    net.eval()
    with paddle.no_grad():
        return net(*map(paddle.to_tensor, inputs_of(name))).numpy()


def load(name, path):
    net = NETS[name]()
    missing, unexpected = net.set_state_dict(paddle.load(str(path)))
    assert not missing
    assert not unexpected
    return net


def write(name, folder):
    net, rng = NETS[name](), np.random.default_rng(2)
    for key, value in net.state_dict().items():
        value.set_value(drawn(value.shape, rng, key))
    paddle.save(net.state_dict(), str(folder / f"{name}.pdparams"))
    return run(net, name)


if __name__ == "__main__":
    (HERE / "paddle").mkdir(exist_ok=True)
    np.savez(HERE / "paddle" / "outputs.npz", **{name: write(name, HERE / "paddle") for name in sys.argv[1:] or NETS})
