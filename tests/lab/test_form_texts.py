"""Labels of fields and first lines of docstrings in Chinese: the catalog against the registries, and the places they reach."""

import json
import re
import sys
from pathlib import Path

import pytest

from labdl.graph import Graph
from labdl.lab.messages.editor import WidgetRequest
from labdl.lab.widgets.editor import Editor
from labdl.translation import translate_form
from labdl.translation.form_texts import CATALOG

pytest_plugins = ["pytest_jupyter.jupyter_server"]

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from form_texts import form_texts  # noqa: E402

WORDS = json.loads(CATALOG.read_text(encoding="utf-8"))
SYMBOLS = re.compile(r"(Alpha|Beta|Gamma|Delta|Epsilon|Rho|Lora Alpha|Top K|K|P|L)( ?\d)?")
# what a translation has as the original has it: years, names of other libraries, formulas of the class itself
FIXED = re.compile(
    r"\b(?:19|20)\d\d\b|(?:torch|keras|sklearn|labdl)\.[\w.]*\w|\(N(?:, [\w.]+(?: \* \w+²?)?)+\)|``\w+``"
)


def test_every_text_has_a_translation_and_none_is_left_over():
    texts = form_texts()
    assert texts - WORDS.keys() == set()
    assert WORDS.keys() - texts == set()


def test_translations_are_chinese_and_keep_names_and_shapes():
    for text, translation in WORDS.items():
        assert re.search(r"[\u4e00-\u9fff]", translation) or SYMBOLS.fullmatch(text), text
        assert set(FIXED.findall(text)) <= set(FIXED.findall(translation)), (text, translation)


def test_other_texts_and_languages_stay():
    form = {
        "summary": "max(x, 0).",
        "description": "max(x, 0). More.",
        "schema": {"title": "Kernel Size", "x": "Stride"},
    }
    assert translate_form(form, "en") is form
    shown = translate_form(form, "zh-CN")
    assert shown["schema"] == {"title": "卷积核大小", "x": "Stride"}
    assert shown["description"] == f"{WORDS['max(x, 0).']} More."
    assert translate_form({"summary": "A layer of mine.", "title": "Mine"}, "zh") == {
        "summary": "A layer of mine.",
        "title": "Mine",
    }


async def test_pages_in_chinese_get_them(jp_fetch):
    for route, text in (("layers", "卷积核大小"), ("datasets", "随机梯度下降")):
        answer = await jp_fetch("labdl", route, headers={"Accept-Language": "zh-CN,zh"})
        assert text in json.dumps(json.loads(answer.body), ensure_ascii=False)


@pytest.mark.parametrize("language", ["zh_CN.UTF-8", "en"])
def test_the_editor_of_a_cell_gets_them(monkeypatch, language):
    monkeypatch.setenv("LABDL_LANGUAGE", language)
    answer = Editor(Graph({}))._result(WidgetRequest(type="request", name="layers"))
    titles = {layer["type"]: layer["schema"] for layer in answer["layers"]}["Conv2d"]["properties"]
    assert titles["kernel_size"]["title"] == ("卷积核大小" if language != "en" else "Kernel Size")
