"""Data sets of text files against the standard library and pandas; hostile files are errors in bounded memory."""

import csv
import io
import json
import os
import pickle

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labdl import data
from labdl.data.text_files import line_index
from labdl.data.text_files.line_index import LineIndex
from labdl.errors import ConfigError, DataError, FileFormatError, MissingFileError

ROWS = [
    {"text": "The first,\nof two lines", "label": "good", "id": 1},
    {"text": 'She said "no"; twice', "label": "bad", "id": 2},
    {"text": "第三行\t文本", "label": "good", "id": 3},
    {"text": "", "label": "bad", "id": 4},
]


def write(folder, suffix, encoding="utf-8"):
    file = folder / f"rows{suffix}"
    if suffix in (".csv", ".tsv"):
        with file.open("w", encoding=encoding, newline="") as stream:
            writer = csv.DictWriter(stream, list(ROWS[0]), delimiter="\t" if suffix == ".tsv" else ",")
            writer.writeheader()
            writer.writerows(ROWS)
    elif suffix == ".parquet":
        pandas.DataFrame(ROWS).to_parquet(file)
    elif suffix == ".xml":
        pandas.DataFrame(ROWS).to_xml(file, index=False, encoding=encoding, parser="etree")
    elif suffix == ".json":
        file.write_text(json.dumps({"version": 1, "rows": ROWS}, ensure_ascii=False), encoding)
    else:
        file.write_text("\n\n".join(json.dumps(row, ensure_ascii=False) for row in ROWS), encoding)
    return file


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".xml", ".parquet"])
def test_each_format_is_the_same_data_set(tmp_path, suffix):
    texts = data.TextDataset(write(tmp_path, suffix), columns=["id"])
    assert (len(texts), texts.classes, texts.inputs, texts.targets) == (4, ["bad", "good"], ("text",), ("label",))
    assert [type(s["text"]) for s in texts] == [data.Text] * 4
    assert [s["text"] for s in texts] == [row["text"] for row in ROWS]
    assert [int(s["id"]) for s in texts] == [1, 2, 3, 4]
    assert texts.labels().tolist() == [1, 0, 1, 0]
    assert pickle.loads(pickle.dumps(texts))[2] == texts[2]
    ordered = data.TextDataset(write(tmp_path, suffix), text=["text"], label="label", classes=["good", "bad"])
    assert ordered.labels().tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "gb18030", "shift_jis"])
@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".json"])
def test_encodings(tmp_path, suffix, encoding):
    text = "第三行, テキスト"  # bytes of these encodings that are letters in ASCII
    encoded = text.encode("gb18030" if encoding == "utf-8-sig" else encoding).decode(
        "gb18030" if encoding == "utf-8-sig" else encoding
    )
    rows = [{"text": encoded, "label": n} for n in range(3)]
    file = tmp_path / f"rows{suffix}"
    written = pandas.DataFrame(rows)
    if suffix == ".csv":
        file.write_bytes(written.to_csv(index=False).encode(encoding))
    else:
        file.write_bytes(
            written.to_json(orient="records", lines=suffix == ".jsonl", force_ascii=False).encode(encoding)
        )
    read = data.TextDataset(file) if encoding == "utf-8-sig" else data.TextDataset(file, encoding=encoding)
    assert [s["text"] for s in read] == [text] * 3
    if encoding == "gb18030":
        with pytest.raises(DataError, match=r'is no utf-8: byte.*encoding="gb18030"'):
            list(data.TextDataset(file))


def test_json_lines_in_a_json_file_and_a_field(tmp_path):
    lines = write(tmp_path, ".jsonl").rename(tmp_path / "lines.json")
    assert [s["text"] for s in data.TextDataset(lines)] == [row["text"] for row in ROWS]
    several = tmp_path / "several.json"
    several.write_text(json.dumps({"train": ROWS, "test": ROWS[:1]}))
    assert len(data.TextDataset(several, field="test")) == 1
    with pytest.raises(ConfigError, match=r"train, test.*field='tset'"):
        data.TextDataset(several, field="tset")
    with pytest.raises(FileFormatError, match="field="):
        data.TextDataset(several)


def test_lines_paragraphs_and_documents(tmp_path):
    file = tmp_path / "poem.txt"
    file.write_bytes("\ufeffone\r\ntwo\r\n\r\n \t\r\nthree".encode())
    assert [s["text"] for s in data.TextDataset(file)] == ["one", "two", "three"]
    assert [s["text"] for s in data.TextDataset(file, sample_by="paragraph")] == ["one\ntwo", "three"]
    assert data.TextDataset(file, sample_by="document")[0]["text"] == "one\ntwo\n\n \t\nthree"
    other = tmp_path / "other.md"
    other.write_bytes("四\n".encode("utf-16"))
    assert data.TextDataset(other, sample_by="document", encoding="utf-16")[0]["text"] == "四\n"
    for encoding in ("utf-16", "iso2022_jp", "utf-7"):
        with pytest.raises(ConfigError, match="UTF-8"):
            data.TextDataset(other, encoding=encoding)
    two = data.TextDataset([file, tmp_path / "poem.txt"])
    assert (len(two), two[3]["text"], two[-1]["text"]) == (6, "one", "three")


@settings(max_examples=300, deadline=None)
@given(st.text(st.sampled_from('ab"\n\r ,é'), max_size=40), st.sampled_from([1, 2, 5, 1 << 20]), st.booleans())
def test_index_of_lines_is_that_of_the_standard_library(tmp_path_factory, text, block, bom):
    file = tmp_path_factory.mktemp("lines") / "a.txt"
    content = text.encode()
    file.write_bytes((b"\xef\xbb\xbf" if bom else b"") + content)
    old, line_index._BLOCK = line_index._BLOCK, block
    try:
        index = LineIndex(file, keep_blank=True)
        filled = LineIndex(file)
    finally:
        line_index._BLOCK = old
    expected = [line.removesuffix(b"\n") for line in io.BytesIO(content)]
    expected = [
        line.removesuffix(b"\r") if raw.endswith(b"\n") else line
        for line, raw in zip(expected, io.BytesIO(content), strict=True)
    ]
    assert [index[i] for i in range(len(index))] == expected
    assert [filled[i] for i in range(len(filled))] == [line for line in expected if line.strip()]


@pytest.mark.sample(False)
@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(*[st.text(st.sampled_from('ab"\n ,é'), max_size=8)] * 2), min_size=1, max_size=8),
    st.sampled_from([1, 3, 1 << 20]),
)
def test_records_of_csv_are_those_of_the_standard_library(tmp_path_factory, rows, block):
    file = tmp_path_factory.mktemp("csv") / "a.csv"
    with file.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, quoting=csv.QUOTE_ALL).writerows([("text", "other"), *rows])
    old, line_index._BLOCK = line_index._BLOCK, block
    try:
        texts = data.TextDataset(file, columns=["other"])
    finally:
        line_index._BLOCK = old
    assert [(s["text"], s["other"]) for s in texts] == rows


def test_lines_stay_on_disk(tmp_path):
    file = tmp_path / "large.txt"
    with file.open("wb") as stream:
        for number in range(300_000):
            stream.write(b"%d the quick brown fox jumps over the lazy dog\n" % number)
    texts = data.TextDataset(file)
    assert texts[np.array([299_999, 0])]["text"].tolist()[0].startswith("299999 the")
    held = len(pickle.dumps(texts))
    assert held < 0.4 * os.path.getsize(file)
    file.write_bytes(b"short")
    with pytest.raises(DataError, match="shorter"):
        texts[299_999]


def test_errors_name_file_and_line(tmp_path):
    with pytest.raises(MissingFileError):
        data.TextDataset(tmp_path / "no.csv")
    with pytest.raises(ConfigError, match="format="):
        data.TextDataset(tmp_path / "no.pdf")
    rows = write(tmp_path, ".csv")
    with pytest.raises(ConfigError, match=r"text, label, id.*label='lable'"):
        data.TextDataset(rows, label="lable")
    (tmp_path / "plain.txt").write_text("a")
    with pytest.raises(ConfigError, match=r"plain.txt has none: label="):
        data.TextDataset(tmp_path / "plain.txt", classes=["good"])
    short = tmp_path / "short.csv"
    short.write_text('text,label\n"a\nb",1\nc\n')
    with pytest.raises(DataError, match=r"short.csv, line 4 has 1 columns, the names of columns are 2"):
        data.TextDataset(short)
    open_quote = tmp_path / "quote.csv"
    open_quote.write_text('text,label\n"a,1\nb,2\n')
    with pytest.raises(FileFormatError, match="quotation mark"):
        data.TextDataset(open_quote)
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"text": "a"}\n\n{"text": \n')
    with pytest.raises(DataError, match=r"broken.jsonl, line 3 is no JSON"):
        data.TextDataset(broken)[1]
    missing = tmp_path / "missing.jsonl"
    missing.write_text('{"text": "a"}\n{"body": "b"}\n{"text": ["c"]}')
    with pytest.raises(DataError, match="row 2 has no 'text', but body"):
        data.TextDataset(missing)[1]
    with pytest.raises(DataError, match="row 3 has no text in 'text', but list"):
        data.TextDataset(missing)[2]
    with pytest.raises(ConfigError, match="no encoding 'utf-9'"):
        data.TextDataset(rows, encoding="utf-9")
    with pytest.raises(ConfigError, match="no encoding 'hex'"):
        data.TextDataset(rows, encoding="hex")
    (tmp_path / "empty.txt").write_text("\n\n")
    with pytest.raises(DataError, match=r"empty.txt has no texts"):
        data.TextDataset(tmp_path / "empty.txt")


ENTITIES = '<!DOCTYPE a [<!ENTITY b "c"><!ENTITY d "&b;&b;&b;&b;">]><a><r>&d;</r></a>'
EXTERNAL = '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a><r>&b;</r></a>'


def test_xml(tmp_path):
    file = tmp_path / "corpus.xml"
    file.write_text(
        '<corpus xmlns="urn:x"><meta/><doc lang="en"><title>A</title><p>b <i>c</i></p><p>d</p></doc>'
        '<part><doc lang="de"><title>B</title><p>e</p></doc></part></corpus>'
    )
    read = data.TextDataset(file, record="doc", text="p", label="lang", columns=["title"])
    assert list(read) == [{"p": "b c\nd", "label": 1, "title": "A"}, {"p": "e", "label": 0, "title": "B"}]
    for content, words in [
        (ENTITIES, "entities"),
        (EXTERNAL, "entities"),
        ("<a>" * 1000 + "</a>" * 1000, "nested more than 128 deep"),
        ("<a><b></a>", "no XML: mismatched tag: line 1"),
        ("", "no XML"),
    ]:
        file.write_text(content)
        with pytest.raises(FileFormatError, match=words):
            data.TextDataset(file)
    file.write_text("<a><b>c</b></a>")
    with pytest.raises(DataError, match="record="):
        data.TextDataset(file, record="doc")


def test_hostile_json(tmp_path):
    deep = tmp_path / "deep.jsonl"
    deep.write_text('{"text": "a"}\n' + "[" * 100_000 + "]" * 100_000)
    with pytest.raises(DataError, match=r"deep.jsonl, line 2 is no JSON: it is nested"):
        data.TextDataset(deep)[1]
    deep.rename(tmp_path / "deep.json").write_text("[" * 100_000 + "]" * 100_000)
    with pytest.raises(FileFormatError, match="nested"):
        data.TextDataset(tmp_path / "deep.json")


def test_a_line_without_end_is_refused_before_it_fills_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(line_index, "LONGEST", 1000)
    monkeypatch.setattr(line_index, "_BLOCK", 100)
    file = tmp_path / "long.txt"
    file.write_bytes(b"a" * 5000)
    with pytest.raises(FileFormatError, match="line of more than 1,000 bytes"):
        data.TextDataset(file)
    file.rename(tmp_path / "long.csv").write_bytes(b'text\n"' + b"a\n" * 5000)
    with pytest.raises(FileFormatError, match="quotation mark without its end"):
        data.TextDataset(tmp_path / "long.csv")


@pytest.fixture
def reviews(tmp_path):
    for number in range(6):
        file = tmp_path / "reviews" / ("neg", "pos")[number % 2] / f"{number}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"评论 {number}", "gb18030")
    return tmp_path / "reviews"


def test_text_folder(reviews, tmp_path):
    texts = data.TextFolder(reviews, encoding="gb18030")
    assert (texts.classes, texts.labels().tolist()) == (["neg", "pos"], [0, 0, 0, 1, 1, 1])
    assert texts[3] == {"text": "评论 1", "label": 1}
    assert len(data.TextFolder(reviews, labels=False)) == 6
    train, test = texts.split(2 / 3, stratify=True)
    assert (sorted(train.labels()), sorted(test.labels())) == ([0, 0, 1, 1], [0, 1])
    with pytest.raises(DataError, match=r"0.txt is no utf-8"):
        data.TextFolder(reviews)[0]
    (tmp_path / "secret.txt").write_text("secret")
    (reviews / "neg" / "link.txt").symlink_to(tmp_path / "secret.txt")
    with pytest.raises(DataError, match="follow_links"):
        list(data.TextFolder(reviews, encoding="gb18030"))


def test_parallel_texts(tmp_path):
    (tmp_path / "a.en").write_text("one\n\nthree\n")
    (tmp_path / "a.de").write_text("eins\nzwei\ndrei\n")
    pairs = data.ParallelTextDataset(tmp_path / "a.en", tmp_path / "a.de")
    assert list(pairs) == [
        {"source": "one", "target": "eins"},
        {"source": "", "target": "zwei"},
        {"source": "three", "target": "drei"},
    ]
    (tmp_path / "a.de").write_text("eins\nzwei\n")
    with pytest.raises(DataError, match=r"a.en has 3 lines and a.de 2"):
        data.ParallelTextDataset(tmp_path / "a.en", tmp_path / "a.de")


def test_quotation_marks_within_fields(tmp_path):
    file = tmp_path / "sizes.csv"
    rows = [['5" disk', "old"], ['say "yes"\nor no', "new"], ["a", 'b "c'], ['""', "x"]]
    file.write_text('text,kind\n5" disk,old\n"say ""yes""\nor no",new\na,b "c\n"""""",x\n')
    with file.open(newline="") as stream:
        assert list(csv.reader(stream))[1:] == rows
    texts = data.TextDataset(file, columns=["kind"])
    assert [[s["text"], s["kind"]] for s in texts] == rows
    assert data.Table(file).to_columns()["kind"].tolist() == [row[1] for row in rows]
    file.write_text('text\tkind\n"yes\told\nno"\tnew\n')
    assert list(data.TextDataset(file, columns=["kind"])) == [{"text": "yes\told\nno", "kind": "new"}]
    plain = data.TextDataset(file, columns=["kind"], quotes=False)
    assert list(plain) == [{"text": '"yes', "kind": "old"}, {"text": 'no"', "kind": "new"}]
    file.write_text('text,kind\n5" disk,old\n"open,new\n')
    with pytest.raises(FileFormatError, match="quotation mark without its end"):
        data.TextDataset(file)


@pytest.mark.sample(False)
@settings(max_examples=300, deadline=None)
@given(st.text(st.sampled_from('ab"\n\r,'), max_size=30), st.sampled_from([1, 3, 1 << 20]), st.booleans())
def test_any_csv_is_split_as_by_the_standard_library(tmp_path_factory, text, block, bom):
    file = tmp_path_factory.mktemp("csv") / "a.csv"
    file.write_bytes((b"\xef\xbb\xbf" if bom else b"") + text.replace("\r", "\r\n").encode())
    lines = io.StringIO(text.replace("\r", "\r\n"), newline="\n")
    expected = [row for row in csv.reader(lines) if any(value.strip() for value in row) or len(row) > 1]
    old, line_index._BLOCK = line_index._BLOCK, block
    try:
        index = LineIndex(file, "record")
    except FileFormatError:
        with pytest.raises(csv.Error):
            list(csv.reader(io.StringIO(text.replace("\r", "\r\n"), newline="\n"), strict=True))
        return
    finally:
        line_index._BLOCK = old
    records = [index[i].decode() for i in range(len(index))]
    found = [next(csv.reader(record.splitlines(keepends=True))) for record in records]
    assert [row for row in found if any(value.strip() for value in row) or len(row) > 1] == expected
