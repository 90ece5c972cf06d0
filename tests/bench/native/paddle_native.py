"""The steps as a PaddlePaddle user writes them."""

import paddle
from paddle import nn


def _step(model):
    optimizer = paddle.optimizer.SGD(0.01, parameters=model.parameters())
    loss_function = nn.CrossEntropyLoss()

    def step(x, y):
        inputs, targets = paddle.to_tensor(x), paddle.to_tensor(y)
        loss = loss_function(model(inputs), targets)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return float(loss)

    return {"eager paddle": step}


def mlp():
    return _step(nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10)))


def cnn():
    return _step(nn.Sequential(
        nn.Conv2D(3, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2D(2),
        nn.Conv2D(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2D(2),
        nn.Flatten(), nn.Linear(64 * 8 * 8, 10),
    ))  # fmt: skip
