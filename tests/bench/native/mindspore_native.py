"""The steps as a MindSpore user writes them: eager (PyNative mode), and compiled with mindspore.jit."""

import mindspore
from mindspore import nn, ops


def _step(model, compiled):
    loss_function = nn.CrossEntropyLoss()
    optimizer = nn.SGD(model.trainable_params(), 0.01)

    def forward(inputs, targets):
        return loss_function(model(inputs), targets)

    gradient = mindspore.value_and_grad(forward, None, optimizer.parameters)

    def update(inputs, targets):
        loss, gradients = gradient(inputs, targets)
        return ops.depend(loss, optimizer(gradients))

    run = mindspore.jit(update) if compiled else update

    def step(x, y):
        return float(run(mindspore.Tensor(x), mindspore.Tensor(y.astype("int32"))).asnumpy())

    return step


def _steps(make):
    return {"eager": _step(make(), False), "compiled": _step(make(), True)}


def mlp():
    return _steps(lambda: nn.SequentialCell(nn.Dense(784, 256), nn.ReLU(), nn.Dense(256, 10)))


def cnn():
    return _steps(
        lambda: nn.SequentialCell(
            nn.Conv2d(3, 32, 3, pad_mode="same", has_bias=True),
            nn.ReLU(),
            nn.MaxPool2d(2, 2),
            nn.Conv2d(32, 64, 3, pad_mode="same", has_bias=True),
            nn.ReLU(),
            nn.MaxPool2d(2, 2),
            nn.Flatten(),
            nn.Dense(64 * 8 * 8, 10),
        )
    )


def block():
    layer = lambda: nn.TransformerEncoderLayer(128, 4, 512, 0.1, batch_first=True)  # noqa: E731
    return _steps(lambda: nn.SequentialCell(layer(), nn.Flatten(), nn.Dense(64 * 128, 10)))


class _Recurrent(nn.Cell):
    def __init__(self):
        super().__init__()
        self.lstm, self.flatten, self.head = nn.LSTM(64, 128, batch_first=True), nn.Flatten(), nn.Dense(50 * 128, 10)

    def construct(self, x):
        return self.head(self.flatten(self.lstm(x)[0]))


def lstm():
    return _steps(_Recurrent)
