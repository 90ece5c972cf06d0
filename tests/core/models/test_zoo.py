"""Models by name: the zoo's entries are correct, and unknown names raise."""

import subprocess
import sys

import pytest

import labdl
from labdl import lab, models
from labdl.errors import ConfigError, ModelError
from labdl.models import zoo


@pytest.mark.sample(every=24)
@pytest.mark.parametrize("name", zoo.ZOO)
def test_each_has_the_published_number_of_parameters_and_can_be_traced(name):
    entry = zoo.ZOO[name]
    model = models.create(name)
    graph = labdl.trace(model, name=name)
    assert model.unfreeze().count_parameters() == entry.parameters  # published ones count what is not trained, too
    assert graph.name == name
    assert graph.check()[1] == []
    assert [graph.nodes[i].params["shape"] for i in graph.inputs()] == [spec.shape for spec in model.input_specs]


@pytest.mark.parametrize("name", zoo.ZOO)
def test_each_has_a_summary(name):
    entry = zoo.ZOO[name]
    assert len(entry.summary) > 10
    assert entry.paper.startswith("https://")
    assert all("default" in setting for setting in entry.schema()["properties"].values())
    assert name in models.list_models(entry.task)


def test_names_and_tasks():
    assert models.list_models() == sorted(zoo.ZOO)
    assert {"resnet50", "vit_b_16"} <= set(models.list_models("image classification"))
    assert "bert_base" not in models.list_models("image classification")
    with pytest.raises(
        ConfigError, match="no models for 'cooking'; its tasks: character recognition, image classification, "
    ):
        models.list_models("cooking")


def results(name, **settings):
    """The shapes that a model gives."""
    graph = labdl.trace(models.create(name, **settings))
    specs = graph.check()[0]
    return [spec.shape for i in graph.outputs() for spec in specs[i].values()]


def test_settings():
    assert results("resnet18", classes=10) == [(None, 10)]
    assert results("resnet18", classes=None) == [(None, 512)]
    assert models.create("vit_b_32", image_size=64).input_specs[0].shape == (None, 3, 64, 64)


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("resnet5", {}, "no model 'resnet5': did you mean resnet"),
        ("ResNet-50", {}, "did you mean resnet50"),
        ("", {}, r"list_models\(\) lists them"),
        ("resnet18", {"classes": "ten"}, "resnet18: classes wants an integer or nothing, received 'ten'"),
        ("resnet18", {"classes": True}, "received True"),
        ("resnet18", {"depth": 3}, "resnet18 has no setting 'depth'; its settings: classes"),
        ("bert_base", {"depth": 3}, "its settings: none"),
        ("resnet18", {"classes": 0}, "out_features wants an integer at least 1"),
    ],
)
def test_unknown_names_and_options(name, settings, message):
    with pytest.raises(ConfigError, match=message):
        labdl.trace(models.create(name, **settings))


def test_settings_that_do_not_fit_together():
    with pytest.raises(ModelError, match="must divide"):
        labdl.trace(models.create("vit_b_16", image_size=100))


def test_a_family_needs_nothing_but_its_registration(monkeypatch):
    monkeypatch.setattr(zoo, "ZOO", dict(zoo.ZOO))

    @zoo.register("counting", inputs=zoo.images(8, channels=1), parameters=650, paper="https://example.org")
    def tiny(classes: int = 10) -> labdl.nn.Module:
        """A small one."""
        return labdl.nn.Sequential(labdl.nn.Flatten(), labdl.nn.Linear(classes))

    assert models.list_models("counting") == ["tiny"]
    assert models.create("tiny", classes=3).build((None, 1, 8, 8), backend="numpy").count_parameters() == 195
    assert zoo.find("tiny").schema()["properties"] == {
        "classes": {"default": 10, "title": "Classes", "type": "integer"}
    }

    def resnet18():
        """Another of the same name."""

    with pytest.raises(ConfigError, match=r"has a model 'resnet18' already, that of labdl\.models\.vision\.resnet"):
        zoo.register("counting", inputs=zoo.images(), parameters=0, paper="")(resnet18)


def test_the_editor_takes_one_as_it_is():
    editor = lab.Editor(models.create("resnet18", classes=10))
    assert len(editor.graph.nodes) == 69
    editor.close()


@pytest.mark.sample(False)
def test_no_framework_is_needed():
    code = (
        "import sys\nfrom labdl.lab.editor import zoo\n"
        "assert len(zoo.graph('resnet50', {})['nodes']) == 175\n"
        "assert not {'torch', 'tensorflow', 'paddle', 'mindspore'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
