"""Folders of pretrained models: tokenizers, configs and files that do not fit, and names of arrays in saved files."""

import json
import pickle
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from labdl import models
from labdl.errors import ConfigError, FileFormatError, MissingFileError, ModelError, StateDictError
from labdl.models.pretrained import family as families

HUB = Path(__file__).parents[2] / "oracles" / "hub"
FOLDERS = sorted(path.parent.name for path in HUB.glob("*/expected.npz"))
TEXTS = [name for name in FOLDERS if name not in ("vit", "deit", "t5_v1_1_untied", "whisper")]
# arrays that the model needs no values of: the pooler of TrOCR's encoder, the second stream of XLNet, sines and cosines
UNUSED = ("encoder.pooler.", "transformer.mask_emb", "model.encoder.embed_positions")


@pytest.fixture
def folder(tmp_path):
    """A copy of a folder, to be changed."""
    return shutil.copytree(HUB / "bert_classifier", tmp_path / "model")


def change(folder: Path, **keys) -> None:
    path = folder / "config.json"
    config = json.loads(path.read_text()) | keys
    path.write_text(json.dumps({name: value for name, value in config.items() if value != "left out"}))


@pytest.mark.sample(every=9)
@pytest.mark.parametrize("name", TEXTS)
def test_tokenizers_give_the_numbers_of_the_public_library(name):
    model = models.from_pretrained(HUB / name, backend="numpy")
    tokenizer, side = model.pretrained.tokenizer, model.pretrained.family.padding_side
    with np.load(HUB / name / "expected.npz") as file:
        texts, ids, mask = json.loads(str(file["text"])), file["tok:ids"], file["tok:mask"]
    batch = tokenizer.encode_batch(texts, side=side)
    assert np.array_equal(batch.ids, ids)
    assert np.array_equal(batch.mask, mask)


@pytest.mark.sample(every=9)
@pytest.mark.parametrize(
    "name", [n for n in FOLDERS if n not in ("bart_sharded", "bert_old_names", "gpt2_old_names", "roberta_bin")]
)
def test_saved_arrays_have_the_names_and_shapes_of_the_public_library(name, tmp_path):
    models.save_pretrained(models.from_pretrained(HUB / name, backend="numpy"), tmp_path)
    with (
        safe_open(tmp_path / "model.safetensors", "np") as ours,
        safe_open(HUB / name / "model.safetensors", "np") as theirs,
    ):
        assert ours.metadata() == {"format": "pt"}
        names = set(ours.keys())
        assert {k: ours.get_slice(k).get_shape() for k in names} == {
            k: theirs.get_slice(k).get_shape() for k in list(theirs.keys()) if k in names or not k.startswith(UNUSED)
        }


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("name", ["roberta_bin", "distilbert", "bert_old_names"])
def test_encoders_take_every_head_of_their_family(name):
    family = models.from_pretrained(HUB / name, backend="numpy").pretrained.family
    shapes = {
        "ForMaskedLM": (2, 5, None),
        "ForTokenClassification": (2, 5, 3),
        "ForQuestionAnswering": (2, 5),
        "ForSequenceClassification": (2, 3),
    }
    for architecture in family.heads:
        end = next((end for end in shapes if architecture.endswith(end)), None)
        if end is None:
            continue
        classes = None if end in ("ForMaskedLM", "ForQuestionAnswering") else 3
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "not in the files, and drawn anew")
            model = models.from_pretrained(HUB / name, backend="numpy", architecture=architecture, classes=classes)
        output = model(np.array([[5, 6, 7, 8, 9], [1, 2, 3, 4, 5]]))
        for part in output if isinstance(output, tuple) else (output,):
            assert part.shape == tuple(wanted or part.shape[-1] for wanted in shapes[end])
        models.public_state_dict(model)


@pytest.mark.parametrize("name", ["llama", "llama_bfloat16", "qwen2", "gpt_neox"])
def test_configs_of_older_versions_give_the_same_settings(name):
    now, before = (json.loads((HUB / name / f"{file}.json").read_text()) for file in ("config", "config_legacy"))
    family = families.find(now)
    assert families.read_settings(family, now) == families.read_settings(family, before)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"model_type": "berta"}, "model_type 'berta', which LabDL does not have: did you mean 'bert'"),
        ({"model_type": "left out"}, "no model_type"),
        ({"architectures": ["BertForEverything"]}, "architecture 'BertForEverything'.*BertForSequenceClassification"),
        ({"position_embedding_type": "relative_key"}, "position_embedding_type='relative_key'.*'absolute' only"),
        ({"is_decoder": True}, "is_decoder=True"),
        ({"hidden_act": "maxout"}, "hidden_act wants one of gelu"),
        ({"rotary_everything": 3}, "key 'rotary_everything' with 3"),
        ({"hidden_size": "left out"}, "config.json has no hidden_size"),
        ({"hidden_size": "wide"}, "bert cannot be created"),
        ({"num_attention_heads": 5}, "heads=5"),
        ({"num_hidden_layers": -1}, "layers"),
        ({"id2label": {"a": "b"}}, "id2label"),
    ],
)
def test_configs_that_do_not_fit_are_named(folder, keys, words):
    change(folder, **keys)
    with pytest.raises((ConfigError, ModelError), match=words):
        models.from_pretrained(folder, backend="numpy")


def test_keys_may_be_ignored(folder):
    change(folder, rotary_everything=3)
    assert models.from_pretrained(folder, backend="numpy", ignore=["rotary_everything"]).built


def test_weights_that_do_not_fit_are_named(folder):
    arrays = load_file(folder / "model.safetensors")
    save_file(
        {name: array for name, array in arrays.items() if "query.weight" not in name}, folder / "model.safetensors"
    )
    with pytest.raises(StateDictError, match=r"missing bert\.encoder\.layer\.0\.attention\.self\.query\.weight"):
        models.from_pretrained(folder, backend="numpy")
    save_file(arrays | {"bert.more": np.zeros(3, "float32")}, folder / "model.safetensors")
    with pytest.raises(StateDictError, match=r"unexpected bert\.more"):
        models.from_pretrained(folder, backend="numpy")
    save_file(arrays, folder / "model.safetensors")
    change(folder, vocab_size=301)
    with pytest.raises(StateDictError, match=r"shape \(300, 32\), the config wants \(301, 32\)"):
        models.from_pretrained(folder, backend="numpy")


def test_files_with_code_are_refused_and_do_not_run(folder, tmp_path):
    class Attack:
        def __reduce__(self):
            return Path.touch, (tmp_path / "ran",)

    (folder / "model.safetensors").unlink()
    with pytest.raises(MissingFileError, match=r"model\.safetensors, .*pytorch_model\.bin"):
        models.from_pretrained(folder, backend="numpy")
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps({"bert.pooler.dense.bias": Attack()}))
    with pytest.raises(FileFormatError):
        models.from_pretrained(folder, backend="numpy")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 1000])
def test_configs_that_are_no_tables_are_refused(folder, text):
    (folder / "config.json").write_text(text)
    with pytest.raises(FileFormatError, match=r"config\.json"):
        models.from_pretrained(folder, backend="numpy")


def test_other_models_and_places_are_refused(tmp_path):
    with pytest.raises(MissingFileError, match=r"no config\.json"):
        models.from_pretrained(tmp_path)
    with pytest.raises(MissingFileError, match="no folder, and no name"):
        models.from_pretrained("../../etc/passwd")
    with pytest.raises(ModelError, match="not one of labdl"):
        models.save_pretrained(models.create("textcnn"), tmp_path)
