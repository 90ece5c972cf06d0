"""Steps as an experienced PaddlePaddle user writes them, eager and with paddle.jit.to_static."""

import numpy as np
import paddle
from paddle import nn

OPTIMIZERS = {
    "sgd": lambda **given: paddle.optimizer.SGD(0.01, **given),
    "momentum": lambda **given: paddle.optimizer.Momentum(0.01, 0.9, use_multi_tensor=True, **given),
    "nesterov": lambda **given: paddle.optimizer.Momentum(0.01, 0.9, use_nesterov=True, use_multi_tensor=True, **given),
    "adam": lambda **given: paddle.optimizer.Adam(1e-3, use_multi_tensor=True, **given),
    "adamw": lambda **given: paddle.optimizer.AdamW(1e-3, **given),
    "rmsprop": lambda **given: paddle.optimizer.RMSProp(0.01, **given),
    "lamb": lambda **given: paddle.optimizer.Lamb(1e-3, **given),
}


def steps(name: str, optimizer: str, clip: float | None = None) -> dict:
    return {kind: _step(model(name), name, optimizer, clip, kind == "compiled") for kind in ("eager", "compiled")}


def _step(model, name, optimizer, clip, compiled):
    rule = OPTIMIZERS[optimizer](
        parameters=model.parameters(), grad_clip=paddle.nn.ClipGradByGlobalNorm(clip) if clip else None
    )
    loss_function = nn.CrossEntropyLoss(axis=1 if name == "unet" else -1)
    run = paddle.jit.to_static(model, full_graph=True) if compiled else model

    def step(x, y):
        inputs, targets = paddle.to_tensor(x), paddle.to_tensor(y)
        loss = loss_function(run(inputs), targets)
        loss.backward()
        rule.step()
        rule.clear_grad()
        return float(loss)

    return step


def epochs(name: str, batch: int) -> dict:
    """A function that trains an epoch with Adam, and returns its mean loss and accuracy: read once, at the end."""
    network, loss_function = model(name), nn.CrossEntropyLoss()
    rule = OPTIMIZERS["adam"](parameters=network.parameters())

    def run(x, y):
        order, losses, right = np.random.permutation(len(x)), [], []
        for at in range(0, len(x), batch):
            rows = order[at : at + batch]
            inputs, targets = paddle.to_tensor(x[rows]), paddle.to_tensor(y[rows])
            output = network(inputs)
            loss = loss_function(output, targets)
            loss.backward()
            rule.step()
            rule.clear_grad()
            losses.append(loss.detach() * len(rows))
            right.append((output.detach().argmax(-1) == targets).sum())
        return float(paddle.add_n(losses)) / len(x), float(paddle.add_n(right)) / len(x)

    return {"eager": run}


def predictions(name: str, batch: int) -> dict:
    network = model(name)
    network.eval()

    @paddle.no_grad()
    def run(x):
        parts = [network(paddle.to_tensor(x[at : at + batch])).numpy() for at in range(0, len(x), batch)]
        return np.concatenate(parts)

    return {"eager": run}


def model(name: str) -> nn.Layer:
    if name.startswith("deep"):
        pairs = [part for _ in range(int(name[4:]) // 2) for part in (nn.Linear(64, 64), nn.ReLU())]
        return nn.Sequential(*pairs, nn.Linear(64, 10))
    return MODELS[name]()


def _cnn():
    return nn.Sequential(
        nn.Conv2D(3, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2D(2),
        nn.Conv2D(32, 64, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2D(2),
        nn.Flatten(),
        nn.Linear(64 * 8 * 8, 10),
    )


class _Recurrent(nn.Layer):
    def __init__(self, direction="forward"):
        super().__init__()
        self.lstm = nn.LSTM(64, 128, direction=direction)
        self.head = nn.Linear(50 * 128 * (1 if direction == "forward" else 2), 10)

    def forward(self, x):
        return self.head(self.lstm(x)[0].flatten(1))


def _convolutions(inputs, outputs):
    parts = []
    for size in (inputs, outputs):
        parts += [nn.Conv2D(size, outputs, 3, padding=1, bias_attr=False), nn.BatchNorm2D(outputs), nn.ReLU()]
    return nn.Sequential(*parts)


class _UNet(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.middle = _convolutions(3, 16), _convolutions(16, 32), _convolutions(32, 64)
        self.pool = nn.MaxPool2D(2)
        self.enlarge_second, self.enlarge_first = nn.Conv2DTranspose(64, 32, 2, 2), nn.Conv2DTranspose(32, 16, 2, 2)
        self.decode_second, self.decode_first = _convolutions(64, 32), _convolutions(32, 16)
        self.head = nn.Conv2D(16, 10, 1)

    def forward(self, x):
        first = self.first(x)
        second = self.second(self.pool(first))
        middle = self.middle(self.pool(second))
        second = self.decode_second(paddle.concat([second, self.enlarge_second(middle)], 1))
        return self.head(self.decode_first(paddle.concat([first, self.enlarge_first(second)], 1)))


MODELS = {
    "mlp": lambda: nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10)),
    "cnn": _cnn,
    "block": lambda: nn.Sequential(nn.TransformerEncoderLayer(128, 4, 512, 0.1), nn.Flatten(), nn.Linear(64 * 128, 10)),
    "lstm": _Recurrent,
    "bilstm": lambda: _Recurrent("bidirect"),
    "unet": _UNet,
}
