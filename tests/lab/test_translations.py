"""The Chinese catalog: exactly the texts of the front end, of alerts and of the data view, with the same placeholders."""

import json
import re
import subprocess
from pathlib import Path

from jupyterlab_server.translation_utils import get_language_pack

from labdl.lab.dataset_view import texts as texts_of_data
from labdl.train.monitor.alert_texts import TEXTS

ROOT = Path(__file__).parents[2]
CATALOG = ROOT / "labdl" / "locale" / "zh_CN" / "LC_MESSAGES" / "labdl.json"


def test_it_is_complete_and_jupyterlab_finds_it():
    printed = subprocess.run(
        ["node", ROOT / "labextension" / "scripts" / "strings.mjs"], check=True, capture_output=True
    )
    texts = {each[0]: each for each in json.loads(printed.stdout)}
    assert len(texts) > 300
    texts |= {text: [text] for text in (*TEXTS.values(), *texts_of_data.TEXTS)}
    words = json.loads(CATALOG.read_text(encoding="utf-8"))
    pack, problems = get_language_pack("zh_CN")
    assert (problems, pack["labdl"]) == ("", words)
    header = words.pop("")
    assert header["language"] == "zh-CN"
    assert {"missing": texts.keys() - words.keys(), "unused": words.keys() - texts.keys()} == {
        "missing": set(),
        "unused": set(),
    }
    for text, translated in words.items():
        assert len(translated) == len(texts[text]), f"{text}: JupyterLab takes a plural only from two forms"
        for form in translated:
            assert re.search(r"[\u4e00-\u9fff]|^%1：%2", form), f"{text}: {form} is not Chinese"
            assert set(re.findall(r"%\d", form)) == set(re.findall(r"%\d", " ".join(texts[text]))), text
