"""Tables of files against pandas, their preparation against scikit-learn; it sees the training part only."""

import json
import pickle

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_wine
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, OrdinalEncoder, QuantileTransformer, StandardScaler

from labdl import data
from labdl.data import transforms as T
from labdl.errors import ConfigError, DataError, FileFormatError, MissingFileError


def frame(rows=178):
    """Wines with holes, categories, dates and notes."""
    wine, rng = load_wine(as_frame=True), np.random.default_rng(0)
    found = wine.data[["alcohol", "ash", "proline"]].copy()
    found.loc[rng.random(len(found)) < 0.1, "alcohol"] = np.nan
    found["region"] = rng.choice(["north", "south", "east"], len(found)).astype(object)
    found.loc[rng.random(len(found)) < 0.1, "region"] = None
    days = pandas.Timestamp("2024-01-01 10:30") + pandas.to_timedelta(rng.integers(0, 700, len(found)), "D")
    found["day"] = pandas.Series(days).where(rng.random(len(found)) > 0.1)
    found["note"] = [f"bottle {i} of {r}" for i, r in enumerate(found["region"])]
    found["class"] = wine.target_names[wine.target]
    return found.iloc[:rows]


FRAME = frame()
NUMBERS = ["alcohol", "ash", "proline"]


@pytest.fixture(params=["wine.csv", "wine.tsv", "wine.parquet", "frame", "columns"])
def table(request, tmp_path):
    if request.param == "frame":
        return data.Table(FRAME, label="class")
    if request.param == "columns":
        return data.Table({name: FRAME[name].tolist() for name in FRAME}, label="class")
    file = tmp_path / request.param
    if file.suffix == ".parquet":
        FRAME.to_parquet(file)
    else:
        FRAME.to_csv(file, index=False, sep="\t" if file.suffix == ".tsv" else ",")
    return data.Table(file, label="class")


def test_each_source_is_the_same_table(table):
    assert table.kinds == {
        **dict.fromkeys(NUMBERS, "number"),
        "region": "category",
        "day": "date",
        "note": "text",
    }
    assert table.missing == {name: count for name, count in FRAME.isna().sum().items() if count}
    assert table.classes == sorted(set(FRAME["class"]))
    assert (len(table), table.targets) == (len(FRAME), ("label",))
    expected = [table.classes.index(name) for name in FRAME["class"]]
    assert table.labels().tolist() == expected
    columns = table.to_columns()
    for name in NUMBERS:
        np.testing.assert_array_equal(columns[name], FRAME[name].to_numpy())
    np.testing.assert_array_equal(columns["day"], FRAME["day"].to_numpy("M8[us]"))
    for name in ("region", "note"):
        assert columns[name].tolist() == FRAME[name].where(FRAME[name].notna(), None).tolist()
    row = table[0]
    assert row["label"] == expected[0]
    assert type(row["note"]) is data.Text
    missing = int(np.flatnonzero(FRAME["alcohol"].isna())[0])
    assert table[missing]["alcohol"] is None
    assert pickle.loads(pickle.dumps(table))[5] == table[5]


def test_parts_are_tables(table):
    train, test = table.split(0.8, seed=3, stratify=True)
    assert type(train) is type(test) is type(table)
    assert (len(train) + len(test), train.kinds) == (len(table), table.kinds)
    assert abs(np.bincount(train.labels()) / len(train) - np.bincount(table.labels()) / len(table)).max() < 0.02
    north = table.filter(lambda row: row["region"] == "north")
    assert set(north.to_columns()["region"]) == {"north"}
    assert table.take(3)[2] == table[2]


def reference(scale, encode):
    """The same preparation by scikit-learn."""
    numbers = [SimpleImputer(strategy="mean")] + ([scale] if scale is not None else [])
    return ColumnTransformer([("n", make_pipeline(*numbers), NUMBERS), ("c", encode, ["region"])])


@pytest.mark.parametrize(
    ("scale", "theirs"),
    [
        ("standard", StandardScaler()),
        ("min_max", MinMaxScaler()),
        ("quantile", QuantileTransformer(n_quantiles=142)),
        ("none", None),
    ],
)
@pytest.mark.parametrize("encode", ["one_hot", "ordinal"])
def test_features_are_those_of_scikit_learn(scale, theirs, encode):
    table = data.Table(FRAME, label="class", columns=[*NUMBERS, "region"])
    order = np.random.default_rng(1).permutation(len(FRAME))
    train, test = order[:142], order[142:]
    ours = T.TablePreprocessor(scale=scale, encode=encode).fit(table.select(train))
    plain = FRAME.where(FRAME.notna(), None).assign(**{name: FRAME[name] for name in NUMBERS})
    encoder = (
        OneHotEncoder(sparse_output=False, handle_unknown="ignore")
        if encode == "one_hot"
        else OrdinalEncoder(encoded_missing_value=3)
    )
    fitted = reference(theirs, encoder).fit(plain.iloc[train])
    expected = fitted.transform(plain.iloc[test])
    result = table.select(test).map(ours).to_columns()
    found = result["features"] if encode == "one_hot" else np.column_stack([result["features"], result["categories"]])
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-5)
    assert result["features"].dtype == np.float32


@pytest.mark.parametrize("settings", [{}, {"indicator": True}, {"encode": "ordinal", "impute": "median"}])
def test_rows_whole_tables_and_files_give_the_same(settings):
    table = data.Table(FRAME, label="class")
    train, test = table.split(0.8)
    prepare = T.TablePreprocessor(**settings).fit(train)
    mapped = test.map(prepare)
    restored = data.Pipeline.from_dict(json.loads(json.dumps(data.Pipeline(prepare).to_dict())))
    assert mapped.inputs == (("features",) if "encode" not in settings else ("features", "categories"))
    assert len(prepare.feature_names) == mapped[0]["features"].shape[0]
    for at in range(len(test)):
        alone, again = prepare(test[at]), restored(test[at])
        assert alone.keys() == mapped[at].keys() == again.keys()
        for name, value in mapped[at].items():
            np.testing.assert_array_equal(alone[name], value)
            np.testing.assert_array_equal(again[name], value)
    rows = T.TablePreprocessor(**settings).fit([row for row in train])
    np.testing.assert_array_equal(rows(test[0])["features"], mapped[0]["features"])


def test_the_test_part_is_not_seen():
    rows = {"a": [1.0, 2.0, 3.0, None], "c": ["x", "y", "x", "x"], "label": [0, 1, 0, 1]}
    table = data.Table(rows)
    prepare = T.TablePreprocessor().fit(table)
    features = prepare({"a": None, "c": "z"})["features"]  # the mean, and an unknown category
    assert features.tolist() == [0, 0, 0]
    assert prepare.feature_names == ("a", "c=x", "c=y")
    np.testing.assert_allclose(prepare({"a": 3.0, "c": "y"})["features"], [np.sqrt(1.5) * 2 / np.sqrt(3), 0, 1], 0.2)
    ordinal = T.TablePreprocessor(encode="ordinal").fit(table)
    assert ordinal({"a": 2.0, "c": "z"})["categories"].tolist() == [2]
    assert ordinal.cardinalities == (3,)
    indicator = T.TablePreprocessor(indicator=True).fit(table)
    assert indicator({"a": None, "c": "x"})["features"].tolist() == [0, 1, 1, 0]


def test_labels():
    numbers = data.Table({"x": [1, 2, 3], "target": [0.5, 1.5, 2.5]})
    assert (numbers.classes, numbers.labels().dtype) == (None, np.float32)
    whole = data.Table({"x": [1, 2, 3], "y": [3, 7, 3]}, label="y")
    assert (whole.classes, whole.labels().tolist()) == (["3", "7"], [0, 1, 0])
    counted = data.Table({"x": [1, 2, 3], "y": [3, 7, 3]}, label="y", kinds={"y": "number"})
    assert (counted.classes, counted.labels().tolist()) == (None, [3.0, 7.0, 3.0])
    ordered = data.Table({"x": [1, 2], "y": ["b", "a"]}, label="y", classes=["b", "a"])
    assert ordered.labels().tolist() == [0, 1]
    holes = {"x": [1, 2, 3], "y": ["b", None, "a"]}
    with pytest.raises(FileFormatError, match=r"row 2 has no label in 'y'.*drop_unlabeled"):
        data.Table(holes, label="y")
    dropped = data.Table(holes, label="y", drop_unlabeled=True)
    assert [row["x"] for row in dropped] == [1, 3]
    assert data.Table(holes, label=False).targets == ()


def test_settings_of_csv(tmp_path):
    file = tmp_path / "a.csv"
    file.write_bytes("größe;tag;plz\n1,5;24.12.2025;01067\n-;1.1.2026;01069\n".encode("latin-1"))
    table = data.Table(
        file, decimal=",", date_format="%d.%m.%Y", missing=["-"], encoding="latin-1", kinds={"plz": "category"}
    )
    assert table.kinds == {"größe": "number", "tag": "date", "plz": "category"}
    assert table[0]["größe"] == 1.5
    assert table[1] == {"größe": None, "tag": np.datetime64("2026-01-01", "us").item(), "plz": "01069"}
    file.write_text("1,2\n3,4\n")
    assert data.Table(file, column_names=["a", "b"]).to_columns()["a"].tolist() == [1, 3]


@pytest.mark.sample(False)
@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.one_of(st.none(), st.floats(-1e6, 1e6, width=32), st.integers(-9, 9)),
            st.one_of(st.none(), st.text(st.sampled_from('ab"\n,é'), min_size=1).filter(str.strip)),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_csv_is_read_as_by_pandas(tmp_path_factory, rows):
    rows = [(2.5, 'x "y"'), *rows]
    file = tmp_path_factory.mktemp("csv") / "a.csv"
    pandas.DataFrame(rows, columns=["n", "t"], dtype=object).to_csv(file, index=False)
    columns = data.Table(file).to_columns()
    expected = pandas.read_csv(file, float_precision="round_trip")
    np.testing.assert_array_equal(columns["n"].astype("float64"), expected["n"].to_numpy("float64"))
    texts = [None if value != value else value.strip() for value in expected["t"]]
    assert columns["t"].tolist() == texts


def test_errors_name_file_line_and_column(tmp_path):
    with pytest.raises(MissingFileError):
        data.Table(tmp_path / "no.csv")
    file = tmp_path / "a.csv"
    file.write_text('a,b\n1,"x\ny"\n\n2\n')
    with pytest.raises(FileFormatError, match=r"a.csv: line 5 has 1 columns, the first has 2"):
        data.Table(file)
    file.write_text('a,b\n1,"x\n')
    with pytest.raises(FileFormatError, match="quotation mark without its end"):
        data.Table(file)
    file.write_text("a,a\n1,2\n")
    with pytest.raises(FileFormatError, match="two columns of the name 'a'"):
        data.Table(file)
    file.write_bytes(b"a,b\n1,\xff\n")
    with pytest.raises(FileFormatError, match=r"a.csv"):
        data.Table(file)
    file.write_text("a,b\n1,x\n2,y\n")
    with pytest.raises(FileFormatError, match="'b' wants a number in each row, received 'x'"):
        data.Table(file, kinds={"b": "number"})
    with pytest.raises(ConfigError, match=r"a, b.*'c'"):
        data.Table(file, columns=["c"])
    with pytest.raises(ConfigError, match=r"label='c'"):
        data.Table(file, label="c")
    (tmp_path / "b.parquet").write_bytes(b"PAR1 no table PAR1")
    with pytest.raises(FileFormatError, match=r"b.parquet is no Parquet file"):
        data.Table(tmp_path / "b.parquet")
    pandas.DataFrame({"a": [[1], [2]]}).to_parquet(tmp_path / "b.parquet")
    with pytest.raises(FileFormatError, match=r"'a' has values of list"):
        data.Table(tmp_path / "b.parquet")
    with pytest.raises(DataError, match="one length"):
        data.Table({"a": [1], "b": [1, 2]})
    table = data.Table(file)
    with pytest.raises(ConfigError, match=r"fit\(train\)"):
        T.TablePreprocessor()(table[0])
    prepare = T.TablePreprocessor().fit(table)
    with pytest.raises(DataError, match="no column 'b', but a: None stands"):
        prepare({"a": 1})
    state = prepare.state_dict()
    for wrong in ({}, {**state, "stages": {}}, {**state, "kinds": {"a": "date"}}, {**state, "missing": ["c"]}, 7):
        with pytest.raises(ConfigError, match="cannot use its state"):
            T.TablePreprocessor().load_state_dict(wrong)


def test_transforms_of_columns_change_the_whole_table_at_once():
    table = data.Table(FRAME, label="class")
    calls = []

    class Counted(T.Standardize):
        def apply(self, sample, rng):
            calls.append(len(sample["ash"]))
            return super().apply(sample, rng)

    scale = Counted(("ash",)).fit(table)
    mapped = table.map(scale).map(T.Impute(("alcohol",)).fit(table))
    values = FRAME["ash"]
    np.testing.assert_allclose([row["ash"] for row in mapped], (values - values.mean()) / values.std(ddof=0), 1e-5)
    assert calls == [len(FRAME)]
    plain = table.map(T.Standardize(("ash",)).fit(table))
    assert pickle.loads(pickle.dumps(plain))[3]["ash"] == plain[3]["ash"]


def test_a_pipeline_is_fitted_in_order():
    table = data.Table(FRAME, label="class")
    pipeline = data.Pipeline([T.Impute(("alcohol",), strategy="median"), T.Standardize(("alcohol", "ash"))]).fit(table)
    filled = FRAME["alcohol"].fillna(FRAME["alcohol"].median())
    assert pipeline.transforms[1].state_dict()["values"][0]["mean"] == pytest.approx(filled.mean())
    rows = [{"alcohol": row["alcohol"], "ash": row["ash"]} for row in table]
    same = data.Pipeline([T.Impute(("alcohol",), strategy="median"), T.Standardize(("alcohol", "ash"))]).fit(rows)
    assert same.to_dict() == pipeline.to_dict()
    half = data.Table(FRAME.iloc[:50], label="class")
    assert pipeline.fit(half).to_dict() == same.to_dict()  # what is fitted stays
    assert pipeline.fit(half, refit=True).to_dict() != same.to_dict()
    texts = data.Pipeline([T.Lower(), T.WhitespaceTokenizer(), T.Lookup()]).fit(["A b", "a C"])
    assert texts("B a").tolist() == [texts.transforms[2].vocab.index(word) for word in "ba"]


def test_categories_that_are_numbers(tmp_path):
    table = data.Table({"zip": [10, 20, None, 10], "open": [True, False, True, True]}, kinds={"zip": "category"})
    assert table.to_columns()["zip"].tolist() == ["10", "20", None, "10"]
    prepare = T.TablePreprocessor().fit(table)
    assert prepare.feature_names == ("zip=10", "zip=20", "zip=None", "open=false", "open=true")
    for value in (20, 20.0, np.int64(20), "20"):
        assert prepare({"zip": value, "open": True})["features"].tolist() == [0, 1, 0, 0, 1]
    with pytest.raises(DataError, match=r"'a' has no values in the training part.*columns="):
        T.TablePreprocessor().fit({"a": [None, None], "b": [1, 2]})


def test_long_rows_blank_lines_and_byte_order_marks(tmp_path):
    file = tmp_path / "a.csv"
    long = "x" * 3_000_000
    file.write_bytes(f'\ufeff\n\na,"b\nc"\n1,{long}\n\n2,"y\n"\n'.encode())
    table = data.Table(file)
    assert table.to_columns()["a"].tolist() == [1, 2]
    assert table.to_columns()["b\nc"].tolist() == [long, "y"]
    file.write_bytes("\ufeffgröße,b\n1,2\n".encode())
    assert list(data.Table(file, encoding="utf-8-sig").columns) == ["größe", "b"]
