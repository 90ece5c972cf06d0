"""Checkpoints as trainings of PyTorch write them: wrappers of modules, dictionaries of everything, several files."""

import argparse
import collections
import datetime
import enum
import json
import pathlib
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest
from safetensors.torch import load_file, save_file

import labdl
from labdl import nn
from labdl.errors import ConfigError, FileFormatError, StateDictError
from labdl.saving.native.checkpoints import convert_checkpoint, load_checkpoint, save_checkpoint
from labdl.saving.native.formats import keras

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.slow

HUB = Path(__file__).parents[2] / "oracles" / "hub"
X = np.linspace(-1, 1, 15, dtype="float32").reshape(5, 3)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.features = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
        self.head = torch.nn.Linear(4, 2)

    def forward(self, x):
        return self.head(self.features(x))


class Same(nn.Module):
    def __init__(self):
        self.features = nn.Sequential(nn.Linear(4), nn.BatchNorm())
        self.head = nn.Linear(2)

    def forward(self, x):
        return self.head(self.features(x))


class Color(enum.Enum):
    RED = 1


class Settings:
    def __init__(self):
        self.rate, self.own = 0.1, self


class Table(dict):
    pass


def net(seed=1):
    torch.manual_seed(seed)
    module = Net()
    module(torch.randn(8, 3))  # statistics move
    return module.eval()


def same():
    return Same().build((None, 3), backend="numpy", seed=0).eval()


def check(model, module):
    np.testing.assert_allclose(model(X), module(torch.from_numpy(X)).detach().numpy(), rtol=1e-5, atol=1e-6)


def compiled(module):
    return torch.compile(module, backend="eager")


def part_in_parallel(module):
    module.features = torch.nn.DataParallel(module.features)
    return module


def part_compiled(module):
    module.features[0] = compiled(module.features[0])
    return module


def averaged(module):
    return torch.optim.swa_utils.AveragedModel(module)


WRAPPERS = {
    "parallel": torch.nn.DataParallel,
    "compiled": compiled,
    "parallel of compiled": lambda module: torch.nn.DataParallel(compiled(module)),
    "compiled of parallel": lambda module: compiled(torch.nn.DataParallel(module)),
    "twice parallel": lambda module: torch.nn.DataParallel(torch.nn.DataParallel(module)),
    "a part in parallel": part_in_parallel,
    "a part compiled": part_compiled,
    "all and a part": lambda module: compiled(part_in_parallel(part_compiled(module))),
}


@pytest.mark.sample(every=4)
@pytest.mark.parametrize("suffix", ["new.pt", "old.pt", "net.safetensors"])
@pytest.mark.parametrize("name", WRAPPERS)
def test_wrapped_modules(name, suffix, tmp_path):
    state = WRAPPERS[name](net()).state_dict()
    assert any(word in key for key in state for word in ("module.", "_orig_mod."))
    if suffix == "net.safetensors":
        save_file(state, tmp_path / suffix)
    else:
        torch.save(state, tmp_path / suffix, _use_new_zipfile_serialization=suffix == "new.pt")
    check(load_checkpoint(same(), tmp_path / suffix), net())


class Holder(nn.Module):
    def __init__(self):
        self.module = Same()

    def forward(self, x):
        return self.module(x)


def test_a_model_whose_own_name_is_that_of_a_wrapper(tmp_path):
    torch.save(torch.nn.DataParallel(net()).state_dict(), tmp_path / "net.pt")
    check(load_checkpoint(Holder().build((None, 3), backend="numpy").eval(), tmp_path / "net.pt"), net())
    torch.save(torch.nn.DataParallel(torch.nn.DataParallel(net())).state_dict(), tmp_path / "twice.pt")
    model = Holder().build((None, 3), backend="numpy").eval()
    with pytest.raises(StateDictError, match=r"prefix='module\.'\) removes it"):
        load_checkpoint(model, tmp_path / "twice.pt")
    check(load_checkpoint(model, tmp_path / "twice.pt", prefix="module."), net())


@pytest.mark.parametrize("wrap", [
    lambda state: {"net": state},
    lambda state: {"model": state},
    lambda state: {"state_dict": state},
    lambda state: {"model_state_dict": state},
    lambda state: {"ema": state},
    lambda state: {"checkpoint": {"anything": {"state_dict": state}}},
    lambda state: {"model": state, "best": state},  # one dictionary under two names
    lambda state: {**state, "epoch": 3, "args": argparse.Namespace(rate=0.1)},
    lambda state: collections.defaultdict(dict, {"generator": state, "discriminator": {"head.weight": torch.ones(7)}}),
])  # fmt: skip
def test_wrapping_dictionaries(wrap, tmp_path):
    for number, state in enumerate((net().state_dict(), torch.nn.DataParallel(net()).state_dict())):
        torch.save(wrap(state), tmp_path / f"{number}.pt")
        check(load_checkpoint(same(), tmp_path / f"{number}.pt"), net())


def everything(module):
    optimizer = torch.optim.Adam(module.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
    module.train()(torch.from_numpy(X)).sum().backward()
    optimizer.step()
    module.eval()
    return {
        "epoch": 3, "best": np.float64(0.5), "curve": np.ones(3), "arch": "resnet", "time": datetime.datetime.now(),
        "state_dict": module.state_dict(), "optimizer": optimizer.state_dict(), "scheduler": schedule.state_dict(),
        "rng": torch.get_rng_state(), "numpy_rng": np.random.get_state(), "generator": np.random.default_rng(0),
        "args": argparse.Namespace(data=pathlib.PurePosixPath("/data"), rate=0.1, model=None, names={"a", "b"}),
        "paths": [pathlib.PurePosixPath("a"), pathlib.PureWindowsPath("b")],
        "kinds": {Color.RED: 3, (1, 2): 4, None: 1, 2.5: 0},
        "counts": collections.Counter("abc"), "device": torch.device("cpu"), "dtype": torch.float32, "type": torch.nn.Linear,
        "lists": collections.defaultdict(list, {"loss": [0.3]}), "deque": collections.deque([1.0], maxlen=3),
        "settings": Settings(), "table": Table(a=1), "frozen": frozenset((1, 2)), "big": 2**90, "complex": 1 + 2j,
    }  # fmt: skip


@pytest.mark.parametrize("options", [{}, {"pickle_protocol": 4}, {"pickle_protocol": 5},
                                     {"_use_new_zipfile_serialization": False}], ids=str)  # fmt: skip
def test_dictionaries_of_whole_trainings(options, tmp_path):
    module = net()
    torch.save(everything(module), tmp_path / "training.pt", **options)
    check(load_checkpoint(same(), tmp_path / "training.pt"), module)


def test_modules_saved_as_a_whole(tmp_path):
    module = net()
    module.register_buffer("scratch", torch.ones(3), persistent=False)
    torch.save(module, tmp_path / "whole.pt")
    check(load_checkpoint(same(), tmp_path / "whole.pt"), module)
    torch.save({"model": torch.nn.DataParallel(module), "epoch": 1}, tmp_path / "parallel.pt")
    check(load_checkpoint(same(), tmp_path / "parallel.pt"), module)
    torch.save(torch.nn.Sequential(torch.nn.Linear(3, 2)), tmp_path / "old.pt", _use_new_zipfile_serialization=False)
    model = load_checkpoint(nn.Sequential(nn.Linear(2)).build((None, 3), backend="numpy"), tmp_path / "old.pt")
    check(model, torch.load(tmp_path / "old.pt", weights_only=False))


@pytest.mark.parametrize("wrap", [lambda state: state, lambda state: {"ema": state, "epoch": 3}])
@pytest.mark.parametrize("suffix", ["new.pt", "old.pt", "net.safetensors"])
def test_averaged_models(suffix, wrap, tmp_path):
    state = wrap(averaged(net()).state_dict())
    if suffix != "net.safetensors":
        torch.save(state, tmp_path / suffix, _use_new_zipfile_serialization=suffix == "new.pt")
    elif "ema" not in state:
        save_file(state, tmp_path / suffix)
    else:
        save_file({f"ema.{name}": value for name, value in state["ema"].items()}, tmp_path / suffix)
        check(load_checkpoint(same(), tmp_path / suffix, prefix="ema."), net())
        return
    check(load_checkpoint(same(), tmp_path / suffix), net())


@pytest.mark.parametrize("zipped", [True, False])
def test_lists_and_tuples_of_dictionaries(zipped, tmp_path):
    module = net()
    training = everything(module)
    state, optimizer = module.state_dict(), training["optimizer"]
    for value in (
        (state, optimizer),
        [state, 3],
        [3, state],
        (optimizer, state, None),
        (module, optimizer),
        [training],
    ):
        torch.save(value, tmp_path / "net.pt", _use_new_zipfile_serialization=zipped)
        check(load_checkpoint(same(), tmp_path / "net.pt"), module)
    torch.save([state, averaged(net(2)).state_dict()], tmp_path / "net.pt", _use_new_zipfile_serialization=zipped)
    with pytest.raises(StateDictError, match=r"2 dictionaries in it .*, 0\., 1\.: .*prefix='0\.'"):
        load_checkpoint(same(), tmp_path / "net.pt")
    check(load_checkpoint(same(), tmp_path / "net.pt", prefix="1."), net(2))
    torch.save([3, "a"], tmp_path / "net.pt", _use_new_zipfile_serialization=zipped)
    with pytest.raises(FileFormatError, match="it holds list, not a dictionary"):
        load_checkpoint(same(), tmp_path / "net.pt")


@pytest.mark.filterwarnings("ignore:.*quantize_per_tensor:UserWarning", "ignore:.*TypedStorage:UserWarning")
@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "uint16", "uint32", "qint8", "quint8", "qint32"])
@pytest.mark.parametrize("zipped", [True, False])
def test_other_dtypes_beside_the_weights(zipped, dtype, tmp_path):
    kind = getattr(torch, dtype)
    other = torch.quantize_per_tensor(torch.ones(5), 0.1, 0, kind) if dtype[0] == "q" else torch.zeros(5, dtype=kind)
    training = {"other": other, "model": net().state_dict(), "last": other[:2].clone()}
    torch.save(training, tmp_path / "net.pt", _use_new_zipfile_serialization=zipped)
    check(load_checkpoint(same(), tmp_path / "net.pt"), net())


def test_several_that_fit_are_a_choice(tmp_path):
    one, other = net(1), net(2)
    torch.save({"model": one.state_dict(), "ema": averaged(other).state_dict(), "epoch": 3}, tmp_path / "net.pt")
    model = same()
    before = model.state_dict()
    with pytest.raises(StateDictError, match=r"net\.pt: 2 dictionaries .*, model\., ema\.: .*prefix='model\.'"):
        load_checkpoint(model, tmp_path / "net.pt")
    for name, value in model.state_dict().items():
        np.testing.assert_array_equal(value, before[name])
    check(load_checkpoint(same(), tmp_path / "net.pt", prefix="model."), one)
    torch.save({"model": one.state_dict(), "ema": {"module": other.state_dict()}}, tmp_path / "net.pt")
    check(load_checkpoint(same(), tmp_path / "net.pt", prefix="ema."), other)
    torch.save({"a": {"head.weight": torch.ones(9, 9)}, "b": {"head.weight": torch.ones(8, 8)}}, tmp_path / "wrong.pt")
    with pytest.raises(StateDictError):
        load_checkpoint(model, tmp_path / "wrong.pt")


def test_prefix_and_keys(tmp_path):
    module = net()
    state = {f"model.{name.replace('head', 'fc')}": value for name, value in module.state_dict().items()}
    torch.save({"state_dict": state | {"loss.weight": torch.ones(3)}, "epoch": 3}, tmp_path / "net.ckpt.pt")
    path = tmp_path / "net.ckpt.pt"
    with pytest.raises(StateDictError, match=r"missing head\.weight.* begin with 'model\.': .*prefix='model\.'\)"):
        load_checkpoint(same(), path)
    with pytest.raises(StateDictError, match=r"missing head\.weight .*unexpected fc\.weight"):
        load_checkpoint(same(), path, prefix="model.")
    for prefix in ("model.", "state_dict.model."):
        check(load_checkpoint(same(), path, prefix=prefix, keys={"fc.*": "head.*"}), module)
    check(load_checkpoint(same(), path, prefix="model.", keys=lambda name: name.replace("fc", "head")), module)
    with pytest.raises(
        StateDictError, match=r"no name in it begins with 'net\.': there are state_dict\.model\.features"
    ):
        load_checkpoint(same(), path, prefix="net.")
    target = convert_checkpoint(same(), path, tmp_path / "net.pdparams", prefix="model.", keys={"fc.*": "head.*"})
    check(load_checkpoint(same(), target), module)
    torch.save({n.removeprefix("features."): v for n, v in module.state_dict().items() if "features" in n}, path)
    parts = nn.Linear(4), nn.BatchNorm()
    load_checkpoint(nn.Sequential(*parts).build((None, 3), backend="numpy"), path)
    holder = nn.Sequential(nn.Sequential(nn.Linear(4), nn.BatchNorm())).build((None, 3), backend="numpy")
    with pytest.raises(StateDictError, match=r"model's names begin with '0\.': .*keys=\{'\*': '0\.\*'\}\) adds it"):
        load_checkpoint(holder, path)
    load_checkpoint(holder, path, keys={"*": "0.*"})
    with pytest.raises(ConfigError, match="has no names for prefix or keys"):
        load_checkpoint(same(), save_checkpoint(same(), tmp_path / "net.weights.h5"), prefix="a.")


def test_objects_in_the_place_of_weights_are_refused(tmp_path):
    state = net().state_dict()
    for wrong in ({**state, "head.bias": Settings()}, {"model": {**state, "head.bias": Color.RED}}):
        torch.save(wrong, tmp_path / "net.pt")
        with pytest.raises(FileFormatError, match=r"asks to call \S+\.(Settings|Color).* it was not called"):
            load_checkpoint(same(), tmp_path / "net.pt")
    torch.save({"settings": Settings(), "epoch": 3}, tmp_path / "net.pt")
    with pytest.raises(FileFormatError, match=r"asks to call \S+\.Settings"):
        load_checkpoint(same(), tmp_path / "net.pt")
    torch.save(Settings(), tmp_path / "net.pt")
    with pytest.raises(FileFormatError, match=r"it holds \S+\.Settings, not a dictionary"):
        load_checkpoint(same(), tmp_path / "net.pt")
    torch.save({"epoch": 3}, tmp_path / "net.pt")
    with pytest.raises(FileFormatError, match="holds no arrays"):
        load_checkpoint(same(), tmp_path / "net.pt")


# -- several files


def shards(folder, kind="safetensors"):
    folder.mkdir(exist_ok=True)
    stem, write = {"safetensors": ("model", save_file), "bin": ("pytorch_model", torch.save)}[kind]
    table = {}
    for at, name in enumerate(state := net().state_dict()):
        table[name] = f"{stem}-{at % 2 + 1:05}-of-00002.{kind}"
    for file in set(table.values()):
        write({name: state[name] for name, home in table.items() if home == file}, folder / file)
    index = folder / f"{stem}.{kind}.index.json"
    index.write_text(json.dumps({"metadata": {"total_size": 100}, "weight_map": table}))
    return index


@pytest.mark.parametrize("kind", ["safetensors", "bin"])
def test_an_index_of_several_files(kind, tmp_path):
    index = shards(tmp_path / "net", kind)
    check(load_checkpoint(same(), index), net())
    check(load_checkpoint(same(), tmp_path / "net"), net())
    for file in index.parent.glob("*-of-*"):  # as a cache of downloads has them
        file.rename(tmp_path / file.name)
        file.symlink_to(tmp_path / file.name)
    target = convert_checkpoint(same(), tmp_path / "net", tmp_path / "net.ckpt")
    check(load_checkpoint(same(), target), net())


def test_public_folders():
    linear = nn.Linear(64).build((None, 32), backend="numpy")
    for path in (HUB / "bart_sharded", HUB / "bart_sharded" / "model.safetensors.index.json"):
        load_checkpoint(linear, path, prefix="model.encoder.layers.1.fc1.")
    found = {
        name: value for file in (HUB / "bart_sharded").glob("*.safetensors") for name, value in load_file(file).items()
    }
    np.testing.assert_array_equal(linear.state_dict()["kernel:0"], found["model.encoder.layers.1.fc1.weight"].T)
    norm = nn.LayerNorm().build((None, 32), backend="numpy")
    load_checkpoint(norm, HUB / "roberta_bin", prefix="roberta.embeddings.LayerNorm.")
    expected = torch.load(HUB / "roberta_bin" / "pytorch_model.bin", weights_only=True)
    np.testing.assert_array_equal(norm.state_dict()["gamma:0"], expected["roberta.embeddings.LayerNorm.weight"])


@pytest.mark.parametrize(("table", "sentence"), [
    ({"head.bias": "../secret.safetensors"}, "not a file beside it"),
    ({"head.bias": "/secret.safetensors"}, "not a file beside it"),
    ({"head.bias": "..\\secret.safetensors"}, "not a file beside it"),
    ({"head.bias": ".."}, "not a file beside it"),
    ({"head.bias": 3}, "not a file beside it"),
    ({"head.bias": ["a"]}, "not a file beside it"),
    ({"head.bias": "model.safetensors.index.json"}, "not a file beside it"),
    ({"a": "link-1.safetensors", "b": "link-2.safetensors"}, "one file under two names"),
    ({"head.bias": "other.txt"}, "its part other.txt cannot be read"),
    ({"head.bias": "net.weights.h5"}, "of another format"),
    ({"other": "model-00001-of-00002.safetensors"}, "lacks other"),
    ({str(n): f"{n}.bin" for n in range(10_001)}, "10,001 files"),
    ({}, "no table"),
    ([], "no table"),
])  # fmt: skip
def test_an_index_that_is_wrong(table, sentence, tmp_path):
    index = shards(tmp_path / "net")
    shutil.copy(next(index.parent.glob("*-of-*")), tmp_path / "secret.safetensors")
    (index.parent / "other.txt").write_text("text")
    save_file({"a": torch.ones(1), "b": torch.ones(1)}, tmp_path / "both")
    for number in (1, 2):
        (index.parent / f"link-{number}.safetensors").symlink_to(tmp_path / "both")
    save_checkpoint(same(), index.parent / "net.weights.h5")
    index.write_text(json.dumps({"weight_map": table}))
    with pytest.raises(FileFormatError, match=sentence):
        load_checkpoint(same(), index)


def test_a_part_or_the_index_is_not_there(tmp_path):
    index = shards(tmp_path / "net")
    next(index.parent.glob("*-of-*")).unlink()
    with pytest.raises(FileNotFoundError, match="-of-00002"):
        load_checkpoint(same(), index)
    index.unlink()
    with pytest.raises(FileFormatError, match=r"net is a folder with none of model\.safetensors\.index\.json, "):
        load_checkpoint(same(), index.parent)
    index.write_text("[")
    with pytest.raises(FileFormatError, match="not an index in JSON"):
        load_checkpoint(same(), index)


def test_archives_of_keras_are_bounded(tmp_path):
    weights = save_checkpoint(same(), tmp_path / "net.weights.h5").read_bytes()
    for compression, sentence in ((zipfile.ZIP_STORED, None), (zipfile.ZIP_DEFLATED, "compressed")):
        with zipfile.ZipFile(tmp_path / "net.keras", "w", compression) as archive:
            archive.writestr("config.json", "[" * 100_000)  # not read
            archive.writestr(keras.WEIGHTS, weights)
        if sentence:
            with pytest.raises(FileFormatError, match=sentence):
                load_checkpoint(same(), tmp_path / "net.keras")
        else:
            loaded = load_checkpoint(Same().build((None, 3), backend="numpy", seed=3), tmp_path / "net.keras")
            for name, value in same().state_dict().items():
                np.testing.assert_array_equal(loaded.state_dict()[name], value)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_biases_of_half_precision_are_added_in_more(dtype, tmp_path):
    torch.manual_seed(0)
    lstm = torch.nn.LSTM(3, 8, batch_first=True)
    torch.save(lstm.to(dtype).state_dict(), tmp_path / "net.pt")
    model = nn.LSTM(8).build((None, 5, 3), backend="numpy")
    x = np.random.default_rng(0).normal(size=(2, 5, 3)).astype("float32")
    expected = lstm.float()(torch.from_numpy(x))[0].detach().numpy()
    paths = [tmp_path / "net.pt", convert_checkpoint(model, tmp_path / "net.pt", tmp_path / "net.safetensors")]
    for path in paths:
        found = load_checkpoint(model, path)(x)
        np.testing.assert_allclose(found[0] if isinstance(found, tuple) else found, expected, atol=2e-6)
    assert {value.dtype for value in load_file(paths[1]).values()} == {dtype}


def test_the_command_line_takes_a_prefix(tmp_path, capsys):
    from labdl.cli import main

    torch.save({"model": net(1).state_dict(), "ema": net(2).state_dict()}, tmp_path / "net.pt")
    labdl.save(same(), tmp_path / "net")
    arguments = ["convert", str(tmp_path / "net.pt"), "--to", "paddle", "--model", str(tmp_path / "net.labdl")]
    assert main(arguments) != 0
    assert "choose one by its prefix" in capsys.readouterr().err
    assert main([*arguments, "--prefix", "ema."]) == 0
    check(load_checkpoint(same(), tmp_path / "net.pdparams"), net(2))
