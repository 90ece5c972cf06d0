"""The steps as a PyTorch user writes them."""

import torch
from torch import nn


def _step(model):
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    loss_function = nn.CrossEntropyLoss()

    def step(x, y):
        inputs, targets = torch.tensor(x), torch.tensor(y)
        optimizer.zero_grad()
        loss = loss_function(model(inputs), targets)
        loss.backward()
        optimizer.step()
        return loss.item()

    return {"eager torch": step}


def mlp():
    return _step(nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10)))


def cnn():
    return _step(nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(64 * 8 * 8, 10),
    ))  # fmt: skip
