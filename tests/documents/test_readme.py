"""The first page: its length, what it claims and the tests behind it, its second language, and the links to Binder."""

import json
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from labdl.train.schedules import SCHEDULES

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
CHINESE = ROOT / "README.zh-CN.md"
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
BINDER = re.compile(r"https://mybinder\.org/v2/[^)\s\"]+")


def code_blocks(text: str) -> list[str]:
    return re.findall(r"^```.*?^```$", text, re.MULTILINE | re.DOTALL)


def outline(text: str) -> list[str]:
    """Each line of a page by its kind: a heading by its level, a row by its number of cells, blocks as they are."""
    kinds = []
    for line in re.sub(r"^```.*?^```$", "CODE", text, flags=re.MULTILINE | re.DOTALL).splitlines():
        if line.startswith("#"):
            kinds.append(line.split()[0])
        elif line.startswith("|"):
            kinds.append(f"row {line.count('|') - 1}")
        elif line.startswith(("CODE", "<")):
            kinds.append(line.split()[0])
    return kinds


def rows(text: str) -> list[list[str]]:
    """The rows of the table beside other tools, without its head."""
    lines = [line for line in text.splitlines() if line.startswith("|") and line.count("|") > 8]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


@pytest.mark.parametrize("page", [README, CHINESE], ids=lambda page: page.name)
def test_first_page_is_short(page):
    assert len(page.read_text(encoding="utf-8").splitlines()) <= 150


@pytest.mark.parametrize("page", [README, CHINESE], ids=lambda page: page.name)
def test_what_labdl_does_has_a_test(page):
    table = rows(page.read_text(encoding="utf-8"))
    assert len(table) > 10
    for name, labdl, *_, test in table:
        assert bool(re.fullmatch(r"`test_\w+\.py::test_\w+`", test)) == labdl.startswith(("●", "◐")), name


def test_both_languages_are_alike():
    english, chinese = (page.read_text(encoding="utf-8") for page in (README, CHINESE))
    assert code_blocks(english) == code_blocks(chinese)
    assert outline(english) == outline(chinese)
    assert BINDER.findall(english) == BINDER.findall(chinese)
    links = re.compile(r"\]\(((?:docs|notebooks)/[^)]+|CONTRIBUTING.md)\)")
    assert links.findall(english) == links.findall(chinese)
    for here, there in zip(rows(english), rows(chinese), strict=True):
        assert [cell[:1] for cell in here[1:]] == [cell[:1] for cell in there[1:]], here[0]


def test_links_to_binder_open_what_is_there():
    pages = [README, CHINESE, ROOT / "docs" / "installation.md", *NOTEBOOKS]
    links = {link for page in pages for link in BINDER.findall(page.read_text(encoding="utf-8"))}
    assert len({link.partition("?")[0] for link in links}) == 1, "all name one repository"
    workspace = json.loads((ROOT / "binder" / "workspace.json").read_text())["metadata"]["id"]
    for link in links:
        [path] = parse_qs(urlsplit(link).query)["urlpath"]
        if path.startswith("lab/tree/"):
            assert (ROOT / path.removeprefix("lab/tree/")).is_file()
        else:
            assert path == f"lab/workspaces/{workspace}"


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.name)
def test_notebooks_have_a_badge_or_say_what_they_need(notebook):
    first, *cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    text = "".join(first["source"])
    code = "".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    if re.search(r"(backend=|use\()\"(tensorflow|paddle|mindspore)", code):  # the Binder has PyTorch alone
        assert "pip install" in text
        assert "mybinder.org" not in text
    else:
        assert f"urlpath=lab/tree/notebooks/{notebook.name}" in text


def test_every_schedule_is_listed():
    text = (ROOT / "docs" / "callbacks.md").read_text(encoding="utf-8")
    assert {cls.__name__ for cls in SCHEDULES.values()} <= set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))
