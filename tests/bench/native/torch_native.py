"""Steps as an experienced PyTorch user writes them: fused kernels and activations in place; eager and with torch.compile."""

import numpy as np
import torch
from torch import nn

OPTIMIZERS = {  # PyTorch has no LAMB
    "sgd": lambda parameters: torch.optim.SGD(parameters, 0.01, fused=True),
    "momentum": lambda parameters: torch.optim.SGD(parameters, 0.01, 0.9, fused=True),
    "nesterov": lambda parameters: torch.optim.SGD(parameters, 0.01, 0.9, nesterov=True, fused=True),
    "adam": lambda parameters: torch.optim.Adam(parameters, 1e-3, fused=True),
    "adamw": lambda parameters: torch.optim.AdamW(parameters, 1e-3, fused=True),
    "rmsprop": lambda parameters: torch.optim.RMSprop(parameters, 0.01, foreach=True),
}


def steps(name: str, optimizer: str, clip: float | None = None) -> dict:
    if optimizer not in OPTIMIZERS:
        return {}
    return {kind: _step(model(name), optimizer, clip, kind == "compiled") for kind in ("eager", "compiled")}


def _step(model, optimizer, clip, compiled):
    rule = OPTIMIZERS[optimizer](model.parameters())
    loss_function = nn.CrossEntropyLoss()
    run = torch.compile(model) if compiled else model

    def step(x, y):
        inputs, targets = torch.tensor(x), torch.tensor(y)
        rule.zero_grad()
        loss = loss_function(run(inputs), targets)
        loss.backward()
        if clip:
            nn.utils.clip_grad_norm_(model.parameters(), clip, foreach=True)
        rule.step()
        return loss.item()

    return step


def epochs(name: str, batch: int) -> dict:
    """A function that trains an epoch with Adam, and returns its mean loss and accuracy: read once, at the end."""
    network, loss_function = model(name), nn.CrossEntropyLoss()
    rule = OPTIMIZERS["adam"](network.parameters())

    def run(x, y):
        x, y = torch.from_numpy(x), torch.from_numpy(y)
        order, total, right = torch.randperm(len(x)), torch.zeros(()), torch.zeros((), dtype=torch.int64)
        for rows in order.split(batch):
            inputs, targets = x[rows], y[rows]
            rule.zero_grad()
            output = network(inputs)
            loss = loss_function(output, targets)
            loss.backward()
            rule.step()
            total += loss.detach() * len(rows)
            right += (output.detach().argmax(-1) == targets).sum()
        return total.item() / len(x), right.item() / len(x)

    return {"eager": run}


def predictions(name: str, batch: int) -> dict:
    network = model(name).eval()

    @torch.inference_mode()
    def run(x):
        return np.concatenate([network(part).numpy() for part in torch.from_numpy(x).split(batch)])

    return {"eager": run}


def model(name: str) -> nn.Module:
    if name.startswith("deep"):
        pairs = [part for _ in range(int(name[4:]) // 2) for part in (nn.Linear(64, 64), nn.ReLU(inplace=True))]
        return nn.Sequential(*pairs, nn.Linear(64, 10))
    return MODELS[name]()


def _cnn():
    return nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(64 * 8 * 8, 10),
    )


def _block():
    layer = nn.TransformerEncoderLayer(128, 4, 512, 0.1, batch_first=True)
    return nn.Sequential(layer, nn.Flatten(), nn.Linear(64 * 128, 10))


class _Recurrent(nn.Module):
    def __init__(self, bidirectional=False):
        super().__init__()
        self.lstm = nn.LSTM(64, 128, batch_first=True, bidirectional=bidirectional)
        self.head = nn.Linear(50 * 128 * (1 + bidirectional), 10)

    def forward(self, x):
        return self.head(self.lstm(x)[0].flatten(1))


def _convolutions(inputs, outputs):
    parts = []
    for size in (inputs, outputs):
        parts += [nn.Conv2d(size, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True)]
    return nn.Sequential(*parts)


class _UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.middle = _convolutions(3, 16), _convolutions(16, 32), _convolutions(32, 64)
        self.pool = nn.MaxPool2d(2)
        self.enlarge_second, self.enlarge_first = nn.ConvTranspose2d(64, 32, 2, 2), nn.ConvTranspose2d(32, 16, 2, 2)
        self.decode_second, self.decode_first = _convolutions(64, 32), _convolutions(32, 16)
        self.head = nn.Conv2d(16, 10, 1)

    def forward(self, x):
        first = self.first(x)
        second = self.second(self.pool(first))
        middle = self.middle(self.pool(second))
        second = self.decode_second(torch.cat([second, self.enlarge_second(middle)], 1))
        return self.head(self.decode_first(torch.cat([first, self.enlarge_first(second)], 1)))


MODELS = {
    "mlp": lambda: nn.Sequential(nn.Linear(784, 256), nn.ReLU(inplace=True), nn.Linear(256, 10)),
    "cnn": _cnn,
    "block": _block,
    "lstm": _Recurrent,
    "bilstm": lambda: _Recurrent(bidirectional=True),
    "unet": _UNet,
}
