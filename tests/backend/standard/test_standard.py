"""T/AII 008-2023 on one backend: every row of the conformance table, what is missing, the command and the document."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

import labdl
from labdl import cli, conformance, nn, standard
from labdl.conformance.row import Missing, Row, check_signature, later
from labdl.errors import ConfigError, LabDLError, ModelError, StateDictError

pytestmark = pytest.mark.sample(backends=2)

ROOT = Path(__file__).parents[3]

# Rows that wait for something, with the reason; one that is built must leave this list, and scripts/standard_table.py be run
MISSING: dict[str, str] = {}

_tried: dict[str, conformance.Result] = {}


def tried(row) -> conformance.Result:
    """The result of a row, which is tried once."""
    if row.key not in _tried:
        _tried[row.key] = conformance.run_row(row)
    return _tried[row.key]


@pytest.mark.sample(every=16)
@pytest.mark.parametrize("row", [pytest.param(row, id=row.key) for row in conformance.ROWS])
def test_row(row):
    result = tried(row)
    assert (result.status, result.message if result.status == "failed" else "") == (
        "missing" if row.key in MISSING else "passed",
        "",
    )
    assert bool(result.message) == (row.key in MISSING)


def test_all_that_is_missing_is_a_row():
    assert set(MISSING) - {row.key for row in conformance.ROWS} == set()


def test_every_interface_has_a_row_and_a_clause_in_its_docstring():
    clauses = [row.clause.partition(",")[0] for row in conformance.ROWS if row.name in conformance.INTERFACES]
    assert sorted(clauses) == sorted(entry.clause for entry in conformance.INTERFACES.values())
    for name, entry in conformance.INTERFACES.items():
        table = f", table {entry.table})" if entry.table != "(text)" else ")"
        assert f"({entry.clause}{table}" in getattr(standard, name).__doc__, name
    assert set(standard.__all__) == {*conformance.INTERFACES, "construct_evaluator", "evaluate"}


@pytest.mark.sample(backends=["torch"])
def test_the_document_is_up_to_date():
    """Made again it is the same; `python scripts/standard_table.py` brings it up to date.

    Rows that are not missing say the same whether they are tried or not: the tests of rows try them.
    """
    spec = importlib.util.spec_from_file_location("standard_table", ROOT / "scripts" / "standard_table.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    results = [
        tried(row) if row.key in MISSING else conformance.Result(row, "passed", "", seconds=0.0)
        for row in conformance.ROWS
    ]
    assert script.document(results) == (ROOT / "docs" / "standard.md").read_text()


# -- the command


def fails():
    raise ValueError("it is\nwrong")


def lacks():
    later(labdl.data, "Telepathy", "reading of minds")


ENDED = {
    "passed": Row("C.1", "one", "What holds", "nothing", lambda: None),
    "failed": Row("C.2", "two", "What does not hold", "something", fails),
    "missing": Row("C.3", "three", "What is not there", "a name", lacks),
}


@pytest.mark.parametrize(
    ("rows", "options", "status"),
    [
        (["passed"], [], 0),
        (["passed", "missing"], [], 0),
        (["passed", "missing"], ["--strict"], 1),
        (["passed", "failed"], [], 1),
        (["passed", "failed", "missing"], ["--json"], 1),
    ],
)
def test_exit_status_and_table(rows, options, status, monkeypatch, capsys, backend):
    monkeypatch.setattr(conformance, "ROWS", [ENDED[name] for name in rows])
    assert cli.main(["conformance", "--backend", backend.name, *options]) == status
    out, err = capsys.readouterr()
    assert err == ""
    if "--json" in options:
        told = json.loads(out)
        assert (told["backend"], told["passed"], told["failed"], told["missing"]) == (backend.name, 1, 1, 1)
        assert [row["status"] for row in told["rows"]] == rows
        assert told["rows"][1]["message"] == "ValueError: it is wrong"
        assert told["rows"][2]["message"] == "labdl.data has no Telepathy (reading of minds)"
        return
    assert "passed   C.1  one: What holds [nothing]" in out
    counts = ", ".join(f"{rows.count(name)} {name}" for name in ("passed", "failed", "missing"))
    assert out.splitlines()[-1] == f"{len(rows)} rows on {backend.name}: {counts}"


def test_the_real_table_by_clause(capsys, backend):
    assert cli.main(["conformance", "--backend", backend.name, "--clause", "A.1"]) == 0
    assert f"4 rows on {backend.name}: 4 passed, 0 failed, 0 missing" in capsys.readouterr().out
    assert cli.main(["conformance", "--clause", "Z.9"]) == 1
    assert "Z.9" in capsys.readouterr().err


def test_what_is_built_must_be_tried():
    with pytest.raises(AssertionError, match="must try something"):
        later(labdl.data, "Telepathy ArrayDataset", "something")


def test_an_interface_with_other_parameters_is_noticed(monkeypatch):
    monkeypatch.setattr(standard, "permute", lambda tensor, axes: tensor)
    with pytest.raises(AssertionError, match="dims"):
        check_signature("permute")
    monkeypatch.delattr(standard, "reshape")
    with pytest.raises(Missing, match="reshape"):
        check_signature("reshape")


# -- what the rows leave open


def test_the_default_backend_makes_the_tensors(backend):
    assert labdl.dispatch.owner(standard.initialize([1.0])) is backend


def test_an_optimizer_goes_on_when_the_model_changes(backend):
    model = nn.Sequential(nn.Linear(3), nn.Linear(2)).build((None, 4), seed=0).train()
    optimizer = standard.construct_optimizer(model, {"optimizer_method": "Adam", "base_learningrate": 0.1})
    x = standard.initialize(np.ones((2, 4), "float32"))

    def step():
        standard.forward(model, (x,))
        standard.backward(model, None)
        standard.update_learnable_parameter(model, optimizer)
        standard.zero_gradient(model, optimizer)

    step()
    model.freeze("0/*")
    before = model.state_dict()
    step()
    assert np.array_equal(model.state_dict()["0/kernel:0"], before["0/kernel:0"])
    assert not np.array_equal(model.state_dict()["1/kernel:0"], before["1/kernel:0"])
    model.unfreeze("0/*")
    step()
    assert not np.array_equal(model.state_dict()["0/kernel:0"], before["0/kernel:0"])
    state = optimizer.state_dict()
    other = standard.construct_optimizer(model, {"optimizer_method": "Adam"})
    other.load_state_dict(state)
    assert {k: v.tolist() for k, v in other.state_dict().items()} == {k: v.tolist() for k, v in state.items()}


def test_a_sampler_goes_on_from_its_place_only():
    sampler = standard.construct_sampler({}, labdl.data.ArrayDataset(np.arange(3)))
    with pytest.raises(StateDictError, match="an epoch and a position"):
        sampler.load_state_dict({"place": 3})
    with pytest.raises(ConfigError, match="is for 3 samples"):
        standard.iterate_sample(labdl.data.ArrayDataset(np.arange(4)), sampler)
    with pytest.raises(ConfigError, match="leaves nothing"):
        standard.construct_sampler({"batch_size": 9, "drop_last_batch": True}, labdl.data.ArrayDataset(np.arange(3)))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: standard.infer_one_sample(3, 1),
            "infer_one_sample wants a result of construct_inference, received int",
        ),
        (lambda: standard.infer_samples(3, []), "infer_samples wants a result of construct_inference"),
        (lambda: standard.construct_evalvater(3, {}), "construct_evalvater wants a result of construct_inference"),
        (lambda: standard.evalvate(3), "evalvate wants a result of construct_evalvater"),
        (lambda: standard.train_one_batch(3, {}), "train_one_batch wants a result of construct_trainer"),
        (lambda: standard.train_one_epoch(3, 0), "train_one_epoch wants a result of construct_trainer"),
        (lambda: standard.train(3), "train wants a result of construct_trainer"),
        (lambda: standard.zero_gradient(nn.Linear(1), 3), "zero_gradient wants a result of construct_optimizer"),
        (lambda: standard.iterate_batch([1], 3), "iterate_batch wants a result of construct_sampler"),
        (lambda: standard.operate(3), "operate wants a result of construct_operator"),
    ],
)
def test_what_no_constructor_made_is_refused(call, sentence):
    with pytest.raises(ConfigError, match=sentence):
        call()


def test_samples_for_an_inference_may_be_a_data_set_or_a_tensor():
    x = np.random.default_rng(0).normal(size=(5, 3)).astype("float32")
    made = standard.construct_inference(nn.Linear(2).build((None, 3), seed=0), {"batch_size": 2})
    expected = np.stack(standard.infer_samples(made, list(x)))
    for inputs in (x, labdl.data.ArrayDataset(x, np.arange(5)), standard.initialize(x), (row for row in x)):
        np.testing.assert_allclose(np.stack(standard.infer_samples(made, inputs)), expected, rtol=1e-6)


def test_the_arrays_of_a_data_set_are_a_list_of_names(tmp_path):
    np.savez(tmp_path / "data.npz", x=np.zeros(3))
    for wrong in ("x", [], 3):
        with pytest.raises(ConfigError, match="arrays wants a list of names"):
            standard.construct_dataset(str(tmp_path / "data.npz"), arrays=wrong)


def test_errors_are_those_of_labdl_and_of_python():
    for kind, builtin in (
        (ConfigError, ValueError),
        (ModelError, ValueError),
        (StateDictError, KeyError),
        (labdl.errors.MissingFileError, FileNotFoundError),
        (labdl.errors.GradientError, ArithmeticError),
        (labdl.errors.UpdateError, ArithmeticError),
    ):
        assert issubclass(kind, builtin)
        assert issubclass(kind, LabDLError)


@pytest.mark.parametrize("compiled", [False, None], ids=["eager", "default"])
@pytest.mark.parametrize(
    ("x", "y"),
    [
        (np.ones((6, 5), "float32"), np.zeros(6, "int64")),  # of another width
        (np.ones((6, 4), "float32"), np.array([0, 1, 0, 1, 0, 3])),  # a class that there is no output for
        (np.ones((6, 4), "float32"), np.array([0, 1, 0, 1, 0, -1])),
        (np.ones((6, 4), "float32"), np.zeros(5, "int64")),  # fewer targets than inputs
        (np.ones((6, 4), "float32"), np.zeros((6, 7), "float32")),
        (np.array([["a"] * 4] * 6), np.zeros(6, "int64")),
    ],
    ids=["width", "high label", "negative label", "length", "shape", "text"],
)
def test_batch_that_does_not_fit_changes_nothing(x, y, compiled):
    model = nn.Sequential(nn.Linear(3), nn.BatchNorm(), nn.Linear(3)).build((None, 4), seed=0)
    trainer = standard.construct_trainer(model, {"optimizer": "adam", "compiled": compiled})
    batch = {"X": np.random.default_rng(0).standard_normal((6, 4)).astype("float32"), "Y": np.array([0, 1, 2, 0, 1, 2])}
    for trained in (False, True):
        if trained:
            standard.train_one_batch(trainer, batch)
        before = model.state_dict()
        slots = trainer.bound_optimizer.state_dict() if trained else {}
        with pytest.raises(labdl.errors.GradientError):
            standard.train_one_batch(trainer, {"X": x, "Y": y})
        for name, value in model.state_dict().items():
            np.testing.assert_array_equal(value, before[name], name)
        for name, value in slots.items():
            np.testing.assert_array_equal(trainer.bound_optimizer.state_dict()[name], value, name)
    assert np.isfinite(standard.train_one_batch(trainer, batch))
