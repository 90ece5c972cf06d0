"""Transforms inside of others in the Data panel and in a cell: added, moved, edited, previewed, saved; functions by name."""

import re

import pytest
from places import LARGE, SMALL, run_cell, write_notebook
from playwright.sync_api import expect
from test_accessible import AXE, use_language, use_theme
from test_data_panel import link_pictures, results, violations, write_pictures

from labdl.data import Pipeline
from labdl.data import transforms as T

pytestmark = pytest.mark.sample(False)


@pytest.fixture(scope="session")
def few_pictures(tmp_path_factory):
    return write_pictures(tmp_path_factory.mktemp("pictures"))


@pytest.fixture
def flowers(lab, few_pictures):
    return link_pictures(few_pictures, lab.folder / "flowers", 60)


def open_panel(page):
    """Open the folder, which may have its pipeline beside it, at its transforms."""
    page.get_by_role("button", name="Refresh the file browser").first.click()
    page.locator('.jp-DirListing-item[data-isdir="true"]', has_text="flowers").click(button="right")
    page.locator(".lm-Menu-itemLabel", has_text="Open as Data Set").click()
    panel = page.locator(".labdl-DataPanel:visible")
    panel.get_by_role("tab", name="Transforms").click()
    return panel


def rows(view):
    return view.get_by_role("tree", name="Steps").get_by_role("treeitem")


def row(view, number: str):
    return view.get_by_role("treeitem", name=re.compile(f"^{re.escape(number)}, "))


def names(view):
    """The steps from top to bottom, each with its number."""
    return view.locator("[data-step]").evaluate_all(
        "all => all.map(e => `${e.querySelector('.labdl-data-step-number').textContent} ${e.querySelector('b').textContent}`)"
    )


def wait_for(view, *expected: str) -> None:
    expect(rows(view)).to_have_count(len(expected))
    assert names(view) == list(expected)


def add(view, text: str, name: str, button: str = "Add a transform") -> None:
    view.get_by_role("button", name=button).click()
    field = view.get_by_role("combobox", name="Search transforms")
    field.fill(text)
    expect(view.get_by_role("option", selected=True)).to_contain_text(name)
    field.press("Enter")
    expect(view.get_by_role("treeitem", selected=True)).to_contain_text(name)


def drag(page, source, target, right: int = 0) -> None:
    """Drag a step over another one, and to the right or left by pixels."""
    start, end = (item.locator(".labdl-data-handle").bounding_box() for item in (source, target))
    page.mouse.move(start["x"] + 8, start["y"] + 8)
    page.mouse.down()
    page.mouse.move(start["x"] + 8, start["y"] + 16, steps=3)
    page.mouse.move(start["x"] + 8 + right, end["y"] + end["height"] / 2, steps=10)
    page.wait_for_timeout(300)
    page.mouse.up()
    page.wait_for_timeout(150)  # dnd-kit takes clicks for part of the drag for 50 ms after its end


def test_steps_inside_of_others_in_the_panel(page, lab, flowers):
    page.set_viewport_size(LARGE)
    panel = open_panel(page)
    add(panel, "resize", "Resize")
    panel.get_by_label("Size", exact=True).fill("32, 32")
    add(panel, "randomchoice", "RandomChoice")
    wait_for(panel, "1 Resize", "2 RandomChoice")

    # into it: by its own button, and behind what is selected there; no transform that reads further samples
    panel.get_by_role("button", name="Add inside of RandomChoice").click()
    panel.get_by_role("combobox", name="Search transforms").fill("mixup")
    expect(panel.get_by_role("option")).to_have_count(0)
    page.keyboard.press("Escape")
    add(panel, "invert", "Invert", "Add inside of RandomChoice")
    add(panel, "compose", "Compose")
    add(panel, "horizontalflip", "HorizontalFlip", "Add inside of Compose")
    wait_for(panel, "1 Resize", "2 RandomChoice", "2.1 Invert", "2.2 Compose", "2.2.1 HorizontalFlip")
    expect(row(panel, "2.2.1")).to_have_attribute("aria-level", "3")
    assert len(set(results(panel))) > 1
    page.add_script_tag(path=AXE)
    assert violations(page) == []

    # settings of an inner step change the preview at once; its phase is that of the step around it
    probability = panel.get_by_label("Probability", exact=True)
    probability.fill("0")
    expect(row(panel, "2.2.1")).to_contain_text("p 0")
    expect(panel.get_by_role("radiogroup", name="Phase", exact=True)).to_have_count(0)
    row(panel, "2.1").click()
    panel.get_by_label("Probability", exact=True).fill("0")
    expect(panel.locator('.labdl-data-results[data-stale="false"]')).to_be_visible()
    page.wait_for_timeout(400)
    assert len(set(results(panel))) == 1, "no step changes the picture any more"
    row(panel, "2.2.1").click()
    probability.fill("1")
    page.wait_for_timeout(400)
    assert len(set(results(panel))) == 2

    # by the keyboard: out, in, among siblings; the focus goes along
    row(panel, "2.2.1").focus()
    page.keyboard.press("Alt+ArrowLeft")
    wait_for(panel, "1 Resize", "2 RandomChoice", "2.1 Invert", "2.2 Compose", "2.3 HorizontalFlip")
    expect(row(panel, "2.3")).to_be_focused()
    page.keyboard.press("Alt+ArrowUp")
    page.keyboard.press("Alt+ArrowUp")
    wait_for(panel, "1 Resize", "2 RandomChoice", "2.1 HorizontalFlip", "2.2 Invert", "2.3 Compose")
    row(panel, "2.2").click()
    page.keyboard.press("Alt+ArrowDown")
    wait_for(panel, "1 Resize", "2 RandomChoice", "2.1 HorizontalFlip", "2.2 Compose", "2.3 Invert")
    page.keyboard.press("Alt+ArrowRight")
    wait_for(panel, "1 Resize", "2 RandomChoice", "2.1 HorizontalFlip", "2.2 Compose", "2.2.1 Invert")
    expect(page).to_have_url(re.compile("lab"))  # Alt with the arrows is not the way back of the browser
    page.keyboard.press("Home")
    expect(row(panel, "1")).to_be_focused()

    # closed and opened
    row(panel, "2").focus()
    page.keyboard.press("ArrowLeft")
    expect(row(panel, "2")).to_have_attribute("aria-expanded", "false")
    expect(rows(panel)).to_have_count(2)
    page.keyboard.press("ArrowRight")
    expect(rows(panel)).to_have_count(5)

    # by the mouse: out to the top, and back into the composition
    before = names(panel)
    drag(page, row(panel, "2.1"), row(panel, "1"))
    assert names(panel)[0] == "1 HorizontalFlip"
    panel.get_by_role("button", name="Undo").click()
    expect(rows(panel)).to_have_count(5)
    assert names(panel) == before
    drag(page, row(panel, "1"), row(panel, "2.1"), right=16)
    expect(rows(panel).first).to_contain_text("RandomChoice")
    assert "1.2 Resize" in names(panel)
    page.keyboard.press("Control+z")
    expect(rows(panel).first).to_contain_text("Resize")
    assert names(panel) == before

    # saved as Python reads it, and there again after the page was loaded
    panel.get_by_role("button", name="Save", exact=True).click()
    expect(panel.get_by_role("button", name="Saved")).to_be_disabled()
    saved = Pipeline.load(lab.folder / "flowers.pipeline.json").transforms
    assert [type(one).__name__ for one in saved] == ["Resize", "RandomChoice"]
    page.reload()
    panel = page.locator(".labdl-DataPanel:visible")
    panel.get_by_role("tab", name="Transforms").click(timeout=60_000)
    expect(rows(panel)).to_have_count(5)
    assert names(panel) == before


def test_an_inner_step_that_fails_is_marked(page, lab, flowers):
    inner = T.Compose([T.Normalize(mean=(0.5,) * 5, std=(0.5,) * 5)])
    Pipeline([T.ToFloat(), T.RandomApply([T.HorizontalFlip(), inner], p=1.0)], dataset="flowers").save(
        lab.folder / "flowers.pipeline.json"
    )
    panel = open_panel(page)
    row(panel, "2").click()
    failing = row(panel, "2.2.1")
    expect(failing.locator(".labdl-data-step-problem")).to_contain_text("5 numbers")
    for number in ("2", "2.2"):
        expect(row(panel, number)).to_have_attribute("data-problem", "")
    for number in ("1", "2.1"):
        expect(row(panel, number)).not_to_have_attribute("data-problem", re.compile(""))
    failing.click()
    panel.get_by_label("Mean", exact=True).fill("0.5, 0.5, 0.5")
    panel.get_by_label("Standard deviation", exact=True).fill("0.5, 0.5, 0.5")
    expect(panel.locator("[data-step][data-problem]")).to_have_count(0)
    results(panel)

    # a wrong setting, and one that is missing
    panel.get_by_label("Mean", exact=True).fill("0.5, 0.5")
    expect(failing).to_have_attribute("data-problem", re.compile("."))
    page.add_script_tag(path=AXE)
    assert violations(page) == []
    panel.get_by_label("Mean", exact=True).fill("0.5, 0.5, 0.5")


FUNCTIONS = """\
import numpy as np
import labdl
from labdl.data import transforms as T

def darken(sample):
    return {**sample, "image": sample["image"].like(sample["image"].array // 2)}

class Keep(T.Transform):
    def apply(self, sample, rng):
        return sample

rng = np.random.default_rng(0)
samples = [{"image": labdl.data.Image(rng.integers(0, 255, (24, 32, 3), np.uint8)), "label": i % 2} for i in range(40)]
pipeline = labdl.data.Pipeline([T.RandomApply([T.HorizontalFlip(), T.Lambda(darken)], p=0.5), Keep(), lambda sample: sample])
view = labdl.lab.Data(labdl.data.SampleDataset(samples).map(darken), pipeline=pipeline)
view
"""
USE = """\
print([type(one).__name__ for one in view.pipeline], view.dataset.map(view.pipeline)[0]["image"].shape)
view.pipeline.save("x.json")
"""


def test_functions_of_a_cell_are_steps_by_name(page, lab):
    page.set_viewport_size(LARGE)
    write_notebook(lab, FUNCTIONS, USE)
    page.get_by_role("button", name="Refresh the file browser").first.click()
    page.locator(".jp-DirListing-item", has_text="cell.ipynb").dblclick()
    run_cell(page)
    view = page.locator(".jp-OutputArea-output .labdl-data")
    expect(view.locator("[data-tile] img").first).to_be_visible(timeout=60_000)
    view.get_by_role("tab", name="Transforms").click()
    wait_for(view, "1 RandomApply", "1.1 HorizontalFlip", "1.2 darken", "2 Keep", "3 <lambda>")
    expect(row(view, "1.2")).to_contain_text("function of the notebook")
    expect(row(view, "2")).to_contain_text("object of the notebook")
    applied = view.locator(".labdl-data-applied")
    expect(applied).to_contain_text("Dataset.map has applied 1 step already")
    expect(applied.get_by_role("listitem")).to_contain_text("darken")
    row(view, "1.2").click()
    expect(view.locator(".labdl-data-settings")).to_contain_text("a file cannot hold it")
    assert len(set(results(view))) > 1
    page.add_script_tag(path=AXE)
    assert violations(page) == []

    # moved, removed, and brought back
    row(view, "1.2").focus()
    page.keyboard.press("Alt+ArrowLeft")
    wait_for(view, "1 RandomApply", "1.1 HorizontalFlip", "2 darken", "3 Keep", "4 <lambda>")
    expect(row(view, "2")).to_be_focused()
    row(view, "3").focus()
    row(view, "3").click()
    page.keyboard.press("Delete")
    wait_for(view, "1 RandomApply", "1.1 HorizontalFlip", "2 darken", "3 <lambda>")
    page.keyboard.press("Control+z")
    wait_for(view, "1 RandomApply", "1.1 HorizontalFlip", "2 darken", "3 Keep", "4 <lambda>")
    results(view)

    # the cell has them; a file does not, and says which
    view.get_by_role("button", name="Save", exact=True).click()
    expect(view.get_by_role("button", name="Saved")).to_be_disabled()
    run_cell(page, 1)
    output = page.locator(".jp-Cell").nth(1).locator(".jp-OutputArea")
    expect(output).to_contain_text("['RandomApply', 'Lambda', 'Keep', 'Lambda'] (24, 32, 3)")
    expect(output).to_contain_text("step 2: the function darken of Lambda cannot be saved: write it as a class")


def twenty_steps():
    """Three levels, a choice of policies among them."""
    policy = T.RandomSelectSubpolicy([[(T.Invert(), 0.3), (T.Solarize(0.5), 0.6)]])
    color = T.RandomApply(
        [T.ColorJitter(brightness=0.2, contrast=0.3, saturation=0.1, hue=0.05), T.GaussianBlur(3)], p=0.4
    )
    choice = T.RandomChoice([T.Compose([T.Rotate((-15.0, 15.0)), T.HorizontalFlip()]), T.VerticalFlip(), T.Identity()])
    return [T.Resize((32, 32)), color, choice, policy, T.RandomOrder([T.AutoContrast(), T.Equalize()]), T.ToFloat()]


def test_twenty_steps_of_three_levels_in_both_themes(page, lab, flowers, tmp_path):
    phases = ["always", *["training"] * 4, "always"]
    Pipeline(twenty_steps(), phases=phases, dataset="flowers").save(lab.folder / "flowers.pipeline.json")
    try:
        for theme in ("JupyterLab Light", "JupyterLab Dark"):
            use_theme(page, theme)
            for size in (LARGE, SMALL):
                page.set_viewport_size(size)
                panel = open_panel(page)
                expect(rows(panel)).to_have_count(20)
                row(panel, "3.1.1").click()
                results(panel)
                page.add_script_tag(path=AXE)
                assert violations(page) == []
                assert panel.evaluate("panel => panel.scrollWidth - panel.clientWidth") == 0
                page.screenshot(path=tmp_path / f"{theme[-5:].strip()}-{size['width']}.png")
        use_language(page, lab, "zh_CN")
        page.set_viewport_size(LARGE)
        page.locator('.jp-DirListing-item[data-isdir="true"]', has_text="flowers").click(button="right")
        page.locator(".lm-Menu-itemLabel", has_text="作为数据集打开").click()
        panel = page.locator(".labdl-DataPanel:visible")
        panel.get_by_role("tab", name="变换").click()
        panel.get_by_role("treeitem", name=re.compile(r"^3\.1\.2, ")).click()
        expect(panel.get_by_label("概率", exact=True)).to_be_visible()
        page.screenshot(path=tmp_path / "chinese.png")
        panel.get_by_role("button", name="添加变换").click()
        expect(panel.get_by_role("group", name="图片：翻转")).to_be_visible()
        page.screenshot(path=tmp_path / "chinese-menu.png")
    finally:
        page.set_viewport_size(LARGE)
        use_language(page, lab, "default")
        use_theme(page, "JupyterLab Light")
