"""The networks of the checkpoint tests in LabDL."""

from inputs import SHAPES

from labdl import nn, ops


class Image(nn.Module):
    def __init__(self):
        self.mix = nn.SeparableConv2d(5, 3)
        self.stem = nn.Sequential(
            nn.Conv2d(4, (3, 2)),
            nn.BatchNorm(),
            nn.PReLU(shared=False),
            nn.DepthwiseConv2d(2, multiplier=2),
            nn.GroupNorm(2),
            nn.Conv2d(6, 1, groups=2, use_bias=False),
            nn.InstanceNorm(affine=True),
            nn.ConvTranspose2d(4, 2, stride=2),
        )
        self.head = nn.Linear(3)

    def forward(self, x):
        return self.head(ops.mean(self.mix(self.stem(x)), axis=(2, 3)))


class Signal(nn.Module):
    def __init__(self):
        self.conv = nn.Conv1d(4, 3)
        self.up = nn.ConvTranspose1d(5, 3, stride=2)
        self.each = nn.DepthwiseConv1d(2, multiplier=2)
        self.mix = nn.SeparableConv1d(3, 2, multiplier=2)

    def forward(self, x):
        return self.mix(self.each(self.up(self.conv(x))))


class Volume(nn.Module):
    def __init__(self):
        self.conv = nn.Conv3d(3, 2)
        self.up = nn.ConvTranspose3d(2, 2, stride=2)

    def forward(self, x):
        return self.up(self.conv(x))


class Sequence(nn.Module):
    def __init__(self):
        self.words = nn.Embedding(11, 6)
        self.lstm = nn.LSTM(4, layers=2, bidirectional=True)
        self.gru = nn.GRU(3, bidirectional=True)
        self.rnn = nn.RNN(5)
        self.norm = nn.LayerNorm()
        self.head = nn.Linear(2)

    def forward(self, x):
        x = self.words(x)
        for layer in (self.lstm, self.gru, self.rnn):
            x = layer(x)[0]
        return self.head(self.norm(x))


class Attention(nn.Module):
    def __init__(self):
        self.own = nn.MultiHeadAttention(2)
        self.scale = nn.RMSNorm()
        self.other = nn.MultiHeadAttention(3)

    def forward(self, x, context):
        return self.other(self.scale(self.own(x)), context)


class Transformer(nn.Module):
    def __init__(self):
        self.encoder = nn.TransformerEncoder(heads=2, feed_forward=7, layers=2, final_norm=True)
        self.decoder = nn.TransformerDecoderLayer(heads=2, feed_forward=7, causal=False)

    def forward(self, x, context):
        return self.decoder(x, self.encoder(context))


class Pairs(nn.Module):
    def __init__(self):
        self.both = nn.Bilinear(5)

    def forward(self, x, y):
        return self.both(x, y)


class Cells(nn.Module):
    def __init__(self):
        self.lstm, self.gru, self.rnn = nn.LSTMCell(4), nn.GRUCell(5), nn.RNNCell(2)

    def forward(self, x):
        return self.rnn(self.gru(self.lstm(x)[0]))


class Parts(nn.Module):
    def __init__(self):
        self.scale = nn.Parameter((3,), "ones")
        self.blocks = nn.ModuleList([nn.Linear(4), nn.Linear(4)])
        self.heads = nn.ModuleDict({"low": nn.Linear(2), "high": nn.Linear(2)})
        self.shift = nn.Buffer((4,))

    def forward(self, x):
        x = x * self.scale
        for block in self.blocks:
            x = block(x)
        return self.heads["low"](x + self.shift) - self.heads["high"](x)


NETS = dict(zip(SHAPES, (Image, Signal, Volume, Sequence, Attention, Transformer, Pairs, Cells, Parts), strict=True))
