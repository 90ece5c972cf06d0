"""Widgets answer in the language of the page, and in that of the kernel where the page states none."""

import pytest
from test_widgets import Page

from labdl import lab
from labdl.graph import Graph, Node
from labdl.lab.widgets import base

GRAPH = Graph({"b": Node("Linear", "b", {"out_features": 3})})
ENGLISH, CHINESE = "'read' needs the source", "'read' 需要源代码"
pytestmark = pytest.mark.sample(backends=1)


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """A kernel without a language, and without the built front end."""
    monkeypatch.setattr(base, "read_static", lambda name: "")
    for name in ("LABDL_LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)


def error_of_a_request(page) -> str:
    page.tell({"type": "request", "id": "1", "name": "read"})
    return page.last()["error"]


@pytest.mark.parametrize(
    ("kernel", "page_language", "error"),
    [
        ("zh_CN.UTF-8", None, CHINESE),
        ("zh_CN.UTF-8", "en", ENGLISH),
        (None, None, ENGLISH),
        (None, "zh-CN", CHINESE),
    ],
)
def test_errors_of_requests(kernel, page_language, error, monkeypatch):
    if kernel:
        monkeypatch.setenv("LANG", kernel)
    widget = lab.Editor(GRAPH)
    page = Page(widget, monkeypatch)
    if page_language:
        widget.set_state({"_language": page_language})  # as the page does when it shows the widget
    assert error_of_a_request(page) == error


def test_problems_of_a_graph(monkeypatch):
    widget = lab.Editor(GRAPH)
    page = Page(widget, monkeypatch)
    widget.set_state({"_language": "zh-CN"})
    page.tell({"type": "request", "id": "1", "name": "check", "graph": GRAPH.to_dict(tagged=True)})
    assert "未连接" in str(page.last()["result"])


def test_a_folder_of_runs(tmp_path, monkeypatch):
    widget = lab.Runs(tmp_path)
    page = Page(widget, monkeypatch)
    try:
        widget.set_state({"_language": "zh-CN"})
        page.tell({"type": "write", "id": "1", "path": "gone", "words": {"name": "x"}})
        assert page.last()["error"] == "此训练已不存在"

        def fail(token):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(widget._list, "changes", fail)
        page.tell({"type": "list", "token": ""})
        assert page.last()["trouble"] == f"无法读取文件夹 {tmp_path}：Permission denied。"
    finally:
        widget.close()
