"""A widget in a cell has the language of JupyterLab, also in what its kernel says."""

import pytest
from places import run_in_notebook
from playwright.sync_api import expect
from test_accessible import use_language

BROKEN = """\
import labdl
from labdl.graph import Graph, Node

labdl.lab.Editor(Graph({"linear": Node("Linear", "linear", {"out_features": 3})}))
"""


@pytest.mark.sample(False)
def test_problems_of_the_kernel_are_chinese_in_a_chinese_jupyterlab(page, lab):
    use_language(page, lab, "zh_CN")
    try:
        page.keyboard.press("Control+b") if not page.locator(".jp-DirListing:visible").count() else None
        run_in_notebook(page, lab, BROKEN)
        output = page.locator(".jp-OutputArea-output")
        expect(output.locator(".labdl-node-problem")).to_contain_text("未连接", timeout=60_000)
        expect(output.locator(".labdl-status-problems")).to_have_text("1 个问题")
    finally:
        use_language(page, lab, "default")
