"""Data sets in files: what is read of tables and arrays, and the sentences for what is none."""

import io
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labdl import data, standard
from labdl.data import file_datasets
from labdl.errors import ConfigError, FileFormatError, LabDLError, MissingFileError
from labdl.train.config import TrainerSettings


def table(folder, text, name="points.csv"):
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def rows(count, kind=lambda n: f"{n / 2}"):
    return "".join(f"{n},{n * n % 7},{kind(n)}\n" for n in range(count))


def test_a_table_of_classes_by_name(tmp_path):
    file = table(tmp_path, "width,height,species\n" + rows(50, lambda n: "abc"[n % 3]))
    train, test = data.csv(file)
    assert (len(train), len(test)) == (40, 10)
    x, y = train.arrays
    assert (x.shape[1:], x.dtype, y.dtype, train.classes) == ((2,), np.float32, np.int64, ["a", "b", "c"])
    np.testing.assert_allclose([x.mean(0), x.std(0)], [[0, 0], [1, 1]], atol=1e-6)
    again, _ = data.csv(file)
    np.testing.assert_array_equal(again.arrays[0], x)
    assert not np.array_equal(data.csv(file, seed=1)[0].arrays[0], x)
    samples = np.concatenate([part.arrays[0] for part in data.csv(file, scale=False)])
    assert sorted(samples[:, 0]) == list(range(50))  # each line is in one part, and in its own units


def test_a_table_of_numbers(tmp_path):
    file = table(tmp_path, "a;b;price\n" + rows(50).replace(",", ";"))
    train, _ = data.csv(file)
    x, y = train.arrays
    assert (y.shape, y.dtype, train.classes) == ((40, 1), np.float32, None)
    np.testing.assert_allclose([y.mean(), y.std()], [0, 1], atol=1e-6)
    x, y = data.csv(file, scale=False)[0].arrays
    np.testing.assert_allclose(y[:, 0], x[:, 0] / 2)
    other, _ = data.csv(file, target="b")
    assert other.classes == [str(n) for n in sorted({n * n % 7 for n in range(50)})]
    np.testing.assert_array_equal(np.unique(other.arrays[1]), range(len(other.classes)))


def test_tables_as_others_write_them(tmp_path):
    plain = data.csv(table(tmp_path, "a,b,c\n" + rows(30)))[0].arrays
    other = [
        "\ufeffa,b,c\r\n" + rows(30).replace("\n", "\r\n"),
        '"a","b","c"\n\n' + rows(30),
        rows(30),
        "a\tb\tc\n" + rows(30).replace(",", "\t"),
    ]
    for text in other:
        for ours, theirs in zip(data.csv(table(tmp_path, text))[0].arrays, plain, strict=True):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "points.csv has no samples: it wants a line of names and a line for each sample"),
        ("a,b\n", "has no samples"),
        ("a\n1\n2\n", "wants from 2 to 10,000 columns, divided by commas, semicolons or tabulators, received 1"),
        ("a,b\n1,2\n", "wants at least 2 samples, one for training and one for testing, received 1"),
        ("a,b\n1,2\n1\n", "line 3 has 1 columns, the first has 2"),
        ("a,a,b\n1,2,3\n", "has two columns named 'a'"),
        ("a,b\nParis,2\n1,2\n", "the column 'a' has 'Paris' in line 2, a number is wanted"),
        (
            "a,b\n1,2\n,2\n",
            "'a' has nothing in line 3, a number is wanted: fill it, or missing='mean' fills gaps",
        ),
        ("a,b\n1,2\nnan,2\n", "the column 'a' has 'nan' in line 3"),
        ("a,b\n1,2\n2,\n3,4\n", "the column 'b' has nothing in line 3"),
        ("a,b\n1e300,2\n-1e300,2\n1,2\n", "holds numbers that are too large"),
        (
            "a,b\n1,x\n2,\n3,x\n",
            "the column 'b' has nothing in line 3, a text is wanted: fill it, or missing='drop' leaves",
        ),
        ('a,b\n1,"2\n', "is not a table in UTF-8"),
        ("a,b\n1," + "2" * 200_000 + "\n", "is not a table in UTF-8: field larger than field limit"),
    ],
)
def test_invalid_tables_raise(text, sentence, tmp_path):
    with pytest.raises(LabDLError, match=None) as error:
        data.csv(table(tmp_path, text))
    assert sentence in str(error.value)
    assert "points.csv" in str(error.value)
    assert len(str(error.value)) < 300


GAPS = """size,color,weight,kind
1,red,NA,a
2,blue,4,b
,red,5,a
4,,6,b
5,blue,7,a
6,red,8,b
7,blue,9,a
8,red,10,b
9,blue,11,
10,red,12,b
"""


def test_gaps_and_texts_of_a_table(tmp_path):
    file = table(tmp_path, GAPS)
    for arguments, sentence in {
        (): r"the column 'size' has nothing in line 4, .* missing='mean' fills gaps",
        (("missing", "mean"),): r"the column 'color' has 'red' in line 2, a number is wanted: encode='one_hot' makes",
        (("encode", "one_hot"),): r"the column 'size' has nothing in line 4, .* missing='mean' fills gaps",
        (("encode", "one_hot"), ("missing", "mean")): r"the column 'kind' has nothing in line 10.*missing='drop'",
        (("missing", "zero"),): r"missing wants one of error, drop, mean, median, most_frequent, received 'zero'",
        (("encode", "hash"),): r"encode wants one of none, one_hot, ordinal, received 'hash'",
    }.items():
        with pytest.raises(LabDLError, match=sentence):
            data.csv(file, **dict(arguments))
    train, test = data.csv(file, missing="drop", encode="one_hot", scale=False)
    x = np.concatenate([train.arrays[0], test.arrays[0]])
    assert sorted(map(tuple, x)) == [
        (2, 4, 1, 0),
        (5, 7, 1, 0),
        (6, 8, 0, 1),
        (7, 9, 1, 0),
        (8, 10, 0, 1),
        (10, 12, 0, 1),
    ]


@pytest.mark.parametrize("missing", ["mean", "median", "most_frequent"])
@pytest.mark.parametrize("encode", ["one_hot", "ordinal"])
def test_gaps_are_filled_with_what_training_samples_have(missing, encode, tmp_path):
    lines = [f"{n if n % 4 else ''},{'abb'[n % 3] if n % 5 else ''},{n % 2}" for n in range(60)]
    file = table(tmp_path, "number,letter,kind\n" + "\n".join(lines))
    train, test = data.csv(file, missing=missing, encode=encode, scale=False)
    numbers = [row[0] for row in train.arrays[0]]
    unique = [n for n in numbers if n and numbers.count(n) == 1]
    fill = {
        "mean": np.mean(unique),
        "median": np.median(unique),
        "most_frequent": min(n for n in numbers if n),
    }[missing]
    filled = [n for n in [*numbers, *test.arrays[0][:, 0]] if n not in range(60) or n == np.float32(fill)]
    assert len(filled) in (15, 16)
    np.testing.assert_allclose(filled, fill, rtol=1e-6)
    letters = train.arrays[0][:, 1:]
    gaps = missing != "most_frequent"  # a gap among texts is a category of its own
    assert letters.shape[1] == (1 if encode == "ordinal" else 2 + gaps)
    if encode == "one_hot":
        assert (letters.sum(1) == 1).all()
    else:
        assert sorted(set(letters[:, 0])) == [*range(2 + gaps)]
    scaled, _ = data.csv(file, missing=missing, encode=encode)
    np.testing.assert_array_equal(scaled.arrays[0][:, 1:], letters)  # categories are not scaled
    np.testing.assert_allclose(scaled.arrays[0][:, 0].mean(), 0, atol=1e-6)


@pytest.mark.sample(False)
def test_columns_of_texts_without_an_end(tmp_path):
    file = table(tmp_path, "name,gap,kind\n" + "".join(f"n{n},,{n % 2}\n" for n in range(20_000)))
    with pytest.raises(LabDLError, match="the column 'gap' has no values: leave it out"):
        data.csv(file, encode="one_hot", missing="mean")
    file = table(tmp_path, "name,kind\n" + "".join(f"n{n},{n % 2}\n" for n in range(20_000)))
    with pytest.raises(LabDLError, match="the categories of 'name' make more than 10,000"):
        data.csv(file, encode="one_hot")
    file = table(tmp_path, "name,kind\n" + "".join(f"n{n},\n" for n in range(9)))
    with pytest.raises(LabDLError, match="every line has a gap"):
        data.csv(file, encode="one_hot", missing="drop")


def test_a_target_that_is_not_there(tmp_path):
    file = table(tmp_path, "width,height\n1,2\n3,4\n")
    with pytest.raises(
        ConfigError, match=r"has the columns width, height, received the target 'hight': did you mean 'height'\?"
    ):
        data.csv(file, target="hight")
    with pytest.raises(MissingFileError, match="there is no file"):
        data.csv(tmp_path / "none.csv")
    with pytest.raises(ConfigError, match="test_share wants a number above 0 and below 1, received 1"):
        data.csv(file, test_share=1)


@settings(max_examples=200, deadline=None)
@given(content=st.binary(max_size=300) | st.text("0123456789.,;\t\n\"'ab-e", max_size=300).map(str.encode))
def test_any_bytes_are_a_data_set_or_a_sentence(content, tmp_path_factory):
    folder = tmp_path_factory.mktemp("any")
    for name, read in (("any.csv", data.csv), ("any.npz", data.npz)):
        (folder / name).write_bytes(content)
        try:
            train, test = read(folder / name)
        except LabDLError as error:
            message = str(error)
        else:
            message = name
            assert min(len(train), len(test)) > 0
            assert np.isfinite(train.arrays[0]).all()
        assert name in message


def arrays(folder, **values):
    np.savez(folder / "points.npz", **values)
    return folder / "points.npz"


def test_arrays_that_are_split(tmp_path):
    images = np.arange(20 * 6, dtype="uint8").reshape(20, 2, 3)
    train, test = data.npz(arrays(tmp_path, X=images, y=np.arange(20) % 4))
    assert (len(train), len(test), train.classes) == (16, 4, ["0", "1", "2", "3"])
    x, y = train.arrays
    assert (x.dtype, y.dtype) == (np.float32, np.int64)
    assert 0 <= x.min() < x.max() <= 1
    for image, number in zip(x, y, strict=True):  # what belongs together stays together
        assert round(float(image[0, 0]) * 255) // 6 % 4 == number


def test_arrays_that_are_split_already(tmp_path):
    train, test = data.npz(
        arrays(tmp_path, x_train=np.zeros((5, 2)), y_train=np.arange(5.0), x_test=np.ones((3, 2)), y_test=np.ones(3))
    )
    assert (len(train), len(test)) == (5, 3)
    np.testing.assert_array_equal(train.arrays[1], np.arange(5.0)[:, None])
    named, _ = data.npz(arrays(tmp_path, x=np.arange(10).reshape(5, 2), y=np.array(["b", "a", "b", "a", "b"])))
    assert (named.classes, named.arrays[0].dtype) == (["a", "b"], np.int64)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"a": np.zeros(2)}, "wants the arrays x and y, or x_train, y_train, x_test and y_test; it has a"),
        ({"x": np.zeros(3), "y": np.zeros(2)}, "x and y want as many samples each, received 3 and 2"),
        ({"x": np.array(1.0), "y": np.zeros(2)}, "x wants an axis of samples"),
        ({"x": np.array([object()] * 3, dtype=object), "y": np.zeros(3)}, "x is not an array of numbers"),
        ({"x": np.array(["a", "b", "c"]), "y": np.zeros(3)}, "x wants numbers"),
        ({"x": np.full((3, 1), np.nan), "y": np.zeros(3)}, "x holds numbers that are not finite"),
        ({"x": np.zeros((3, 1)), "y": np.array([0, -1, 2])}, "y wants the numbers of classes from 0 on, received -1"),
        ({"x": np.zeros((1, 1)), "y": np.zeros(1)}, "at least 2 samples"),
        (
            {"x_train": np.zeros((3, 1)), "y_train": np.zeros(3), "x_test": np.zeros((2, 2)), "y_test": np.zeros(2)},
            "samples of one shape",
        ),
    ],
)
def test_arrays_that_are_no_data_set_are_said(values, sentence, tmp_path):
    with pytest.raises(LabDLError) as error:
        data.npz(arrays(tmp_path, **values))
    assert sentence in str(error.value)


def test_hostile_arrays(tmp_path):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (1 << 40,)})
    with zipfile.ZipFile(tmp_path / "huge.npz", "w") as file:
        file.writestr("x.npy", header.getvalue())
        file.writestr("y.npy", header.getvalue())
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("x.npy", b"\0" * 50_000_000)
    with zipfile.ZipFile(tmp_path / "pickle.npz", "w") as file:
        file.writestr("x.npy", npy(np.array([{}], object)))
    (tmp_path / "huge.npy").write_bytes(header.getvalue() + bytes(80))
    (tmp_path / "pickle.npy").write_bytes(npy(np.array([{}], object)))
    (tmp_path / "other.npy").write_bytes(b"PK")
    readers = (
        file_datasets.npz,
        file_datasets.array_dataset,
        lambda path: standard.construct_dataset(str(path)),
        lambda path: TrainerSettings(train_dataset=path),
    )
    for name in ("huge.npz", "bomb.npz", "pickle.npz", "huge.npy", "pickle.npy", "other.npy"):
        for read in readers[: 3 if name.endswith(".npy") else 4]:
            with pytest.raises(FileFormatError, match=name):
                read(tmp_path / name)


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_classes_may_be_bytes(encoding, tmp_path):
    names = ["Möwe", "Reh"]
    y = np.array([name.encode(encoding) for name in names * 5])
    train, _ = data.npz(arrays(tmp_path, x=np.zeros((10, 2), "float32"), y=y))
    assert train.classes == names


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("code", [0x7FFFFFFF, 0x110000, 0xD800])
def test_texts_of_numbers_that_are_no_characters_are_refused(code, order, tmp_path):
    y = np.full(10, code, f"{order}u4").view(f"{order}U1")
    with pytest.raises(FileFormatError, match="characters that do not exist"):
        data.npz(arrays(tmp_path, x=np.zeros((10, 2), "float32"), y=y))
    np.save(tmp_path / "y.npy", y)
    with pytest.raises(FileFormatError, match="characters that do not exist"):
        file_datasets.array_dataset(tmp_path / "y.npy")


def npy(array):
    content = io.BytesIO()
    np.save(content, array)
    return content.getvalue()


@settings(max_examples=100, deadline=None)
@given(content=st.binary(max_size=200), cut=st.integers(0, 200))
def test_any_bytes_are_an_array_or_a_sentence(content, cut, tmp_path_factory):
    file = tmp_path_factory.mktemp("any") / "any.npy"
    for written in (content, npy(np.arange(6.0))[:cut], npy(np.arange(6.0))[:cut] + content):
        file.write_bytes(written)
        try:
            array = file_datasets.array_dataset(file).arrays[0]
        except FileFormatError as error:
            message = str(error)
        else:
            message = "any.npy"
            assert array.nbytes < len(written)
        assert "any.npy" in message


def test_arrays_as_they_are(tmp_path):
    values = {"b": np.arange(6, dtype="int16").reshape(3, 2), "A": np.asfortranarray(np.ones((3, 2), "complex64"))}
    found = file_datasets.array_dataset(arrays(tmp_path, **values), classes=["one"])
    assert (found.name, found.classes) == ("points", ["one"])
    for one, other in zip(found.arrays, values.values(), strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype
    assert len(file_datasets.array_dataset(tmp_path / "points.npz", ["A"]).arrays) == 1
    with pytest.raises(ConfigError, match=r"points\.npz has the arrays b, A, not 'a'"):
        file_datasets.array_dataset(tmp_path / "points.npz", ["a"])
    for name, value in values.items():
        np.save(tmp_path / f"{name}.npy", value)
        np.testing.assert_array_equal(file_datasets.array_dataset(tmp_path / f"{name}.npy").arrays[0], value)
    with pytest.raises(MissingFileError):
        file_datasets.array_dataset(tmp_path / "none.npy")
