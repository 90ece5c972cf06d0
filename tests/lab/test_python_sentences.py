"""Python's sentences in Chinese: templates from the source, their catalog, and the places where text leaves."""

import json
import re
import sys
from pathlib import Path

import pytest

from labdl import cli
from labdl.doctor import command
from labdl.doctor.finding import fault
from labdl.translation import asked_language, translate, translate_answer
from labdl.translation.catalog import Template

pytest_plugins = ["pytest_jupyter.jupyter_server"]

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from messages import CATALOG, templates  # noqa: E402

WORDS = json.loads(CATALOG.read_text(encoding="utf-8"))
PLACEHOLDER = re.compile(r"%(\d+)")


def test_every_sentence_has_a_translation_and_none_is_left_over():
    places = templates([ROOT / "labdl"])
    assert {text: place for text, place in places.items() if text not in WORDS} == {}
    assert WORDS.keys() - places.keys() == set()


def test_each_translation_is_chinese_and_keeps_the_values():
    for text, translation in WORDS.items():
        assert re.search(r"[\u4e00-\u9fff]", translation), text
        names = PLACEHOLDER.findall(text)
        assert sorted(names) == sorted(PLACEHOLDER.findall(translation)), text
        sentence = PLACEHOLDER.sub(lambda match: f"⟨{match[1]}⟩", text)
        shown = translate(sentence, "zh_CN")
        assert shown != sentence
        assert re.search(r"[\u4e00-\u9fff]", shown), text
        values = Template(text, translation).values(sentence)
        assert values == {name: f"⟨{name}⟩" for name in names}, text
        assert all(shown.count(f"⟨{name}⟩") == 1 for name in names), f"{text}: {shown}"


def test_sentences_within_sentences_and_values_of_users():
    assert (
        translate("conv: not connected: draw a line to its input x", "zh-CN")
        == "conv：未连接：请画一条连线到它的输入 x"
    )
    assert translate("'%1 \\1 {0}' does not exist.", "zh_CN") == "'%1 \\1 {0}' 不存在。"
    assert translate("nothing of LabDL says this", "zh_CN") == "nothing of LabDL says this"
    assert translate("The model has no layers yet.", "de") == "The model has no layers yet."
    hostile = " has no input " * 280
    assert len(translate(hostile, "zh_CN")) > 1000  # the time is bounded: linear in the text, of few depths


def test_answers_keep_all_but_their_sentences():
    answer = {
        "name": "x does not exist.",
        "problems": [{"node": "a", "message": "input x takes one connection, received 2"}],
    }
    assert translate_answer(answer, "zh-CN") == {
        "name": "x does not exist.",
        "problems": [{"node": "a", "message": "输入 x 只接受一条连接，收到 2 条"}],
    }
    assert translate_answer(answer, "en-US") is answer
    written = {"graph": {"nodes": [{"params": {"message": "The model has no layers yet."}}]}}
    assert translate_answer(written, "zh-CN") == written  # a user's text comes back as it was


def test_the_environment_chooses_the_language(monkeypatch, capsys):
    for name in ("LABDL_LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    assert asked_language() == "en"
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert asked_language() == "zh_CN"
    monkeypatch.setattr(
        command,
        "diagnose",
        lambda runs, load: [fault("runs", "a is a file, where the folder of runs should be", "mv a b")],
    )
    assert cli.main(["doctor"]) == 1
    assert capsys.readouterr().out == "✗ runs: a 是文件，而此处应是存放训练的文件夹\n    mv a b\n1 个问题\n"
    monkeypatch.setenv("LABDL_LANGUAGE", "en")
    assert cli.main(["doctor"]) == 1
    assert capsys.readouterr().out.endswith("\n1 problem\n")


@pytest.mark.parametrize(
    ("language", "message"), [("zh-CN", "请求的正文不是 JSON。"), ("en", "The request's body is not JSON.")]
)
async def test_the_server_answers_in_the_language_of_the_page(jp_fetch, language, message):
    from tornado.httpclient import HTTPClientError

    with pytest.raises(HTTPClientError) as raised:
        await jp_fetch("labdl", "diff", method="POST", body="{", headers={"Accept-Language": language})
    assert json.loads(raised.value.response.body) == {"message": message}
