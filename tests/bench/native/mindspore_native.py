"""Steps as an experienced MindSpore user writes them: eager (PyNative mode), and compiled with mindspore.jit."""

import mindspore
import numpy as np
from mindspore import nn, ops

OPTIMIZERS = {  # mindspore.jit does not compile nn.Lamb
    "sgd": lambda parameters: nn.SGD(parameters, 0.01),
    "momentum": lambda parameters: nn.Momentum(parameters, 0.01, 0.9),
    "nesterov": lambda parameters: nn.Momentum(parameters, 0.01, 0.9, use_nesterov=True),
    "adam": lambda parameters: nn.Adam(parameters, 1e-3),
    "adamw": lambda parameters: nn.AdamWeightDecay(parameters, 1e-3, weight_decay=0.01),
    "rmsprop": lambda parameters: nn.RMSProp(parameters, 0.01),
}


def steps(name: str, optimizer: str, clip: float | None = None) -> dict:
    if optimizer not in OPTIMIZERS:
        return {}
    return {kind: _step(model(name), optimizer, clip, kind == "compiled") for kind in ("eager", "compiled")}


def _step(model, optimizer, clip, compiled):
    loss_function = nn.CrossEntropyLoss()
    rule = OPTIMIZERS[optimizer](model.trainable_params())

    def forward(inputs, targets):
        return loss_function(model(inputs), targets)

    gradient = mindspore.value_and_grad(forward, None, rule.parameters)

    def update(inputs, targets):
        loss, gradients = gradient(inputs, targets)
        if clip:
            gradients = ops.clip_by_global_norm(gradients, clip)
        return ops.depend(loss, rule(gradients))

    run = mindspore.jit(update) if compiled else update

    def step(x, y):
        return float(run(mindspore.Tensor(x), mindspore.Tensor(y.astype("int32"))).asnumpy())

    return step


def epochs(name: str, batch: int) -> dict:
    """A function that trains an epoch with Adam, and returns its mean loss and accuracy: read once, at the end."""
    network, loss_function = model(name), nn.CrossEntropyLoss()
    rule = OPTIMIZERS["adam"](network.trainable_params())

    def forward(inputs, targets):
        output = network(inputs)
        return loss_function(output, targets), output

    gradient = mindspore.value_and_grad(forward, None, rule.parameters, has_aux=True)

    @mindspore.jit
    def update(inputs, targets):
        (loss, output), gradients = gradient(inputs, targets)
        right = (output.argmax(-1) == targets).sum()
        return ops.depend(loss, rule(gradients)), right

    def run(x, y):
        order, losses, right = np.random.permutation(len(x)), [], []
        for at in range(0, len(x), batch):
            rows = order[at : at + batch]
            found = update(mindspore.Tensor(x[rows]), mindspore.Tensor(y[rows].astype("int32")))
            losses.append(found[0])
            right.append(found[1])
        total = sum(float(loss.asnumpy()) * min(batch, len(x) - n * batch) for n, loss in enumerate(losses))
        return total / len(x), sum(int(n.asnumpy()) for n in right) / len(x)

    return {"compiled": run}


def predictions(name: str, batch: int) -> dict:
    network = model(name).set_train(False)

    @mindspore.jit
    def forward(inputs):
        return network(inputs)

    def run(x):
        parts = [forward(mindspore.Tensor(x[at : at + batch])).asnumpy() for at in range(0, len(x), batch)]
        return np.concatenate(parts)

    return {"compiled": run}


def model(name: str) -> nn.Cell:
    if name.startswith("deep"):
        pairs = [part for _ in range(int(name[4:]) // 2) for part in (nn.Dense(64, 64), nn.ReLU())]
        return nn.SequentialCell(*pairs, nn.Dense(64, 10))
    return MODELS[name]()


def _cnn():
    return nn.SequentialCell(
        nn.Conv2d(3, 32, 3, pad_mode="same", has_bias=True),
        nn.ReLU(),
        nn.MaxPool2d(2, 2),
        nn.Conv2d(32, 64, 3, pad_mode="same", has_bias=True),
        nn.ReLU(),
        nn.MaxPool2d(2, 2),
        nn.Flatten(),
        nn.Dense(64 * 8 * 8, 10),
    )


def _block():
    layer = nn.TransformerEncoderLayer(128, 4, 512, 0.1, batch_first=True)
    return nn.SequentialCell(layer, nn.Flatten(), nn.Dense(64 * 128, 10))


class _Recurrent(nn.Cell):
    def __init__(self, bidirectional=False):
        super().__init__()
        self.lstm = nn.LSTM(64, 128, batch_first=True, bidirectional=bidirectional)
        self.flatten, self.head = nn.Flatten(), nn.Dense(50 * 128 * (1 + bidirectional), 10)

    def construct(self, x):
        return self.head(self.flatten(self.lstm(x)[0]))


def _convolutions(inputs, outputs):
    parts = []
    for size in (inputs, outputs):
        parts += [nn.Conv2d(size, outputs, 3, pad_mode="same"), nn.BatchNorm2d(outputs), nn.ReLU()]
    return nn.SequentialCell(*parts)


class _UNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.middle = _convolutions(3, 16), _convolutions(16, 32), _convolutions(32, 64)
        self.pool = nn.MaxPool2d(2, 2)
        self.enlarge_second = nn.Conv2dTranspose(64, 32, 2, 2, has_bias=True)
        self.enlarge_first = nn.Conv2dTranspose(32, 16, 2, 2, has_bias=True)
        self.decode_second, self.decode_first = _convolutions(64, 32), _convolutions(32, 16)
        self.head = nn.Conv2d(16, 10, 1, has_bias=True)

    def construct(self, x):
        first = self.first(x)
        second = self.second(self.pool(first))
        middle = self.middle(self.pool(second))
        second = self.decode_second(ops.cat((second, self.enlarge_second(middle)), 1))
        return self.head(self.decode_first(ops.cat((first, self.enlarge_first(second)), 1)))


MODELS = {
    "mlp": lambda: nn.SequentialCell(nn.Dense(784, 256), nn.ReLU(), nn.Dense(256, 10)),
    "cnn": _cnn,
    "block": _block,
    "lstm": _Recurrent,
    "bilstm": lambda: _Recurrent(bidirectional=True),
    "unet": _UNet,
}
