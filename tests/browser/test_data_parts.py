"""Parts of a data set and its broken files: kept over a reload, switched in a cell, shown in the file browser."""

import numpy as np
import pytest
from places import LARGE, SMALL, run_in_notebook
from playwright.sync_api import expect
from test_accessible import AXE, use_language, use_theme
from test_data_media import open_data
from test_data_panel import add, results, step_names, violations

from labdl.data.codecs.image import encode_image

pytestmark = pytest.mark.sample(False)

LONG = "a-class-of-flowers-with-a-name-that-is-longer-than-its-column/and-a-folder-in-it"


def write_parts(root):
    """Parts with pictures of one color; in the validation part one has a long path and is broken."""
    for folder, count in (("train/daisy", 6), ("train/rose", 4), ("val/rose", 3)):
        (root / folder).mkdir(parents=True)
        for i in range(count):
            picture = np.full((24, 32, 3), 40 * i + 20, np.uint8)
            (root / folder / f"{i}.png").write_bytes(encode_image(picture, "png"))
    deep = root / "val" / "rose" / LONG
    deep.mkdir(parents=True)
    (deep / "picture-of-a-rose-that-was-never-saved-as-a-whole-0001.png").write_bytes(b"no picture")


def test_the_part_and_its_broken_files(page, lab):
    page.set_viewport_size(LARGE)
    write_parts(lab.folder / "flowers")
    view = open_data(page, lab, "panel", "flowers")
    part = view.get_by_role("radiogroup", name="Part of the data set")
    part.get_by_role("radio", name="Validation 4").check()
    expect(view.locator("[data-tile]")).to_have_count(4)
    page.wait_for_timeout(3000)  # JupyterLab writes its workspace with a delay
    page.reload()
    expect(part.get_by_role("radio", name="Validation 4")).to_be_checked(timeout=60_000)
    expect(view.locator("[data-tile]")).to_have_count(4)
    expect(view.locator(".labdl-data-header")).to_contain_text("flowers/val")

    # by the keyboard from the broken file to the file browser
    view.get_by_role("tab", name="Statistics").click()
    broken = view.get_by_role("region", name="Broken samples")
    file = broken.get_by_role("button")
    expect(file).to_contain_text("picture-of-a-rose-that-was-never-saved-as-a-whole-0001.png")
    page.add_script_tag(path=AXE)
    assert violations(page) == []
    file.focus()
    page.keyboard.press("Enter")
    selected = page.locator(".jp-DirListing-item.jp-mod-selected")
    expect(selected).to_contain_text("picture-of-a-rose")
    expect(page.locator(".jp-BreadCrumbs")).to_contain_text("and-a-folder-in-it")
    page.set_viewport_size(SMALL)
    use_theme(page, "JupyterLab Dark")
    try:
        expect(file).to_be_visible()
        assert view.evaluate("view => view.scrollWidth - view.clientWidth") == 0
        assert violations(page) == []
    finally:
        use_theme(page, "JupyterLab Light")
        page.set_viewport_size(LARGE)
    for one in (lab.folder / "flowers" / "val" / "rose" / LONG).iterdir():
        one.unlink()
    file.click()
    expect(broken.get_by_role("alert")).to_contain_text("is not there any more")

    # a part that is gone gives way to the one that trains
    page.wait_for_timeout(3000)
    (lab.folder / "flowers" / "val").rename(lab.folder / "other")
    page.reload()
    expect(view.locator(".labdl-data-header")).to_contain_text("10 samples", timeout=60_000)
    expect(view.get_by_role("alert")).to_have_count(0)


PARTS = """\
import labdl
view = labdl.lab.Data(labdl.data.open_splits("flowers"))
view
"""


def test_parts_in_a_cell(page, lab):
    write_parts(lab.folder / "flowers")
    page.set_viewport_size(LARGE)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    run_in_notebook(page, lab, PARTS)
    view = page.locator(".jp-OutputArea-output .labdl-data")
    part = view.get_by_role("radiogroup", name="Part of the data set")
    expect(part.get_by_role("radio", name="Training 10")).to_be_checked(timeout=60_000)
    expect(view.locator("[data-tile] img").first).to_be_visible()
    page.add_script_tag(path=AXE)
    assert violations(page) == []

    # by the keyboard to the other part; the notebook does not take the arrow
    part.get_by_role("radio", name="Training 10").focus()
    page.keyboard.press("ArrowRight")
    expect(part.get_by_role("radio", name="Validation 4")).to_be_checked()
    expect(view.locator("[data-tile]")).to_have_count(4)
    expect(view.locator('[data-tile][data-state="broken"]')).to_have_count(1)

    # the path of a broken file is copied
    view.get_by_role("tab", name="Statistics").click()
    copy = view.get_by_role("region", name="Broken samples").get_by_role("button")
    copy.focus()
    page.keyboard.press("Enter")
    expect(copy).to_contain_text("Copied")
    copied = page.evaluate("() => navigator.clipboard.readText()")
    assert copied.endswith(f"flowers/val/rose/{LONG}/picture-of-a-rose-that-was-never-saved-as-a-whole-0001.png")
    assert violations(page) == []

    # steps are those of all parts
    view.get_by_role("tab", name="Transforms").click()
    add(view, "tofloat", "ToFloat")
    results(view)
    part.get_by_role("radio", name="Training 10").check()
    expect(view.locator(".labdl-data-header")).to_contain_text("flowers/train")
    expect(step_names(view)).to_have_text(["ToFloat"])
    view.get_by_role("button", name="Use in training").click()
    code = view.get_by_role("region", name="Use in training").get_by_label("Python code")
    expect(code).to_contain_text("view.splits['training'], view.splits['validation']")
    page.set_viewport_size(SMALL)
    try:
        assert view.evaluate("view => view.scrollWidth - view.clientWidth") == 0
    finally:
        page.set_viewport_size(LARGE)


def test_sentences_of_python_are_translated(page, lab):
    write_parts(lab.folder / "flowers")
    use_language(page, lab, "zh_CN")
    try:
        page.locator(".jp-DirListing-item", has_text="flowers").click(button="right")
        page.locator(".lm-Menu-itemLabel", has_text="作为数据集打开").click()
        view = page.locator(".labdl-DataPanel:visible .labdl-data")
        view.get_by_role("tab", name="统计").click()
        expect(view.locator('.labdl-data-statistics[data-complete="true"]')).to_be_visible(timeout=60_000)
        captions = view.locator(".labdl-data-histogram figcaption b")
        expect(captions).to_have_text(["宽度", "高度"])
    finally:
        use_language(page, lab, "default")
