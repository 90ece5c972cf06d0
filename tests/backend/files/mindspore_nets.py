"""The networks of the checkpoint tests in plain MindSpore, and their files, written by ``python mindspore_nets.py``."""

import sys

import mindspore
import numpy as np
from inputs import HERE, SHAPES, drawn, inputs_of
from mindspore import Parameter, Tensor, nn, ops

VALID = {"pad_mode": "valid", "has_bias": True}


class Separable(nn.Cell):
    def __init__(self, conv, into, inner, out, size):
        super().__init__()
        self.depthwise = conv(into, inner, size, pad_mode="valid", group=into)
        self.pointwise = conv(inner, out, 1, **VALID)

    def construct(self, x):
        return self.pointwise(self.depthwise(x))


class RMSNorm(nn.Cell):
    def __init__(self, size):
        super().__init__()
        self.gamma = Parameter(Tensor(np.ones(size, "float32")))

    def construct(self, x):
        return x * ops.rsqrt((x * x).mean(-1, keep_dims=True) + 1e-6) * self.gamma


class Image(nn.Cell):
    def __init__(self):
        super().__init__()
        self.mix = Separable(nn.Conv2d, 4, 4, 5, 3)
        self.stem = nn.SequentialCell(
            nn.Conv2d(3, 4, (3, 2), **VALID),
            nn.BatchNorm2d(4),
            nn.PReLU(4),
            nn.Conv2d(4, 8, 2, group=4, **VALID),
            nn.GroupNorm(2, 8),
            nn.Conv2d(8, 6, 1, group=2, pad_mode="valid"),
            InstanceNorm(6),
            nn.Conv2dTranspose(6, 4, 2, stride=2, **VALID),
        )
        self.head = nn.Dense(5, 3)

    def construct(self, x):
        return self.head(self.mix(self.stem(x)).mean((2, 3)))


class InstanceNorm(nn.Cell):
    """nn.InstanceNorm2d has no kernel for the CPU; these are its parameters and its formula."""

    def __init__(self, size):
        super().__init__()
        own = nn.InstanceNorm2d(size)
        self.moving_mean, self.moving_variance, self.gamma, self.beta = (
            own.moving_mean,
            own.moving_variance,
            own.gamma,
            own.beta,
        )

    def construct(self, x):
        mean, var = x.mean((2, 3), keep_dims=True), x.var((2, 3), keepdims=True)
        return (x - mean) / ops.sqrt(var + 1e-5) * self.gamma.view(1, -1, 1, 1) + self.beta.view(1, -1, 1, 1)


class Signal(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(3, 4, 3, **VALID)
        self.up = nn.Conv1dTranspose(4, 5, 3, stride=2, **VALID)
        self.each = nn.Conv1d(5, 10, 2, group=5, **VALID)
        self.mix = Separable(nn.Conv1d, 10, 20, 3, 2)

    def construct(self, x):
        return self.mix(self.each(self.up(self.conv(x))))


class Volume(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv3d(2, 3, 2, **VALID)
        self.up = nn.Conv3dTranspose(3, 2, 2, stride=2, **VALID)

    def construct(self, x):
        return self.up(self.conv(x))


class Sequence(nn.Cell):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(11, 6)
        self.lstm = nn.LSTM(6, 4, 2, bidirectional=True, batch_first=True)
        self.gru = nn.GRU(8, 3, bidirectional=True, batch_first=True)
        self.rnn = nn.RNN(6, 5, batch_first=True)
        self.norm = nn.LayerNorm((5,), epsilon=1e-5)
        self.head = nn.Dense(5, 2)

    def construct(self, x):
        x = self.words(x)
        for layer in (self.lstm, self.gru, self.rnn):
            x, _ = layer(x)
        return self.head(self.norm(x))


class Attention(nn.Cell):
    def __init__(self):
        super().__init__()
        self.own = nn.MultiheadAttention(6, 2, batch_first=True)
        self.scale = RMSNorm(6)
        self.other = nn.MultiheadAttention(6, 3, kdim=5, vdim=5, batch_first=True)

    def construct(self, x, context):
        x = self.scale(self.own(x, x, x)[0])
        return self.other(x, context, context)[0]


class Transformer(nn.Cell):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(6, 2, 7, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, nn.LayerNorm((6,), epsilon=1e-5))
        self.decoder = nn.TransformerDecoderLayer(6, 2, 7, batch_first=True)

    def construct(self, x, context):
        return self.decoder(x, self.encoder(context))


class Pairs(nn.Cell):
    def __init__(self):
        super().__init__()
        self.both = nn.BiDense(3, 4, 5)

    def construct(self, x, y):
        return self.both(x, y)


class Cells(nn.Cell):
    def __init__(self):
        super().__init__()
        self.lstm, self.gru, self.rnn = nn.LSTMCell(3, 4), nn.GRUCell(4, 5), nn.RNNCell(5, 2)

    def construct(self, x):
        zeros = [Tensor(np.zeros((x.shape[0], size), "float32")) for size in (4, 5, 2)]
        hidden, _ = self.lstm(x, (zeros[0], zeros[0]))
        return self.rnn(self.gru(hidden, zeros[1]), zeros[2])


class Parts(nn.Cell):
    def __init__(self):
        super().__init__()
        self.scale = Parameter(Tensor(np.ones(3, "float32")))
        self.blocks = nn.CellList([nn.Dense(3, 4), nn.Dense(4, 4)])
        self.heads = nn.CellDict({"low": nn.Dense(4, 2), "high": nn.Dense(4, 2)})
        self.shift = Parameter(Tensor(np.zeros(4, "float32")), requires_grad=False)

    def construct(self, x):
        x = x * self.scale
        for block in self.blocks:
            x = block(x)
        return self.heads["low"](x + self.shift) - self.heads["high"](x)


NETS = dict(zip(SHAPES, (Image, Signal, Volume, Sequence, Attention, Transformer, Pairs, Cells, Parts), strict=True))


def run(net, name):
    net.set_train(False)
    return net(*map(Tensor, inputs_of(name))).asnumpy()


def load(name, path):
    net = NETS[name]()
    missing, unexpected = mindspore.load_param_into_net(net, mindspore.load_checkpoint(str(path)), strict_load=True)
    assert not missing
    assert not unexpected
    return net


def write(name, folder):
    net, rng = NETS[name](), np.random.default_rng(3)
    for key, value in net.parameters_and_names():
        value.set_data(Tensor(drawn(value.shape, rng, key)))
    mindspore.save_checkpoint(net, str(folder / f"{name}.ckpt"))
    return run(net, name)


if __name__ == "__main__":
    (HERE / "mindspore").mkdir(exist_ok=True)
    np.savez(
        HERE / "mindspore" / "outputs.npz", **{name: write(name, HERE / "mindspore") for name in sys.argv[1:] or NETS}
    )
