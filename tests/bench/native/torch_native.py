"""The steps as a PyTorch user writes them, eager and with torch.compile."""

import torch
from torch import nn


def _step(model, compiled):
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    loss_function = nn.CrossEntropyLoss()
    run = torch.compile(model) if compiled else model

    def step(x, y):
        inputs, targets = torch.tensor(x), torch.tensor(y)
        optimizer.zero_grad()
        loss = loss_function(run(inputs), targets)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def _steps(make):
    return {"eager": _step(make(), False), "compiled": _step(make(), True)}


def mlp():
    return _steps(lambda: nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10)))


def cnn():
    return _steps(
        lambda: nn.Sequential(
            nn.Conv2d(3, 32, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(64 * 8 * 8, 10),
        )
    )


def block():
    layer = lambda: nn.TransformerEncoderLayer(128, 4, 512, 0.1, batch_first=True)  # noqa: E731
    return _steps(lambda: nn.Sequential(layer(), nn.Flatten(), nn.Linear(64 * 128, 10)))


class _Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(64, 128, batch_first=True), nn.Linear(50 * 128, 10)

    def forward(self, x):
        return self.head(self.lstm(x)[0].flatten(1))


def lstm():
    return _steps(_Recurrent)
