"""Native checkpoints as files: their formats, and the rejection of hostile files without executing code."""

import io
import json
import os
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import h5py
import ml_dtypes
import numpy as np
import pytest

from labdl import nn
from labdl.bounded.crc32c import crc32c
from labdl.errors import ConfigError, FileFormatError, ModelError, StateDictError
from labdl.saving.native.checkpoints import load_checkpoint, save_checkpoint
from labdl.saving.native.formats import mindspore, paddle, safetensors, torch, torch_legacy

sys.path.insert(0, str(Path(__file__).parents[1] / "untrusted"))
from tensorflow_checkpoints import block, bundle, bundle_entries, objects, table

pytestmark = pytest.mark.slow

FILES = Path(__file__).parents[2] / "backend" / "files"
FLAT = {".pt": torch, ".pdparams": paddle, ".ckpt": mindspore, ".safetensors": safetensors}
SUFFIXES = (*FLAT, ".weights.h5")


def net(seed=0):
    return nn.Sequential(nn.Linear(4), nn.BatchNorm(), nn.Linear(2)).build((None, 3), backend="numpy", seed=seed)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_is_written_is_read(suffix, tmp_path):
    path = save_checkpoint(net(), tmp_path / f"net{suffix}")
    loaded = load_checkpoint(net(1), path).state_dict()
    for name, value in net().state_dict().items():
        np.testing.assert_array_equal(loaded[name], value)
    assert os.listdir(tmp_path) == [path.name]
    if suffix != ".weights.h5":
        before = path.read_bytes()
        assert save_checkpoint(net(), path).read_bytes() == before


@pytest.mark.parametrize("suffix", FLAT)
def test_every_kind_of_number_comes_back(suffix, tmp_path):
    dtypes = ["float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool"]
    arrays = {d: (np.arange(6).reshape(2, 3) % 2).astype(d) for d in dtypes}
    arrays |= {
        "bfloat16": np.arange(6).astype(ml_dtypes.bfloat16),
        "one": np.array(2.5, "float32"),
        "none": np.zeros((0, 3), "float32"),
        "turned": np.arange(6, dtype="float32").reshape(2, 3).T,
        "large": np.arange(60_000, dtype="float32").reshape(200, 300).T,
    }
    path = tmp_path / f"net{suffix}"
    FLAT[suffix].write(path, arrays, *(["np"] if suffix == ".safetensors" else []))
    found = FLAT[suffix].read(path)
    assert found.keys() == arrays.keys()
    for name, value in arrays.items():
        assert found[name].dtype == value.dtype
        assert found[name].shape == value.shape
        np.testing.assert_array_equal(found[name], value)


@pytest.mark.parametrize("dtype", ["int64", "int8", "uint8", "bool"])
@pytest.mark.parametrize("suffix", FLAT)
def test_integers_in_the_place_of_weights_are_refused(suffix, dtype, tmp_path):
    state = FLAT[suffix].read(save_checkpoint(net(), tmp_path / f"net{suffix}"))
    name = next(name for name in state if name.startswith("0.") and name.endswith("weight"))
    state[name] = state[name].astype(dtype)
    FLAT[suffix].write(tmp_path / f"net{suffix}", state, *(["np"] if suffix == ".safetensors" else []))
    model = net(1)
    before = model.state_dict()
    with pytest.raises(StateDictError, match=rf"0\.weight holds {dtype}, the model wants float32 .*turn quantized"):
        load_checkpoint(model, tmp_path / f"net{suffix}")
    for key, value in model.state_dict().items():
        np.testing.assert_array_equal(value, before[key])


def test_integers_that_paddle_reads_as_bfloat16_are_not_written(tmp_path):
    with pytest.raises(ModelError, match=r"cannot hold table in uint16"):
        paddle.write(tmp_path / "net.pdparams", {"table": np.zeros(3, "uint16")})


def test_pytorch_and_safetensors_read_what_labdl_writes(tmp_path):
    library = pytest.importorskip("torch")
    from safetensors.torch import load_file

    arrays = {
        "w": np.arange(6, dtype="float32").reshape(2, 3).T,
        "b": np.arange(3).astype(ml_dtypes.bfloat16),
        "n": np.array(3, "int64"),
        "größe.ß": np.ones(2, "bool"),
    }
    torch.write(tmp_path / "net.pt", arrays)
    safetensors.write(tmp_path / "net.safetensors", arrays, "pt")
    for found in (
        library.load(tmp_path / "net.pt", weights_only=True),
        load_file(tmp_path / "net.safetensors"),
        library.load(tmp_path / "net.pt", weights_only=True, mmap=True),
    ):
        assert found.keys() == arrays.keys()
        for name, value in arrays.items():
            np.testing.assert_array_equal(found[name].float().numpy(), value.astype("float32"))


def test_tensors_with_shared_or_transposed_storage(tmp_path):
    library = pytest.importorskip("torch")
    whole = library.arange(24.0).reshape(4, 6)
    tensors = {"whole": whole, "part": whole[1:3, 2:], "turned": whole.T, "strided": whole[:, ::2]}
    library.save({**tensors, "parameter": library.nn.Parameter(whole)}, tmp_path / "net.pt")
    found = torch.read(tmp_path / "net.pt")
    for name, value in tensors.items():
        np.testing.assert_array_equal(found[name], value.numpy())
    np.testing.assert_array_equal(found["parameter"], whole.numpy())


def test_files_from_before_pytorch_1_6(tmp_path):
    library = pytest.importorskip("torch")
    whole = library.arange(24.0).reshape(4, 6)
    tensors = {"whole": whole, "part": whole[1:3, 2:], "half": whole.half(), "flags": whole > 3, "n": library.tensor(7)}
    training = {"state_dict": tensors, "epoch": 3, "optimizer": {"state": {0: {"step": 5}}}, "size": whole.shape}
    library.save(training, tmp_path / "old.pt", _use_new_zipfile_serialization=False)
    found = torch_legacy.read(tmp_path / "old.pt")
    assert found.keys() == {f"state_dict.{name}" for name in tensors}
    for name, value in tensors.items():
        assert found[f"state_dict.{name}"].dtype == value.numpy().dtype
        np.testing.assert_array_equal(found[f"state_dict.{name}"], value.numpy())


def test_whole_trainings_with_numpy_and_devices_are_read_as_data(tmp_path):
    library = pytest.importorskip("torch")
    rest = {"at": library.device("cpu"), "curve": np.ones(3), "best": np.float64(0.5), "shape": library.Size([2])}
    library.save({"state_dict": {"w": library.ones(2), 3: library.zeros(1)}, **rest}, tmp_path / "net.pt")
    found = torch.read(tmp_path / "net.pt")
    assert found.keys() == {"state_dict.w", "state_dict.3", "curve"}
    np.testing.assert_array_equal(found["state_dict.w"], np.ones(2))


def test_strides_of_axes_of_one_may_be_any_number(tmp_path):
    library = pytest.importorskip("torch")
    tensor = library.arange(6.0).as_strided((2, 1, 3), (3, 2**62, 1))
    library.save({"w": tensor}, tmp_path / "net.pt")
    np.testing.assert_array_equal(torch.read(tmp_path / "net.pt")["w"], tensor.numpy())


def test_arrays_of_paddle_share_their_bytes_and_keep_their_order(tmp_path):
    array = np.asfortranarray(np.arange(6, dtype="float32").reshape(2, 3))
    (tmp_path / "net.pdparams").write_bytes(pickle.dumps({"a": array, "b": array, "c": array.copy("C")}))
    found = paddle.read(tmp_path / "net.pdparams")
    assert np.shares_memory(found["a"], found["b"])
    for value in found.values():
        np.testing.assert_array_equal(value, array)
        assert value.flags.writeable


@pytest.mark.parametrize("options", [{}, {"compression": "gzip"}, {"compression": "gzip", "shuffle": True}])
def test_chunked_and_compressed_arrays_of_hdf5_are_read(options, tmp_path):
    path = save_checkpoint(net(), tmp_path / "net.weights.h5")
    with h5py.File(path, "a") as file:
        places = []
        file.visititems(lambda name, item: places.append(name) if isinstance(item, h5py.Dataset) else None)
        for place in places:
            value = file[place][()]
            del file[place]
            file.create_dataset(place, data=value, chunks=tuple(min(2, n) for n in value.shape), **options)
    loaded = load_checkpoint(net(1), path).state_dict()
    for name, value in net().state_dict().items():
        np.testing.assert_array_equal(loaded[name], value)


def test_no_framework_is_needed():
    """From the file of one framework to that of another, with none of them in the process."""
    code = f"""
import sys
sys.path.insert(0, {str(FILES)!r})
from labdl.saving.native.checkpoints import convert_checkpoint
from labdl_nets import NETS
from inputs import HERE, inputs_of
from labdl.spec import Spec
import tempfile, pathlib
model = NETS["sequence"]().build(*[Spec(a.shape, a.dtype.name) for a in inputs_of("sequence")], backend="numpy")
folder = pathlib.Path(tempfile.mkdtemp())
source = HERE / "torch" / "sequence.pt"
for suffix in (".pdparams", ".ckpt", ".weights.h5", ".safetensors", ".pt"):
    source = convert_checkpoint(model, source, folder / f"net{{suffix}}")
convert_checkpoint(model, HERE / "tensorflow" / "sequence", folder / "again.pt")
found = {{"torch", "tensorflow", "paddle", "mindspore", "keras"}} & set(sys.modules)
assert not found, found
"""
    subprocess.run([sys.executable, "-c", code], check=True)


class Hostile:
    def __init__(self, target):
        self.target = target

    def __reduce__(self):
        return os.mkdir, (str(self.target),)


def archive(path, data):
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("archive/data.pkl", data)
    return path


def test_pickle_with_a_call_is_rejected_and_not_executed(tmp_path):
    for protocol in (2, 4, 5):
        data = pickle.dumps({"0.weight": Hostile(tmp_path / "made")}, protocol)
        (tmp_path / "net.pdparams").write_bytes(data)
        archive(tmp_path / "net.pt", data)
        (tmp_path / "old.pt").write_bytes(data)
        for name in ("net.pdparams", "net.pt"):
            with pytest.raises(FileFormatError, match=r"asks to call .*mkdir.* it was not called"):
                load_checkpoint(net(), tmp_path / name)
        with pytest.raises(FileFormatError):
            load_checkpoint(net(), tmp_path / "old.pt")
    objects = np.array([Hostile(tmp_path / "made")], object)
    (tmp_path / "net.pdparams").write_bytes(pickle.dumps({"0.weight": objects}))
    with pytest.raises(FileFormatError):
        load_checkpoint(net(), tmp_path / "net.pdparams")
    assert not (tmp_path / "made").exists()


def test_safetensors_of_metadata_alone(tmp_path):
    library = pytest.importorskip("safetensors.numpy")
    (tmp_path / "net.safetensors").write_bytes(library.save({}, {"format": "pt", "json": '[{"a":1}]'}))
    with pytest.raises(FileFormatError, match="it holds no arrays"):
        load_checkpoint(net(), tmp_path / "net.safetensors")


def test_safetensors_with_a_dtype_that_is_not_needed(tmp_path):
    library = pytest.importorskip("torch")
    from safetensors.torch import save_file

    weights = {"weight": library.ones(2, 3), "bias": library.zeros(2)}
    save_file({**weights, "scale": library.ones(2).to(library.float8_e4m3fn)}, tmp_path / "net.safetensors")
    model = nn.Linear(2).build((None, 3), backend="numpy")
    with pytest.raises(FileFormatError, match="scale in it holds F8_E4M3"):
        load_checkpoint(model, tmp_path / "net.safetensors")
    state = load_checkpoint(model, tmp_path / "net.safetensors", keys={"scale": None}).state_dict()
    np.testing.assert_array_equal(state["kernel:0"], np.ones((3, 2)))


@pytest.mark.parametrize(("places", "sentence"), [
    ([(0, 4), (0, 4)], "overlap"), ([(0, 4), (8, 12)], "gap"), ([(4, 8), (8, 12)], "gap"), ([(0, 4), (4, 8)], "12 bytes"),
    ([(0, 4), (4, 16)], "4 bytes|8 bytes|12 bytes"), ([(8, 4), (4, 12)], "overlap"), ([(-4, 0), (0, 4)], "place"),
    ([(0, 4), (4, True)], "place"), ([(0, 4), (4,)], "place"),
])  # fmt: skip
def test_safetensors_with_wrong_places(places, sentence, tmp_path):
    entries = {
        name: {"dtype": "F32", "shape": [1], "data_offsets": place} for name, place in zip("ab", places, strict=True)
    }
    header = json.dumps(entries).encode()
    (tmp_path / "net.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + bytes(12))
    with pytest.raises(FileFormatError, match=sentence):
        load_checkpoint(net(), tmp_path / "net.safetensors")


def test_files_that_claim_more_than_they_hold(tmp_path):
    huge = b"\x80\x02X\xff\xff\xff\x7fabc."  # a text of two gigabytes
    (tmp_path / "net.pdparams").write_bytes(huge)
    put = b"\x80\x02}r\xff\xff\xff\x7f."  # a place far out in the memory of a pickle
    (tmp_path / "put.pdparams").write_bytes(put)
    (tmp_path / "net.safetensors").write_bytes((1 << 40).to_bytes(8, "little") + b"{}")
    header = b'{"0.weight":{"dtype":"F32","shape":[1099511627776],"data_offsets":[0,4]}}'
    (tmp_path / "shape.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + bytes(4))
    deep = b"[" * 200_000
    (tmp_path / "deep.safetensors").write_bytes(len(deep).to_bytes(8, "little") + deep)
    (tmp_path / "net.ckpt").write_bytes(b"\n\xff\xff\xff\xff\x7f")
    with zipfile.ZipFile(tmp_path / "bomb.pt", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("archive/data.pkl", bytes(1 << 24))
    with h5py.File(tmp_path / "shape.h5", "w") as file:
        file.create_dataset("layers/dense/vars/0", (1 << 20, 1 << 20), "float32", chunks=(1024, 1024))
    for path in tmp_path.iterdir():
        with pytest.raises((FileFormatError, StateDictError)) as found:
            load_checkpoint(net(), path)
        assert path.name == "put.pdparams" or found.type is FileFormatError


def test_hdf5_with_external_links(tmp_path):
    np.ones(12, "float32").tofile(tmp_path / "secret")
    weights = save_checkpoint(net(), tmp_path / "net.weights.h5")
    ways = {
        "external": lambda g: g.__setitem__("0", h5py.ExternalLink("other.h5", "/x")),
        "soft": lambda g: g.__setitem__("0", h5py.SoftLink("/2/vars/0")),
        "raw": lambda g: g.create_dataset("0", (3, 4), "float32", external=str(tmp_path / "secret")),
        "text": lambda g: g.create_dataset("0", data=["text"]),
    }
    for name, change in ways.items():
        path = tmp_path / f"{name}.weights.h5"
        path.write_bytes(weights.read_bytes())
        with h5py.File(path, "a") as file:
            group = file["0/vars"]
            del group["0"]
            change(group)
        with pytest.raises(FileFormatError, match=r"another file|not an array of numbers"):
            load_checkpoint(net(), path)


@pytest.mark.sample(every=5)
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_broken_files_are_refused_or_read(suffix, tmp_path):
    """Cut and flipped at random: either refused with an error of LabDL's, or numbers of the right shapes."""
    data, rng = save_checkpoint(net(), tmp_path / f"net{suffix}").read_bytes(), np.random.default_rng(0)
    model, path = net(), tmp_path / f"broken{suffix}"
    refused = 0
    for at in range(400):
        broken = bytearray(data)
        if at % 4 == 0:
            broken = broken[: rng.integers(len(data))]
        else:
            for place in rng.integers(len(data), size=at % 4):
                broken[place] ^= 1 << rng.integers(8)
        path.write_bytes(broken)
        try:
            load_checkpoint(model, path)
        except (FileFormatError, StateDictError):
            refused += 1
    assert refused >= 100, "all that were cut"


@pytest.mark.sample(False)
def test_checkpoints_of_tensorflow_that_are_changed(tmp_path):
    """The graph of objects or an entry is changed at random, and all checksums are right."""
    rng, outcomes = np.random.default_rng(0), []
    for turn in range(300):
        graph = bytearray(objects("0", "1"))
        place = rng.integers(len(graph))
        graph[place] ^= (turn % 2) << rng.integers(8)
        entries, data = bundle_entries(bytes(graph))
        broken = bytearray(block(entries))
        broken[rng.integers(len(broken))] ^= (1 - turn % 2) << rng.integers(8)
        try:
            outcomes.append(load_checkpoint(net(), bundle(tmp_path, table([bytes(broken)]), data)))
        except (FileFormatError, StateDictError) as error:
            outcomes.append(type(error))
    assert outcomes.count(FileFormatError) > 100


@pytest.mark.parametrize("size", [0, 1, 3, 4, 5, 255, 256, 257, 1000, 70_000])
def test_checksums_of_tensorflow(size):
    data = np.random.default_rng(size).bytes(size)
    register = 0xFFFFFFFF
    for byte in data:  # by its definition
        register ^= byte
        for _ in range(8):
            register = register >> 1 ^ (0x82F63B78 if register & 1 else 0)
    assert crc32c(data) == crc32c(data[: size // 3], data[size // 3 :]) == register ^ 0xFFFFFFFF
    assert crc32c(b"123456789") == 0xE3069283  # RFC 3720


def test_arguments_are_checked(tmp_path):
    model = net()
    with pytest.raises(ConfigError, match=r"net\.xyz does not have the suffix of a checkpoint: choose one of \.pt"):
        save_checkpoint(model, tmp_path / "net.xyz")
    with pytest.raises(ConfigError, match=r"framework wants one of torch, .*received 'jax'"):
        save_checkpoint(model, tmp_path / "net.pt", "jax")
    with pytest.raises(ConfigError, match="is a file of torch, not of paddle"):
        save_checkpoint(model, tmp_path / "net.pt", "paddle")
    with pytest.raises(ModelError, match="not built"):
        save_checkpoint(nn.Linear(3), tmp_path / "net.pt")
    with pytest.raises(FileNotFoundError):
        load_checkpoint(model, tmp_path / "net.pt")
    (tmp_path / "net.xyz").write_bytes(b"anything")
    with pytest.raises(FileFormatError, match=r"net\.xyz is not a checkpoint that LabDL can read"):
        load_checkpoint(model, tmp_path / "net.xyz")
    path = save_checkpoint(model, tmp_path / "net.safetensors", "mindspore")
    assert {"1.gamma", "2.weight"} <= safetensors.read(path).keys()
    loaded = load_checkpoint(net(1), path, framework="mindspore").state_dict()
    np.testing.assert_array_equal(loaded["0/kernel:0"], model.state_dict()["0/kernel:0"])
    with pytest.raises(StateDictError, match=r"missing 1\.weight \(here 1/gamma\).*unexpected 1\.gamma"):
        load_checkpoint(model, path)
    (tmp_path / "list.pdparams").write_bytes(pickle.dumps([1, 2]))
    with pytest.raises(FileFormatError, match="holds list, not a dictionary"):
        load_checkpoint(model, tmp_path / "list.pdparams")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("readme.txt", "hello")
    (tmp_path / "other.pt").write_bytes(buffer.getvalue())
    with pytest.raises(FileFormatError, match="zip archive, but not one of PyTorch"):
        load_checkpoint(model, tmp_path / "other.pt")
