"""A new head for another number of classes, on one backend: the rest of the model stays."""

import numpy as np
import pytest

import labdl
from labdl import nn, ops
from labdl.errors import ConfigError, ModelError
from labdl.models.text.bert import SMALL, BertForPreTraining, BertForSequenceClassification
from labdl.models.vision.resnet import BasicBlock, ResNet
from labdl.models.vision.vit import VisionTransformer
from labdl.spec import Spec
from labdl.train import EMA, Trainer

pytestmark = pytest.mark.sample(backends=1)

IMAGE = Spec((None, 3, 16, 16))
TOKENS = Spec((None, 5), "int64")


class Backwards(nn.Module):
    """Defines its head first, with layers without parameters after it in the forward."""

    def __init__(self):
        self.head, self.aux, self.soft = nn.Conv2d(4, kernel_size=1), nn.Linear(7), nn.Softmax(axis=-1)
        self.body, self.norm = nn.Conv2d(6), nn.BatchNorm()

    def forward(self, x):
        x = self.norm(self.body(x))
        if self.training:
            self.aux(ops.mean(x, axis=(2, 3)))
        return self.soft(ops.mean(self.head(ops.relu(x)), axis=(2, 3)))


class Plain(nn.Module):
    def __init__(self):
        self.body, self.fc, self.drop = nn.Linear(4), nn.Linear(3), nn.Dropout(0.1)

    def forward(self, x):
        return self.drop(self.fc(ops.relu(self.body(x))))


# model, inputs, and the path of its head
MODELS = {
    "resnet": (lambda: ResNet(BasicBlock, (1, 1), classes=3, channels=4), IMAGE, "head"),
    "vit": (lambda: VisionTransformer(16, 8, 1, 2, 8, 16, classes=3), IMAGE, "head"),
    "bert": (lambda: BertForSequenceClassification(SMALL, 3), TOKENS, "classifier"),
    "head first": (Backwards, IMAGE, "head"),
    "sequential": (
        lambda: nn.Sequential(nn.Conv2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(3), nn.Softmax()),
        IMAGE,
        "3",
    ),
    "graph": (lambda: labdl.trace(ResNet(BasicBlock, (1, 1), classes=3, channels=4), IMAGE).to_module(), IMAGE, "head"),
    "plain": (Plain, Spec((None, 5)), "fc"),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_built_model_gets_a_new_head_and_keeps_the_rest(backend, name):
    make, spec, path = MODELS[name]
    model = make().build(spec, backend=backend.name, seed=0).eval()
    before = model.state_dict()
    assert model.replace_head(5) is model
    after = model.state_dict()
    assert {key.rpartition("/")[0] for key in after if after[key].shape != before[key].shape} == {path}
    assert all(np.array_equal(after[key], before[key]) for key in before if not key.startswith(f"{path}/"))
    assert after.keys() == before.keys()
    assert model.output_specs.shape[-1] == 5
    assert not any(part.training for part in model.modules())
    x = np.ones((2, *spec.shape[1:]), spec.dtype)
    assert labdl.predict(model, x).shape == (2, 5)


@pytest.mark.parametrize("name", [name for name in MODELS if name != "head first"])
def test_a_model_that_is_not_built_gets_a_new_head(backend, name):
    make, spec, path = MODELS[name]
    model = make().replace_head(5).build(spec, backend=backend.name, seed=0)
    assert model.output_specs.shape == (None, 5)
    assert model.state_dict()[f"{path}/bias:0"].shape == (5,)


def test_the_new_head_of_a_frozen_model_is_trained_and_the_rest_is_not(backend):
    model = MODELS["resnet"][0]().build(IMAGE, backend=backend.name, seed=0)
    model.freeze().replace_head(2)
    before = model.state_dict()
    x = np.random.default_rng(0).normal(size=(4, 3, 16, 16)).astype("float32")
    Trainer(model, optimizer="adam").fit(x, np.arange(4) % 2, epochs=1, progress=False)
    moved = [key for key, value in model.state_dict().items() if not np.array_equal(value, before[key])]
    assert moved == ["head/kernel:0", "head/bias:0"]


@pytest.mark.sample(backends=1)
@pytest.mark.parametrize("classes", [3, 5, 500])
def test_a_trainer_goes_on_with_a_new_head(backend, classes):
    """The optimizer and the averages keep their state of the body, and have none of the former head."""
    random = np.random.default_rng(0)
    x, y = random.normal(size=(8, 5)).astype("float32"), random.integers(0, 3, 8)
    model = Plain().build((None, 5), backend=backend.name, seed=0)
    trainer = Trainer(model, optimizer="adam", average=EMA(0.9))
    trainer.fit(x, y, epochs=2, batch_size=8, progress=False)
    model.replace_head(classes)
    trainer.fit(x, y, epochs=1, batch_size=8, progress=False)
    state = trainer.state.phases[0].optimizer.state_dict()
    assert (state["step"], state["fc/kernel:0/step"]) == (3, 1)
    assert state["fc/kernel:0/mean"].shape == state["fc/kernel:0/square"].shape == (4, classes)
    assert trainer.state.averages.state_dict()["values"]["fc/bias:0"].shape == (classes,)
    history = trainer.fit(x, y, epochs=30, batch_size=8, progress=False)
    assert np.isfinite(history["loss"]).all()


def test_models_of_the_zoo_know_their_inputs_and_so_their_heads():
    model = labdl.models.create("resnet18", classes=10).replace_head(4)
    assert not model.built
    assert (model.head.out_features, model.output_specs.shape) == (4, (None, 4))


def test_a_tied_head_is_no_longer_tied(backend):
    class Language(nn.Module):
        def __init__(self):
            self.words, self.first, self.head = nn.Embedding(6, 4), nn.Linear(4), nn.Linear(4, use_bias=False)
            self.tie("head/kernel:0", to="first/kernel:0")

        def forward(self, x):
            return self.head(self.first(self.words(x)))

    model = Language()
    model.build(Spec((None, 2), "int64"), backend=backend.name, seed=0)
    assert "head/kernel:0" not in model.state_dict()
    model.replace_head(7)
    assert model.state_dict()["head/kernel:0"].shape == (4, 7)


def test_where_the_head_is_not_clear_its_path_is_asked_for(backend):
    features = ResNet(BasicBlock, (1, 1), classes=None, channels=4).build(IMAGE, backend=backend.name)
    with pytest.raises(
        ModelError, match=r"last layer with parameters of ResNet is a BatchNorm, which is no head: give its"
    ):
        features.replace_head(2)
    two = BertForPreTraining(SMALL).build(TOKENS, backend=backend.name)
    with pytest.raises(ModelError, match=r"has 2 outputs, .*; it has .*'next_sentence'"):
        two.replace_head(4)
    assert two.replace_head(4, path="next_sentence").output_specs[1].shape == (None, 4)
    with pytest.raises(
        ModelError, match="bert/encoder of BertForPreTraining is a TransformerEncoder: a head is one of"
    ):
        two.replace_head(4, path="bert/encoder")
    shuffled = nn.Sequential(nn.Conv2d(8), nn.PixelShuffle(2)).build(IMAGE, backend=backend.name)
    with pytest.raises(ModelError, match=r"gives 8 channels and the model \(None, 2, 28, 28\), so it is no head"):
        shuffled.replace_head(2)
    with pytest.raises(ModelError, match="the model is its own head, a Linear"):
        nn.Linear(3).build((None, 2), backend=backend.name).replace_head(2)
    with pytest.raises(ConfigError, match="out_features"):
        two.replace_head(0, path="next_sentence")
