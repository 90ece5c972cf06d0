"""The command line: what it says of files, what it writes, and errors as one sentence."""

import json
import subprocess
import sys

import numpy as np
import pytest

import labdl
from labdl import cli
from labdl.graph import Edge, Graph, Node
from labdl.saving import save_parameters, save_structure


def run(capsys, *arguments):
    """Exit status, what was printed, and what was said of problems."""
    status = cli.main([str(a) for a in arguments])
    out, err = capsys.readouterr()
    return status, out, err


def sentence(err):
    assert "Traceback" not in err
    (line,) = err.splitlines()
    assert line.startswith("labdl: ")
    return line


def test_version(capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(["--version"])
    assert (end.value.code, capsys.readouterr().out) == (0, f"labdl {labdl.__version__}\n")


def test_errors_of_the_system_have_no_number(tmp_path, capsys):
    status, _, err = run(capsys, "check", tmp_path / "missing.labdl")
    assert status == 1
    assert sentence(err) == f"labdl: there is no file {tmp_path / 'missing.labdl'}"
    status, _, err = run(capsys, "check", tmp_path)
    assert status == 1
    assert "folder" in sentence(err)
    status, _, err = run(capsys, "export", tmp_path / "missing.labdl", "--to", "onnx", "-o", tmp_path / "a" / "b.onnx")
    assert status == 1
    assert "Errno" not in sentence(err)


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("arguments", [["models"], ["--help"], ["runs", "--help"]])
def test_closed_pipe_ends_without_a_message(arguments):
    command = subprocess.Popen(
        [sys.executable, "-m", "labdl.cli", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    command.stdout.close()
    assert command.stderr.read() == b""
    command.stderr.close()
    assert command.wait() in (141, 120, 0)


@pytest.mark.sample(False)
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams_do_not_matter(closed):
    command = f"{sys.executable} -m labdl.cli models {closed}"
    ended = subprocess.run(["sh", "-c", command], capture_output=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")


# -- check


def test_a_whole_model(saved, capsys):
    _, structure, weights = saved
    status, out, err = run(capsys, "check", structure)
    assert (status, err) == (0, "")
    for part in (
        "net.labdl: a structure of format 3, whole",
        "model 'residual': 8 nodes, 8 connections",
        "ops.relu",
        "input  input: any × 3 × 8 × 8 float32",
        "output head: any × 10 float32",
        "2,838 parameters",
        "net.labdl and net.npz fit together",
    ):
        assert part in out
    status, out, err = run(capsys, "check", weights)
    assert (status, err) == (0, "")
    for part in ("stem/kernel:0", "3 × 3 × 3 × 4", "net.npz: 10 arrays, 2,846 values", "whole", "fit together"):
        assert part in out


def test_a_structure_without_parameters(residual, tmp_path, capsys):
    save_structure(residual, tmp_path / "net.labdl")
    status, out, err = run(capsys, "check", tmp_path / "net.labdl")
    assert (status, err) == (0, "")
    assert "no parameters beside it (net.npz)" in out


def test_parameters_without_a_structure(tmp_path, capsys):
    save_parameters({"a": np.ones(3), "b": np.float32(1)}, tmp_path / "net.npz")
    status, out, _ = run(capsys, "check", tmp_path / "net.npz")
    assert status == 0
    assert "one number" in out
    assert "net.npz: 2 arrays, 4 values" in out


@pytest.mark.parametrize("suffix", [".labdl", ".npz"])
def test_a_damaged_file(saved, suffix, capsys):
    path = saved[1].with_suffix(suffix)
    data = bytearray(path.read_bytes())
    data[data.rindex(b"relu") if suffix == ".labdl" else len(data) // 2] ^= 1
    path.write_bytes(data)
    status, out, err = run(capsys, "check", path)
    assert status == 1
    assert f"net{suffix} is " in sentence(err)
    assert "whole" not in out


def test_files_that_do_not_fit_together(saved, capsys):
    _, structure, weights = saved
    save_parameters({"other:0": np.ones(2)}, weights)
    status, out, err = run(capsys, "check", structure)
    assert status == 1
    assert "whole" in out
    assert "missing stem/kernel:0" in sentence(err)


def test_a_graph_with_problems(tmp_path, capsys):
    nodes = {
        "i": Node("Input", "input", {"shape": (None, 3)}),
        "a": Node("acme.Scale", "scale"),
        "b": Node("Add", "sum"),
    }
    graph = Graph(nodes, {"e": Edge("i", "a")})
    save_structure(graph, tmp_path / "net.labdl")
    status, out, err = run(capsys, "check", tmp_path / "net.labdl")
    assert status == 1
    assert "whole" in out
    assert err.splitlines() == [
        "labdl: net.labdl: scale: layer type 'acme.Scale' is unknown: import the module of acme that defines the class "
        "Scale first",
        "labdl: net.labdl: sum: not connected: draw a line to its input xs",
    ]


def test_control_characters_are_not_printed(tmp_path, capsys):
    graph = Graph({"n": Node("\x1b[2J", "n")}, name="\x1b]0;title\x07")
    save_structure(graph, tmp_path / "net.labdl")
    _, out, err = run(capsys, "check", tmp_path / "net.labdl")
    assert "\x1b" not in out + err


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is not a LabDL structure file: it is empty"),
        (b"hello", "it is not HDF5"),
        (b"PK\3\4", "is not a readable parameter file"),
    ],
)
def test_unknown_file_type(content, said, tmp_path, capsys):
    (tmp_path / "file").write_bytes(content)
    status, _, err = run(capsys, "check", tmp_path / "file")
    assert status == 1
    assert said in sentence(err)


def test_a_file_that_is_not_there(tmp_path, capsys):
    for command in (["check", tmp_path / "none.labdl"], ["export", tmp_path / "none.labdl", "--to", "json"]):
        status, _, err = run(capsys, *command)
        assert status == 1
        assert "none.labdl" in sentence(err)


# -- export and convert


def test_export_as_json(saved, capsys):
    model, structure, _ = saved
    status, out, _ = run(capsys, "export", structure, "--to", "json")
    assert status == 0
    assert f"wrote {structure.with_suffix('.json')}" in out
    assert Graph.from_dict(json.loads(structure.with_suffix(".json").read_text())) == model.graph


def test_export_as_a_picture(saved, tmp_path, capsys):
    model, structure, _ = saved
    status, out, _ = run(capsys, "export", structure, "--to", "svg")
    assert status == 0
    assert f"wrote {structure.with_suffix('.svg')}" in out
    assert structure.with_suffix(".svg").read_text(encoding="utf-8") == model.graph.to_svg()
    assert run(capsys, "export", structure, "--to", "svg", "-o", tmp_path / "drawing.svg")[0] == 0
    assert (tmp_path / "drawing.svg").exists()


@pytest.mark.slow
def test_export_as_onnx(saved, tmp_path, capsys):
    onnxruntime = pytest.importorskip("onnxruntime")
    model, structure, _ = saved
    assert run(capsys, "export", structure, "--to", "onnx", "-o", tmp_path / "out.onnx")[0] == 0
    x = np.random.default_rng(0).normal(size=(3, 3, 8, 8)).astype("float32")
    session = onnxruntime.InferenceSession(tmp_path / "out.onnx", providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {session.get_inputs()[0].name: x})
    np.testing.assert_allclose(found, model.eval()(x), rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_a_checkpoint_is_written_and_converted(saved, tmp_path, capsys):
    """There and back through another framework's names, without either framework."""
    model, structure, _ = saved
    assert run(capsys, "export", structure, "--to", "torch", "-o", tmp_path / "net.pt")[0] == 0
    status, out, _ = run(
        capsys, "convert", tmp_path / "net.pt", "--from", "torch", "--to", "paddle", "--model", structure
    )
    assert status == 0
    assert f"wrote {tmp_path / 'net.pdparams'}" in out
    again = labdl.load(structure, backend="numpy", parameters=False, seed=5)
    labdl.load_checkpoint(again, tmp_path / "net.pdparams")
    for key, value in model.state_dict().items():
        np.testing.assert_array_equal(again.state_dict()[key], value)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--to", "onnx", "-o", "net.txt"], "net.txt does not have the suffix of onnx: give it the suffix .onnx"),
        (["--to", "svg", "-o", "net.png"], "net.png does not have the suffix of svg: give it the suffix .svg"),
        (["--to", "paddle", "-o", "net.pt"], "net.pt is a file of torch, not of paddle"),
        (["--to", "torch", "-o", "net.txt"], "net.txt does not have the suffix of a checkpoint"),
        (["--to", "torch", "-o", "nodir/out.py"], "nodir: create it first"),
        (["--to", "svg", "-o", "nodir/net.svg"], "nodir: create it first"),
        (["--to", "json", "-o", f"{'n' * 300}.json"], "nnn.json: File name too long"),
    ],
)
def test_invalid_export_targets_fail(saved, arguments, said, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    status, _, err = run(capsys, "export", saved[1], *arguments)
    assert status == 1
    assert said in sentence(err)


def test_export_of_a_folder(capsys):
    status, _, err = run(capsys, "export", "", "--to", "torch")
    assert (status, sentence(err)) == (
        1,
        "labdl: export wants a saved model, received the folder '.': give its .labdl file",
    )


@pytest.mark.slow
def test_a_checkpoint_of_another_model(saved, tmp_path, capsys):
    small = labdl.nn.Sequential(labdl.nn.Linear(2)).build((None, 3), backend="numpy")
    labdl.save_checkpoint(small, tmp_path / "small.pt")
    status, _, err = run(capsys, "convert", tmp_path / "small.pt", "--to", "mindspore", "--model", saved[1])
    assert status == 1
    assert "small.pt does not fit the model" in sentence(err)
    assert not (tmp_path / "small.ckpt").exists()


def test_wrong_use_is_explained(capsys):
    for arguments in ([], ["nonsense"], ["export", "net.labdl"], ["export", "net.labdl", "--to", "caffe"]):
        with pytest.raises(SystemExit) as caught:
            cli.main(arguments)
        assert caught.value.code == 2
        assert "usage: labdl" in capsys.readouterr().err


def test_the_program_runs(saved):
    """As installed, in a process of its own, without loading a framework."""
    code = (
        "import sys; from labdl.cli import main; status = main(); "
        "assert not {'torch', 'tensorflow', 'paddle', 'mindspore'} & sys.modules.keys(); sys.exit(status)"
    )
    done = subprocess.run([sys.executable, "-c", code, "check", saved[1]], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert "fit together" in done.stdout


# -- models side by side


def test_the_models_of_the_zoo(capsys):
    status, out, err = run(capsys, "models", "--task", "translation")
    assert (status, err) == (0, "")
    assert [line.split()[:2] for line in out.splitlines()] == [
        ["bytenet", "278,523,496"],
        ["mbart_large", "610,851,840"],
        ["opus_mt_en_de", "73,886,208"],
        ["transformer_base", "63,084,544"],
        ["transformer_big", "214,249,472"],
    ]
    status, _, err = run(capsys, "models", "--task", "cooking")
    assert status == 1
    assert "no models for 'cooking'" in sentence(err)


def test_how_two_models_differ(saved, capsys, tmp_path):
    _, structure, _ = saved
    assert run(capsys, "diff", structure, structure, "--exit-code") == (0, "no difference\n", "")
    graph = labdl.saving.open_structure(structure).graph
    nodes = {
        i: Node(n.type, n.name, {**n.params, "out_features": 3}) if n.name == "head" else n
        for i, n in graph.nodes.items()
    }
    save_structure(Graph(nodes, graph.edges, graph.name, groups=graph.groups), tmp_path / "other.labdl")
    status, out, err = run(capsys, "diff", structure, tmp_path / "other.labdl", "--exit-code")
    assert (status, err) == (1, "")
    assert out.splitlines()[0] == "~ head (Linear): out_features 10 -> 3"
    assert any(line.startswith("parameters: 2,8") for line in out.splitlines())
    status, out, _ = run(capsys, "diff", "resnet18", "resnet34")
    assert status == 0
    assert "parameters: 11,689,512 -> 21,797,672" in out
    status, _, err = run(capsys, "diff", structure, "missing.labdl")
    assert status == 1
    assert "missing.labdl" in sentence(err)
