"""Pictures with the channels last are refused by the first training of a model that takes them first."""

import numpy as np
import pytest

from labdl import models, nn
from labdl.errors import ConfigError
from labdl.train import Trainer

Y = np.arange(4) % 2


def net(**options):
    return nn.Sequential(nn.Conv2d(2, 3, **options), nn.ReLU(), nn.Flatten(), nn.Linear(2))


class Own(nn.Module):
    def setup(self, x):
        self.body = net()

    def forward(self, x):
        return self.body(x)


@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("model", [net, Own, lambda: models.create("resnet18", classes=2)])
def test_channels_last_are_refused(model, channels):
    x = np.zeros((4, 12, 14, channels), "float32")
    message = (
        rf"\(N, 12, 14, {channels}\) look like .* the layer \S+ \(Conv2d\) takes .*: give x\.transpose\(0, 3, 1, 2\)"
    )
    with pytest.raises(ConfigError, match=message):
        Trainer(model(), backend="torch").fit(x, Y, progress=False)


@pytest.mark.parametrize(
    ("model", "shape"),
    [
        (net, (3, 12, 14)),
        (net, (12, 14, 5)),
        (net, (4, 4, 3)),
        (lambda: net(data_format="channels_last"), (12, 14, 3)),
        (lambda: net().build((None, 12, 14, 3), backend="torch"), (12, 14, 3)),
        (lambda: nn.Sequential(nn.Flatten(), nn.Linear(2)), (12, 14, 3)),
        (lambda: nn.Sequential(nn.Permute((0, 3, 1, 2)), net()), (12, 14, 3)),
    ],
)
def test_other_pictures_are_taken(model, shape):
    Trainer(model(), backend="torch").fit(np.zeros((4, *shape), "float32"), Y, progress=False)
