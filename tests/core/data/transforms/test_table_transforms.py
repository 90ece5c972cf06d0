"""Transforms of tables against scikit-learn and pandas, fitted on the training part only."""

import json

import numpy as np
import pandas
import pytest
from sklearn import preprocessing
from sklearn.feature_extraction import FeatureHasher
from sklearn.impute import SimpleImputer

from labdl.data import transforms as T
from labdl.errors import ConfigError, DataError

rng = np.random.default_rng(0)
TRAIN, TEST = rng.gamma(2.0, 3.0, (200, 3)), rng.gamma(2.0, 4.0, (50, 3))
TRAIN[::7, 1] = np.nan
TEST[::5, 1] = np.nan
TRAIN[:, 2] = TRAIN[:, 2].round()


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (T.Standardize(), preprocessing.StandardScaler()),
        (T.Standardize(with_mean=False), preprocessing.StandardScaler(with_mean=False)),
        (T.Standardize(with_std=False), preprocessing.StandardScaler(with_std=False)),
        (T.MinMax(), preprocessing.MinMaxScaler()),
        (T.MinMax(feature_range=(-2, 3), clip=True), preprocessing.MinMaxScaler((-2, 3), clip=True)),
        (T.Quantile(), preprocessing.QuantileTransformer(n_quantiles=200)),
        (
            T.Quantile(n_quantiles=20, output_distribution="normal"),
            preprocessing.QuantileTransformer(n_quantiles=20, output_distribution="normal"),
        ),
        (T.Impute(), SimpleImputer()),
        (T.Impute(strategy="median"), SimpleImputer(strategy="median")),
        (T.Impute(strategy="most_frequent"), SimpleImputer(strategy="most_frequent")),
        (T.Impute(strategy="constant", fill_value=-1.0), SimpleImputer(strategy="constant", fill_value=-1.0)),
    ],
    ids=repr,
)  # fmt: skip
def test_numbers_are_those_of_scikit_learn(ours, theirs):
    theirs.fit(TRAIN)
    ours.fit(TRAIN)
    expected = theirs.transform(TEST)
    np.testing.assert_allclose(ours(TEST), expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(ours((TEST[3], 1))[0], expected[3], rtol=1e-5, atol=1e-5)
    restored = T.from_dict(json.loads(json.dumps(T.to_dict(ours))))
    np.testing.assert_array_equal(restored(TEST), ours(TEST))


CITIES = ["Rome", "Oslo", "Rome", "Bonn", "Oslo", "Rome"]


def test_categories_are_those_of_scikit_learn():
    column = np.array(CITIES, object)[:, None]
    rows = [{"city": city, "label": 1} for city in CITIES]
    for drop in ("none", "first", "if_binary"):
        theirs = preprocessing.OneHotEncoder(sparse_output=False, drop=None if drop == "none" else drop).fit(column)
        ours = T.OneHotEncode(("city",), drop=drop).fit(rows)
        np.testing.assert_array_equal(np.stack([ours(row)["city"] for row in rows]), theirs.transform(column))
    expected = preprocessing.OrdinalEncoder().fit_transform(column)[:, 0]
    ordinal = T.OrdinalEncode(handle_unknown="use_encoded_value").fit(rows)
    assert [ordinal(row)["city"] for row in rows] == expected.tolist()
    assert ordinal({"city": "Paris"})["city"] == -1
    np.testing.assert_array_equal(ordinal({"city": np.array(CITIES)})["city"], expected)
    for size in (8, 100):
        hashed = FeatureHasher(size, input_type="dict").transform([{"city": city} for city in CITIES]).toarray()
        np.testing.assert_array_equal(
            np.stack([T.Hash(("city",), n_features=size).fit(rows)(r)["city"] for r in rows]), hashed
        )
    with pytest.raises(DataError, match=r"'city'.*'Paris'"):
        T.OneHotEncode().fit(rows)({"city": "Paris"})
    assert not T.OneHotEncode(handle_unknown="ignore").fit(rows)({"city": "Paris"})["city"].any()


def test_dates_are_those_of_pandas():
    dates = ["2024-02-29", "2025-12-31T23:59:58", "1969-07-20", None]
    parts = ("year", "quarter", "month", "day", "dayofyear", "weekday", "hour", "minute", "second")
    ours = T.DateParts(("day",), parts=parts).fit([{"day": d} for d in dates])
    series = pandas.Series(pandas.to_datetime(dates, format="ISO8601")).dt
    expected = np.stack([getattr(series, part).to_numpy("float32") for part in parts], 1)
    np.testing.assert_array_equal(np.stack([ours({"day": d})["day"] for d in dates]), expected)
    december, january = (
        T.DateParts(parts=("month",), cyclic=True).fit([{"d": d}])({"d": d})["d"] for d in ("2024-12-01", "2025-01-01")
    )
    assert np.linalg.norm(december - january) < 0.6
    assert T.DateParts(("d",), format="%d.%m.%Y").fit([{"d": "24.12.2025"}])({"d": "24.12.2025"})["d"].tolist() == [
        2025,
        12,
        24,
        2,
    ]
    with pytest.raises(DataError, match="2026-03-01"):
        ours({"day": "yesterday"})


def test_rows_tables_and_labels():
    rows = [
        {"age": 1.0, "city": "a", "label": 0},
        {"age": None, "city": "", "label": 1},
        {"age": 3.0, "city": "a", "label": 1},
    ]
    impute = T.Impute(("age", "city"), strategy="most_frequent", indicator=True).fit(rows)
    assert impute(rows[1]) == {"age": 1.0, "city": "a", "label": 1, "age_missing": 1.0, "city_missing": 1.0}
    scale = T.Standardize().fit({"age": [1.0, 3.0], "label": [0, 1]})
    assert scale({"age": 3.0, "label": 1}) == {"age": 1.0, "label": 1}
    assert scale.fit(pandas.DataFrame({"age": [1.0, 3.0]}))({"age": 1.0})["age"] == -1
    nested = T.Standardize(key="input").fit([{"input": np.array([1.0, 2.0])}, {"input": np.array([3.0, 2.0])}])
    assert nested({"input": np.array([3.0, 2.0]), "label": 7})["input"].tolist() == [1, 0]
    joined = T.Concatenate(keys=("age", "city"), into="input")(T.OneHotEncode(("city",)).fit(rows)(rows[0]))
    assert joined["input"].tolist() == [1, 1, 0]
    assert "city" not in joined


def test_errors_say_what_to_do():
    with pytest.raises(ConfigError, match="fit"):
        T.Standardize()({"age": 1.0})
    with pytest.raises(DataError, match="no column 'height'"):
        T.Standardize(("height",)).fit([{"age": 1.0}])
    with pytest.raises(DataError, match="wants numbers"):
        T.Standardize(("age",)).fit([{"age": "old"}])
    with pytest.raises(DataError, match="no values"):
        T.Impute(("age",)).fit([{"age": None}])
    with pytest.raises(DataError, match="no column 'age'"):
        T.Standardize().fit([{"age": 1.0}])({"size": 1})
    with pytest.raises(ConfigError, match="state"):
        T.from_dict({"type": "Standardize", "state": {"columns": ["a"], "values": [{}]}})
