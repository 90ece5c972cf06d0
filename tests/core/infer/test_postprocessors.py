"""What all post-processors promise: settings that are checked, names, schemas, and sentences for what does not fit."""

import numpy as np
import pytest

from labdl.errors import ConfigError, ModelError
from labdl.infer import POSTPROCESSORS, PostProcessor, postprocessor
from labdl.infer.pipeline import Pipeline
from labdl.infer.postprocess.base import get_postprocessor, sigmoid, softmax, top_k_indices
from labdl.settings import settings_schema

NAMES = {
    "classification",
    "detection",
    "segmentation",
    "keypoints",
    "speech_recognition",
    "event_tagging",
    "text_decoding",
    "token_prediction",
    "question_answering",
}


def test_every_task_has_a_postprocessor():
    assert set(POSTPROCESSORS) >= NAMES


@pytest.mark.parametrize("name", sorted(NAMES))
def test_each_is_final_has_defaults_and_a_schema(name):
    cls = POSTPROCESSORS[name]
    assert cls.__bases__ == (PostProcessor,)
    made = get_postprocessor(name)
    assert isinstance(made, cls)
    schema = settings_schema(cls)
    assert schema["type"] == cls.__name__
    assert schema["summary"].endswith(".")
    assert not schema["schema"]["required"]
    assert made.replace({}) is made


@pytest.mark.parametrize("name", sorted(NAMES))
def test_unknown_settings_and_wrong_outputs_are_refused(name):
    with pytest.raises(ConfigError, match=r"has the settings .*, received 'nonsense'"):
        get_postprocessor({"name": name, "nonsense": 1})
    for output in (np.zeros((2, 2, 2, 2, 2), "float32"), (np.zeros(3), np.zeros(2), np.zeros(1), np.zeros(1))):
        with pytest.raises(ModelError, match=POSTPROCESSORS[name].__name__):
            get_postprocessor(name)(output)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"name": "classification", "top_k": 0}, "top_k wants an integer at least 1 or nothing, received 0"),
        (
            {"name": "classification", "threshold": 1.5},
            "threshold wants a number at least 0 and at most 1, received 1.5",
        ),
        ({"name": "detection", "box_format": "yxyx"}, 'box_format wants "xyxy", "xywh", "cxcywh", received'),
        ({"name": "detection", "original_size": [4, 4]}, "wants image_size"),
        ({"name": "keypoints", "affine": [[1, 0], [0, 1]]}, "affine wants a matrix"),
        ({"name": "question_answering", "text": "no offsets"}, "text and offsets together"),
        ({"name": "text_decoding", "vocabulary": "abc"}, "vocabulary wants a list of tokens"),
        ({"name": "speech_recognition", "vocabulary": 3}, "vocabulary wants a list of tokens"),
        ({"name": "magic"}, "postprocess wants one of classification"),
        ("magic", "received 'magic'"),
        ({"top_k": 3}, "postprocess wants one of"),
    ],
)
def test_settings_out_of_range_are_refused_in_a_sentence(asked, sentence):
    with pytest.raises(ConfigError, match=sentence):
        get_postprocessor(asked)


def test_settings_are_fixed_and_lists_become_tuples():
    made = get_postprocessor({"name": "classification", "names": ["a", "b"]})
    assert made.names == ("a", "b")
    with pytest.raises(AttributeError):
        made.top_k = 3
    other = made.replace({"top_k": 1})
    assert (other.top_k, other.names, made.top_k) == (1, ("a", "b"), None)


def test_one_of_a_users_own_is_known_by_its_name():
    try:

        @postprocessor
        class LoudestChannel(PostProcessor):
            """The channel of the largest value."""

            least: float = 0.0

            def __call__(self, output):
                return int(output.argmax()) if output.max() > self.least else None

        steps = Pipeline("loudest_channel")
        assert steps(np.array([1.0, 3.0]), {}) == 1
        assert steps(np.array([1.0, 3.0]), {"least": 4.0}) is None
    finally:
        POSTPROCESSORS.pop("loudest_channel", None)


def test_a_chain_takes_the_settings_of_all_its_steps():
    def shown(found, digits=2):
        return f"{found.probabilities[0]:.{digits}f}"

    steps = Pipeline(["classification", shown, str.upper])
    assert "digits" in steps.names
    assert "top_k" in steps.names
    assert steps(np.array([0.0, 0.0]), {}) == "0.50"
    assert steps(np.array([0.0, 0.0]), {"digits": 1, "top_k": 1}) == "0.5"
    with pytest.raises(ConfigError, match=r"Classification, shown, upper has the settings .*digits, received 'width'"):
        steps.check({"width": 3})


def test_a_function_without_settings_says_so():
    steps = Pipeline(np.argmax)
    assert steps(np.array([1, 3, 2]), {}) == 1
    with pytest.raises(ConfigError, match=r"argmax has the settings axis, out, keepdims, received 'k'"):
        steps.check({"k": 3})
    with pytest.raises(ConfigError, match=r"an inference without steps has the settings \(none\), received 'k'"):
        Pipeline(None).check({"k": 3})


def test_largest_ones_come_first_and_of_equal_ones_the_earlier():
    draws = np.random.default_rng(0)
    for _ in range(50):
        scores = draws.integers(0, 5, draws.integers(1, 30)).astype("float64")
        k = int(draws.integers(1, 12))
        assert top_k_indices(scores, k).tolist() == sorted(range(len(scores)), key=lambda i, s=scores: (-s[i], i))[:k]


def test_probabilities_of_large_logits_are_finite():
    assert softmax(np.array([1e4, 0.0, -1e4], "float32")).tolist() == [1.0, 0.0, 0.0]
    assert sigmoid(np.array([1e4, 0.0, -1e4], "float32")).tolist() == [1.0, 0.5, 0.0]


def test_all_public_names_are_there_and_cost_nothing_until_they_are_wanted(fresh_python):
    code = """
import sys, labdl
assert "labdl.infer.postprocess" not in sys.modules
assert all(getattr(labdl.infer, name).__doc__ for name in labdl.infer.__all__)
assert "labdl.infer.postprocess" in sys.modules
try:
    labdl.infer.nothing
except AttributeError as error:
    print(error)
"""
    assert "no attribute 'nothing'" in fresh_python(code).result()


def test_metrics_see_the_outputs_unless_there_is_a_form_for_them():
    assert {name for name in NAMES if not POSTPROCESSORS[name].has_metrics} == {
        "classification",
        "event_tagging",
        "token_prediction",
    }
    with pytest.raises(ModelError, match=r"Classification has no for_metrics\(results\): use metrics of the model"):
        get_postprocessor("classification").for_metrics([])
