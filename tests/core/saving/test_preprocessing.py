"""The preprocessing of a model is saved with it, and applied by Inference; without those of its transforms for training."""

import numpy as np
import pytest

import labdl
from labdl import data, infer, nn
from labdl.data import transforms as T
from labdl.errors import ConfigError, ModelError
from labdl.saving.structure import decode, encode, open_structure, read


def built(*shape):
    return nn.Sequential(nn.Flatten(), nn.Linear(2)).build(shape, backend="numpy", seed=0)


def test_a_pipeline_of_pictures_prepares_samples_without_augmentation(tmp_path):
    model = built(None, 3, 4, 4)
    prepare = data.Pipeline(
        [T.HorizontalFlip(p=1.0), T.Resize(4), T.ToFloat(), T.Normalize((0.5,) * 3, (0.2,) * 3)],
        phases=["training", "always", "always", "always"],
    )
    model.preprocessing = prepare
    labdl.save(model, tmp_path / "net")
    loaded = labdl.load(tmp_path / "net", backend="numpy")
    assert loaded.preprocessing == prepare
    pictures = [data.Image(np.random.default_rng(i).integers(0, 256, (8, 8, 3), "uint8")) for i in range(3)]
    expected = np.stack([prepare.evaluation()(p).array.transpose(2, 0, 1) for p in pictures])
    wanted = labdl.predict(model, expected)
    for source in (model, tmp_path / "net"):
        inference = infer.Inference(source, backend="numpy")
        np.testing.assert_allclose(inference.infer(pictures), wanted, rtol=1e-5)
        np.testing.assert_allclose(
            inference.infer([{"image": p, "label": 1} for p in pictures]), wanted, rtol=1e-5
        )  # of a dictionary, the entry that is no label
    own = infer.Inference(model, preprocess=lambda row: row, backend="numpy")
    np.testing.assert_allclose(own.infer(list(expected)), wanted, rtol=1e-5)
    dataset = data.SampleDataset([{"image": p, "label": 0} for p in pictures]).map(prepare.evaluation())
    dataset.inputs = ("image",)
    np.testing.assert_allclose(labdl.predict(model, dataset), wanted, rtol=1e-5)


def test_rows_want_as_many_inputs_as_the_model(tmp_path):
    model = built(None, 2)
    model.preprocessing = T.Standardize(("a", "b")).fit({"a": [0.0, 2.0], "b": [0.0, 2.0]})
    with pytest.raises(ModelError, match="wants 1 inputs, the prepared sample has the entries a, b"):
        infer.Inference(model, backend="numpy").infer_one({"a": 1.0, "b": 1.0})
    model.preprocessing = T.TablePreprocessor().fit({"a": [0.0, 2.0], "b": [0.0, 2.0]})
    labdl.save(model, tmp_path / "net")
    inference = infer.Inference(tmp_path / "net", backend="numpy")
    np.testing.assert_allclose(
        inference.infer_one({"a": 2.0, "b": 0.0}), labdl.predict(model, [[1.0, -1.0]])[0], rtol=1e-5
    )


def test_what_a_file_cannot_hold_and_what_is_unknown(tmp_path):
    model = built(None, 2)
    model.preprocessing = data.Pipeline([lambda row: row])
    with pytest.raises(ConfigError, match="cannot be saved"):
        labdl.save(model, tmp_path / "net")
    model.preprocessing = T.ToFloat()
    structure, _ = labdl.save(model, tmp_path / "net")
    opened = open_structure(structure)
    assert opened.preprocessing == data.Pipeline(T.ToFloat()).to_dict()
    for wrong in ({"version": 2, "transforms": [{"type": "NoSuchTransform"}]}, {"version": 99}, 7, []):
        changed = encode(opened.graph, opened.saved_with, preprocessing=wrong)
        structure.write_bytes(changed)
        with pytest.warns(UserWarning, match=r"net.labdl has a preprocessing that cannot be used"):
            loaded = labdl.load(tmp_path / "net", backend="numpy")
        assert loaded.preprocessing is None
        assert decode(changed) == opened.graph
    assert read(encode(opened.graph)).preprocessing is None
