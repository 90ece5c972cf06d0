"""The networks of the checkpoint tests in plain PyTorch, and their files, written by ``python torch_nets.py``."""

import sys

import numpy as np
import torch
from inputs import HERE, SHAPES, drawn, inputs_of
from torch import nn


class Separable2d(nn.Module):
    def __init__(self, into, out):
        super().__init__()
        self.depthwise = nn.Conv2d(into, into, 3, groups=into, bias=False)
        self.pointwise = nn.Conv2d(into, out, 1)

    def forward(self, x):
        return self.pointwise(self.depthwise(x))


class Separable1d(nn.Module):
    def __init__(self, into, out):
        super().__init__()
        self.depthwise = nn.Conv1d(into, 2 * into, 2, groups=into, bias=False)
        self.pointwise = nn.Conv1d(2 * into, out, 1)

    def forward(self, x):
        return self.pointwise(self.depthwise(x))


class Image(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = Separable2d(4, 5)
        self.stem = nn.Sequential(
            nn.Conv2d(3, 4, (3, 2)),
            nn.BatchNorm2d(4),
            nn.PReLU(4),
            nn.Conv2d(4, 8, 2, groups=4),
            nn.GroupNorm(2, 8),
            nn.Conv2d(8, 6, 1, groups=2, bias=False),
            nn.InstanceNorm2d(6, affine=True),
            nn.ConvTranspose2d(6, 4, 2, stride=2),
        )
        self.head = nn.Linear(5, 3)

    def forward(self, x):
        return self.head(self.mix(self.stem(x)).mean((2, 3)))


class Signal(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(3, 4, 3)
        self.up = nn.ConvTranspose1d(4, 5, 3, stride=2)
        self.each = nn.Conv1d(5, 10, 2, groups=5)
        self.mix = Separable1d(10, 3)

    def forward(self, x):
        return self.mix(self.each(self.up(self.conv(x))))


class Volume(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv3d(2, 3, 2)
        self.up = nn.ConvTranspose3d(3, 2, 2, stride=2)

    def forward(self, x):
        return self.up(self.conv(x))


class Sequence(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(11, 6)
        self.lstm = nn.LSTM(6, 4, 2, bidirectional=True, batch_first=True)
        self.gru = nn.GRU(8, 3, bidirectional=True, batch_first=True)
        self.rnn = nn.RNN(6, 5, batch_first=True)
        self.norm = nn.LayerNorm(5)
        self.head = nn.Linear(5, 2)

    def forward(self, x):
        x = self.words(x)
        for layer in (self.lstm, self.gru, self.rnn):
            x, _ = layer(x)
        return self.head(self.norm(x))


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.own = nn.MultiheadAttention(6, 2, batch_first=True)
        self.scale = nn.RMSNorm(6, eps=1e-6)
        self.other = nn.MultiheadAttention(6, 3, kdim=5, vdim=5, batch_first=True)

    def forward(self, x, context):
        x = self.scale(self.own(x, x, x)[0])
        return self.other(x, context, context)[0]


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(6, 2, 7, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, nn.LayerNorm(6))
        self.decoder = nn.TransformerDecoderLayer(6, 2, 7, batch_first=True)

    def forward(self, x, context):
        return self.decoder(x, self.encoder(context))


class Pairs(nn.Module):
    def __init__(self):
        super().__init__()
        self.both = nn.Bilinear(3, 4, 5)

    def forward(self, x, y):
        return self.both(x, y)


class Cells(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.gru, self.rnn = nn.LSTMCell(3, 4), nn.GRUCell(4, 5), nn.RNNCell(5, 2)

    def forward(self, x):
        return self.rnn(self.gru(self.lstm(x)[0]))


class Parts(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.zeros(3))
        self.blocks = nn.ModuleList([nn.Linear(3, 4), nn.Linear(4, 4)])
        self.heads = nn.ModuleDict({"low": nn.Linear(4, 2), "high": nn.Linear(4, 2)})
        self.register_buffer("shift", torch.zeros(4))

    def forward(self, x):
        x = x * self.scale
        for block in self.blocks:
            x = block(x)
        return self.heads["low"](x + self.shift) - self.heads["high"](x)


NETS = dict(zip(SHAPES, (Image, Signal, Volume, Sequence, Attention, Transformer, Pairs, Cells, Parts), strict=True))


def run(net, name):
    with torch.no_grad():
        return net.eval()(*map(torch.from_numpy, inputs_of(name))).numpy()


def load(name, path):
    net = NETS[name]()
    if path.suffix == ".safetensors":
        from safetensors.torch import load_file

        net.load_state_dict(load_file(path))
    else:
        net.load_state_dict(torch.load(path, weights_only=True))
    return net


def write(name, folder):
    net, rng = NETS[name](), np.random.default_rng(1)
    for key, value in net.state_dict().items():
        if value.is_floating_point():
            value.copy_(torch.from_numpy(drawn(value.shape, rng, key)))
    torch.save(net.state_dict(), folder / f"{name}.pt")
    if name in ("image", "sequence"):
        from safetensors.torch import save_file

        save_file(net.state_dict(), folder / f"{name}.safetensors")
    return run(net, name)


if __name__ == "__main__":
    (HERE / "torch").mkdir(exist_ok=True)
    np.savez(HERE / "torch" / "outputs.npz", **{name: write(name, HERE / "torch") for name in sys.argv[1:] or NETS})
