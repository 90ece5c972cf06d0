"""The steps as a PaddlePaddle user writes them, eager and with paddle.jit.to_static."""

import paddle
from paddle import nn


def _step(model, compiled):
    optimizer = paddle.optimizer.SGD(0.01, parameters=model.parameters())
    loss_function = nn.CrossEntropyLoss()
    run = paddle.jit.to_static(model, full_graph=True) if compiled else model

    def step(x, y):
        inputs, targets = paddle.to_tensor(x), paddle.to_tensor(y)
        loss = loss_function(run(inputs), targets)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return float(loss)

    return step


def _steps(make):
    return {"eager": _step(make(), False), "compiled": _step(make(), True)}


def mlp():
    return _steps(lambda: nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10)))


def cnn():
    return _steps(
        lambda: nn.Sequential(
            nn.Conv2D(3, 32, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2D(2),
            nn.Conv2D(32, 64, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2D(2),
            nn.Flatten(),
            nn.Linear(64 * 8 * 8, 10),
        )
    )


def block():
    return _steps(
        lambda: nn.Sequential(nn.TransformerEncoderLayer(128, 4, 512, 0.1), nn.Flatten(), nn.Linear(64 * 128, 10))
    )


class _Recurrent(nn.Layer):
    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(64, 128), nn.Linear(50 * 128, 10)

    def forward(self, x):
        return self.head(self.lstm(x)[0].flatten(1))


def lstm():
    return _steps(_Recurrent)
