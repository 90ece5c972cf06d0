"""Pretrained folders on one backend: outputs equal to those of the public library that saved them, and saved again."""

import json
from pathlib import Path

import numpy as np
import pytest

import labdl
from labdl import models

HUB = Path(__file__).parents[2] / "oracles" / "hub"
FOLDERS = sorted(path.parent.name for path in HUB.glob("*/expected.npz"))


def expected(folder: str) -> dict[str, np.ndarray]:
    with np.load(HUB / folder / "expected.npz") as file:
        return {name: file[name] for name in file.files}


def outputs(model, values) -> list[np.ndarray]:
    """The outputs for the inputs of the file, in the order of the model."""
    if model.pretrained.config["model_type"] == "xlnet":
        inputs = [values["x:input_ids"], None, None, values["x:attention_mask"]]
    elif "x:pixel_values" in values or "x:input_features" in values:
        names = ("x:pixel_values", "x:input_features", "x:decoder_input_ids")
        inputs = [values[name] for name in names if name in values]
    elif "x:decoder_input_ids" in values:
        inputs = [values["x:input_ids"], values["x:decoder_input_ids"], values["x:attention_mask"]]
    else:
        names = ("x:input_ids", "x:attention_mask", "x:token_type_ids")
        inputs = [values[name] for name in names if name in values]
    result = model(*inputs)
    return [labdl.to_numpy(part) for part in (result if isinstance(result, tuple) else (result,))]


def compare(model, values) -> None:
    wanted = [
        values[name] for name in ("y:logits", "y:prediction_logits", "y:seq_relationship_logits") if name in values
    ]
    given = outputs(model, values)
    assert len(given) == len(wanted)
    for ours, theirs in zip(given, wanted, strict=True):
        if ours.ndim == 3 and "x:attention_mask" in values:  # the rest is padding
            counts = values["x:attention_mask"].astype(bool)
            ours, theirs = ours[counts], theirs[counts]
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=max(1e-6, 2e-5 * np.abs(theirs).max()))


@pytest.mark.sample(every=20)
@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_computes_what_its_library_computes(folder, backend):
    model = models.from_pretrained(HUB / folder, backend=backend.name)
    assert model.backend == backend.name
    assert not model.training
    compare(model, expected(folder))


@pytest.mark.sample(backends=1, every=20)
@pytest.mark.parametrize("folder", FOLDERS)
def test_a_saved_folder_computes_the_same(folder, backend, tmp_path):
    model = models.from_pretrained(HUB / folder, backend=backend.name)
    models.save_pretrained(model, tmp_path / "saved")
    again = models.from_pretrained(tmp_path / "saved", backend=backend.name)
    assert again.pretrained.architecture == model.pretrained.architecture
    compare(again, expected(folder))


@pytest.mark.sample(backends=1)
def test_an_encoder_gets_a_head_for_other_classes(backend, tmp_path):
    with pytest.warns(UserWarning, match="drawn anew: classifier/"):
        model = models.from_pretrained(
            HUB / "bert_old_names",
            backend=backend.name,
            architecture="BertForSequenceClassification",
            classes=5,
        )
    values = expected("bert_old_names")
    assert outputs(model, values)[0].shape == (2, 5)
    with pytest.warns(UserWarning, match="drawn anew: classifier/"):
        other = models.from_pretrained(HUB / "bert_classifier", backend=backend.name, classes=2)
    assert outputs(other, expected("bert_classifier"))[0].shape == (2, 2)
    other.class_names = ["no", "yes"]
    models.save_pretrained(other, tmp_path)
    assert json.loads((tmp_path / "config.json").read_text())["id2label"] == {"0": "no", "1": "yes"}
    assert models.from_pretrained(tmp_path, backend=backend.name).class_names == ["no", "yes"]
