"""The steps as a MindSpore user writes them: PyNative, and compiled with mindspore.jit."""

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
    return {"mindspore PyNative": _step(make(), False), "mindspore.jit": _step(make(), True)}


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
