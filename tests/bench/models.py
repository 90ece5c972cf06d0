"""The models of the benchmarks of training, and the shapes of what they are fed."""

from labdl import nn, ops


def mlp():
    """784-256-10, batch 64."""
    return nn.Sequential(nn.Linear(256), nn.ReLU(), nn.Linear(10)), (64, 784)


def cnn():
    """3 × 32 × 32, batch 32: two convolutions with pooling, one linear layer."""
    model = nn.Sequential(
        nn.Conv2d(32, padding="same"),
        nn.ReLU(),
        nn.MaxPool2d(),
        nn.Conv2d(64, padding="same"),
        nn.ReLU(),
        nn.MaxPool2d(),
        nn.Flatten(),
        nn.Linear(10),
    )
    return model, (32, 3, 32, 32)


def block():
    """One encoder layer of a transformer: 16 sequences of 64 steps, 128 features, 4 heads, 512 hidden ones, dropout 0.1."""
    model = nn.Sequential(nn.TransformerEncoderLayer(4, feed_forward=512, rate=0.1), nn.Flatten(), nn.Linear(10))
    return model, (16, 64, 128)


class Recurrent(nn.Module):
    def __init__(self, bidirectional: bool):
        super().__init__()
        self.lstm, self.flatten, self.head = nn.LSTM(128, bidirectional=bidirectional), nn.Flatten(), nn.Linear(10)

    def forward(self, x):
        return self.head(self.flatten(self.lstm(x)[0]))


def lstm():
    """One LSTM layer of 128 over 50 steps of 64 features, batch 32, and a linear layer."""
    return Recurrent(bidirectional=False), (32, 50, 64)


def bilstm():
    """The same in both directions."""
    return Recurrent(bidirectional=True), (32, 50, 64)


def convolutions(channels: int):
    parts = [
        part
        for _ in range(2)
        for part in (nn.Conv2d(channels, padding="same", use_bias=False), nn.BatchNorm(), nn.ReLU())
    ]
    return nn.Sequential(*parts)


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.middle = convolutions(16), convolutions(32), convolutions(64)
        self.pool = nn.MaxPool2d()
        self.enlarge_second = nn.ConvTranspose2d(32, kernel_size=2, stride=2)
        self.enlarge_first = nn.ConvTranspose2d(16, kernel_size=2, stride=2)
        self.decode_second, self.decode_first = convolutions(32), convolutions(16)
        self.head = nn.Conv2d(10, kernel_size=1)

    def forward(self, x):
        first = self.first(x)
        second = self.second(self.pool(first))
        middle = self.middle(self.pool(second))
        second = self.decode_second(ops.concat([second, self.enlarge_second(middle)], axis=1))
        y = self.head(self.decode_first(ops.concat([first, self.enlarge_first(second)], axis=1)))
        return ops.permute_dims(y, (0, 2, 3, 1))  # the loss wants the classes on the last axis


def unet():
    """A U-Net of 16, 32 and 64 channels on 3 × 64 × 64, batch 4; a class for each pixel."""
    return UNet(), (4, 3, 64, 64)


def deep(layers: int):
    """Linear layers of 64 features and ReLUs by turns, batch 32."""
    pairs = [part for _ in range(layers // 2) for part in (nn.Linear(64), nn.ReLU())]
    return nn.Sequential(*pairs, nn.Linear(10)), (32, 64)


DEPTHS = (10, 100, 500)
MODELS = {make.__name__: make for make in (mlp, cnn, block, lstm, bilstm, unet)}
MODELS |= {f"deep{layers}": lambda layers=layers: deep(layers) for layers in DEPTHS}


def target_shape(name: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    return (shape[0], *shape[2:]) if name == "unet" else shape[:1]
