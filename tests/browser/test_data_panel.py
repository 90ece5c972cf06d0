"""The Data panel: ten thousand pictures scroll, are filtered and counted; transforms are previewed, saved and used."""

import json
import os
import re

import numpy as np
import pytest
from PIL import Image
from places import LARGE, SMALL, command
from playwright.sync_api import expect
from test_accessible import AXE, use_language, use_theme

from labdl.data import Pipeline

CLASSES = ("daisy", "rose", "tulip")
COUNT = 10_000
DIFFERENT = 300  # pictures; the others are links to these


@pytest.fixture(scope="session")
def pictures(tmp_path_factory):
    return write_pictures(tmp_path_factory.mktemp("pictures"))


@pytest.fixture
def flowers(lab, pictures):
    """10,000 small pictures in three classes, of which one is broken, in the folder that JupyterLab serves."""
    return link_pictures(pictures, lab.folder / "flowers", COUNT)


def write_pictures(store):
    store.mkdir(exist_ok=True)
    rng = np.random.default_rng(0)
    for i in range(DIFFERENT):
        color = np.array([[200, 180, 40], [180, 30, 60], [150, 60, 190]][i % 3])
        pixels = rng.integers(-30, 30, (40 + i % 5 * 8, 60, 3)) + color
        pixels[:, :30] //= 2  # left and right differ
        Image.fromarray(pixels.clip(0, 255).astype("uint8")).save(store / f"{i}.jpg", quality=80)
    (store / "broken.jpg").write_bytes((store / "1.jpg").read_bytes()[:200])
    return store


def link_pictures(store, folder, count):
    for name in CLASSES:
        (folder / name).mkdir(parents=True)
    for i in range(count):
        source = store / ("broken.jpg" if i == 4 else f"{i % DIFFERENT}.jpg")
        os.link(source, folder / CLASSES[i % 3] / f"{i:05}.jpg")
    return folder


def open_panel(page):
    """Open the folder by the file browser's context menu."""
    page.get_by_role("button", name="Refresh the file browser").first.click()
    page.locator(".jp-DirListing-item", has_text="flowers").click(button="right")
    page.locator(".lm-Menu-itemLabel", has_text="Open as Data Set").click()
    panel = page.locator(".labdl-DataPanel:visible")
    expect(panel.locator("[data-tile] img").first).to_be_visible()
    return panel


def violations(page):
    found = page.evaluate("() => axe.run('.labdl-data')")["violations"]
    return [f"{one['id']}: {node['html'][:200]}" for one in found for node in one["nodes"]]


def add(panel, text: str, name: str) -> None:
    panel.get_by_role("button", name="Add a transform").click()
    field = panel.get_by_role("combobox", name="Search transforms")
    field.fill(text)
    expect(panel.get_by_role("option", selected=True)).to_contain_text(name)
    field.press("Enter")
    expect(steps(panel).last.or_(steps(panel).filter(has_text=name)).first).to_be_visible()


def steps(panel):
    return panel.locator("[data-step]")


def step_names(panel):
    return panel.locator("[data-step] b")


def results(panel):
    """Sources of the pictures of the preview, once they are there."""
    expect(panel.locator('.labdl-data-results[data-stale="false"] [data-result] img')).to_have_count(8)
    return panel.locator("[data-result] img").evaluate_all("images => images.map(image => image.src)")


@pytest.mark.sample(False)
def test_ten_thousand_pictures(page, flowers):
    page.get_by_role("button", name="Refresh the file browser").first.click()
    page.locator(".jp-DirListing-item", has_text="flowers").click(button="right")
    page.locator(".lm-Menu-itemLabel", has_text="Open as Data Set").click()
    panel = page.locator(".labdl-DataPanel:visible")
    expect(panel.locator("[data-tile] img").first).to_be_visible()
    expect(panel.locator(".labdl-data-header")).to_contain_text("10,000 samples · 3 classes")
    drawn = panel.locator("[data-tile]").count()
    assert 20 < drawn < 300, "only what is in view is drawn"

    # a long way by the wheel: what is in view arrives
    panel.locator(".labdl-data-grid").hover()
    for _ in range(40):
        page.mouse.wheel(0, 600)
        page.wait_for_timeout(16)
    assert panel.locator("[data-tile]").count() < 300
    expect(panel.locator('[data-tile][data-state="waits"]')).to_have_count(0)

    # to the end and back by the keyboard
    panel.locator("[data-tile]").last.focus()
    page.keyboard.press("Control+End")
    last = panel.locator(f'[data-tile="{COUNT - 1}"]')
    expect(last).to_be_focused()
    expect(last).to_have_attribute("aria-label", re.compile("tulip"))
    page.keyboard.press("Control+Home")
    first = panel.locator('[data-tile="0"]')
    expect(first).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(panel.locator('[data-tile="1"]')).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(panel.locator("[data-tile]:focus")).not_to_have_attribute("data-tile", "1")

    # the large view, by the keyboard alone
    page.keyboard.press("Control+Home")
    expect(first).to_be_focused()
    page.keyboard.press("Enter")
    dialog = panel.get_by_role("dialog")
    expect(dialog).to_contain_text("1 of 10,000")
    expect(dialog.get_by_role("img")).to_be_visible()
    page.add_script_tag(path=AXE)
    assert violations(page) == []
    page.keyboard.press("ArrowRight")
    expect(dialog).to_contain_text("2 of 10,000")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(panel.locator('[data-tile="1"]')).to_be_focused()

    # one class; the broken picture says why
    panel.get_by_label("Class", exact=True).select_option("rose")
    expect(panel.locator(".labdl-data-samples")).to_contain_text("3,333 samples")
    expect(first).to_have_attribute("aria-label", re.compile("rose"))
    broken = panel.locator('[data-tile][data-state="broken"]')
    expect(broken).to_have_count(1)
    expect(broken).to_have_attribute("aria-label", re.compile("00004.jpg"))
    panel.get_by_role("radio", name="Large").check()
    expect(first).to_be_visible()
    assert first.bounding_box()["width"] > 200
    assert violations(page) == []
    panel.get_by_role("radio", name="Medium").check()

    # statistics: to the end, and from a class to its samples
    panel.get_by_role("tab", name="Statistics").click()
    expect(panel.locator('.labdl-data-statistics[data-complete="true"]')).to_be_visible(timeout=120_000)
    balance = panel.get_by_role("region", name="Class balance")
    expect(balance.get_by_role("listitem")).to_have_count(3)
    expect(balance).to_contain_text("3,333")
    expect(panel.get_by_role("region", name="Broken samples")).to_contain_text("00004.jpg")
    expect(panel.get_by_role("img", name=re.compile("^width"))).to_be_visible()
    assert violations(page) == []
    balance.get_by_role("button", name=re.compile("tulip")).click()
    expect(panel.get_by_label("Class", exact=True)).to_have_value("=tulip")
    expect(first).to_have_attribute("aria-label", re.compile("tulip"))

    # a page that comes later shows the same
    page.reload()
    expect(page.locator(".labdl-DataPanel [data-tile] img").first).to_be_visible(timeout=60_000)


def test_transforms_are_previewed_saved_and_used(page, lab, flowers):
    panel = open_panel(page)
    panel.get_by_role("tab", name="Transforms").click()
    expect(panel).to_contain_text("No steps")
    same = results(panel)
    assert len(set(same)) == 1

    # by their search: those that fit pictures
    panel.get_by_role("button", name="Add a transform").click()
    menu = panel.get_by_role("dialog", name="Add a transform")
    expect(menu.get_by_role("option", name=re.compile("^HorizontalFlip"))).to_be_visible()
    expect(menu.get_by_role("option", name=re.compile("^MelSpectrogram"))).to_have_count(0)
    page.keyboard.press("Escape")
    expect(menu).to_have_count(0)
    add(panel, "resize", "Resize")
    add(panel, "horizontalflip", "HorizontalFlip")
    expect(step_names(panel)).to_have_text(["Resize", "HorizontalFlip"])
    flipped = results(panel)
    assert len(set(flipped)) == 2, "some are mirrored, some are not"
    expect(panel.locator('[data-step][aria-selected="true"]')).to_contain_text("Training")

    # settings, as forms
    steps(panel).first.click()
    expect(panel.get_by_role("heading", name="After step 1: Resize")).to_be_visible()
    before = results(panel)
    size = panel.get_by_label("Size", exact=True)
    size.fill("16, 16")
    expect(panel.locator("[data-result] small").first).to_contain_text("16")
    assert results(panel) != before
    size.fill("x")
    expect(size).to_have_attribute("aria-invalid", "true")
    size.fill("32, 32")
    expect(panel.locator("[data-result] small").first).to_contain_text("32")

    # other random numbers, and another sample
    steps(panel).nth(1).click()
    expect(panel.get_by_role("heading", name="After step 2")).to_be_visible()
    first = results(panel)
    panel.get_by_role("button", name="Another sample").click()
    expect(panel.locator("[data-result] img").first).not_to_have_attribute("src", first[0])
    results(panel)
    phase = panel.get_by_role("radiogroup", name="Phase of the preview")
    phase.get_by_role("radio", name="Evaluation").check()
    expect(panel).to_contain_text("left out in this phase")
    assert len(set(results(panel))) == 1
    phase.get_by_role("radio", name="Training").check()

    # order: by the keyboard, by the mouse, and back
    add(panel, "tofloat", "ToFloat")
    expect(step_names(panel)).to_have_text(["Resize", "HorizontalFlip", "ToFloat"])
    steps(panel).nth(2).focus()
    page.keyboard.press("Alt+ArrowUp")
    expect(step_names(panel)).to_have_text(["Resize", "ToFloat", "HorizontalFlip"])
    expect(steps(panel).nth(1)).to_be_focused()
    handle = panel.locator(".labdl-data-handle").first.bounding_box()
    target = panel.locator(".labdl-data-handle").last.bounding_box()
    page.mouse.move(handle["x"] + 8, handle["y"] + 8)
    page.mouse.down()
    page.mouse.move(target["x"] + 8, target["y"] + 12, steps=8)
    page.mouse.up()
    expect(steps(panel).last).to_contain_text("Resize")
    page.wait_for_timeout(100)  # dnd-kit takes clicks for part of the drag for 50 ms after its end
    panel.get_by_role("button", name="Undo").click()
    expect(step_names(panel)).to_have_text(["Resize", "ToFloat", "HorizontalFlip"])
    steps(panel).first.focus()
    page.keyboard.press("Control+z")
    expect(step_names(panel)).to_have_text(["Resize", "HorizontalFlip", "ToFloat"])
    steps(panel).nth(1).focus()
    page.keyboard.press("Delete")
    expect(step_names(panel)).to_have_text(["Resize", "ToFloat"])
    panel.get_by_role("button", name="Undo").click()
    expect(steps(panel)).to_have_count(3)
    page.add_script_tag(path=AXE)
    assert violations(page) == []

    # what is not saved survives the page
    page.wait_for_timeout(3000)  # JupyterLab writes its workspace with a delay
    page.reload()
    panel = page.locator(".labdl-DataPanel:visible")
    panel.get_by_role("tab", name="Transforms").click(timeout=60_000)
    expect(step_names(panel)).to_have_text(["Resize", "HorizontalFlip", "ToFloat"])
    panel.get_by_role("button", name="Save", exact=True).click()
    expect(panel.get_by_role("button", name="Saved")).to_be_disabled()
    file = lab.folder / "flowers.pipeline.json"
    assert [step["type"] for step in json.loads(file.read_text())["transforms"]] == step_names(panel).all_inner_texts()

    # no model: the code; a model: its training
    panel.get_by_role("button", name="Use in training").click()
    used = panel.get_by_role("region", name="Use in training")
    expect(used).to_contain_text("No model is open")
    expect(used).to_contain_text("flowers.pipeline.json")
    used.get_by_role("button", name="Close").click()
    command(page, "New Model Graph")
    expect(page.locator(".labdl-empty:visible")).to_be_visible()
    page.keyboard.press("Shift+A")
    page.keyboard.press("Enter")
    expect(page.locator(".labdl-node-type")).to_have_text("Input")
    page.locator(".lm-TabBar-tabLabel", has_text="Data: flowers").click()
    panel.get_by_role("button", name="Use in training").click()
    form = page.locator(".labdl-TrainForm:visible")
    expect(form.get_by_label("Data set")).to_have_value("flowers.pipeline.json")
    fit = form.get_by_role("button", name=re.compile("Set the model’s input to"))
    expect(fit).to_contain_text("32 × 32")
    fit.click()
    expect(fit).to_have_count(0)
    expect(page.locator(".react-flow__node").first).to_contain_text("32")


@pytest.fixture
def parted(lab, pictures):
    """Pictures of flowers that are divided already; the validation part has no daisies, the test part no classes."""
    root = lab.folder / "flowers"
    counts = {"train/daisy": 40, "train/rose": 40, "train/tulip": 40, "val/rose": 9, "val/tulip": 9, "test": 7}
    for place, (folder, count) in enumerate(counts.items()):
        (root / folder).mkdir(parents=True)
        name = folder.rpartition("/")[2]
        for i in range(count):
            number = (i * 7 + place) * 3 + 9 + (CLASSES.index(name) if name in CLASSES else 0)
            os.link(pictures / f"{number % DIFFERENT}.jpg", root / folder / f"{i}.jpg")
    return root


@pytest.mark.sample(False)
def test_a_folder_that_is_divided_already(page, lab, parted):
    panel = open_panel(page)
    part = panel.get_by_role("radiogroup", name="Part of the data set")
    expect(part.get_by_role("radio")).to_have_count(3)
    expect(part.get_by_role("radio", name="Training 120")).to_be_checked()
    expect(panel.locator(".labdl-data-header")).to_contain_text("120 samples · 3 classes")

    # by the keyboard to the validation part; the class that is filtered stays
    first = panel.locator('[data-tile="0"]')
    panel.get_by_label("Class", exact=True).select_option("rose")
    expect(first).to_have_attribute("aria-label", re.compile("rose"))
    part.get_by_role("radio", name="Training 120").focus()
    page.keyboard.press("ArrowRight")
    expect(part.get_by_role("radio", name="Validation 18")).to_be_checked()
    expect(panel.locator(".labdl-data-header")).to_contain_text("18 samples · 3 classes")
    expect(panel.locator(".labdl-data-samples")).to_contain_text("9 samples")
    expect(first.locator("img")).to_be_visible()
    expect(first).to_have_attribute("aria-label", re.compile("rose"))  # the second class here too
    panel.get_by_label("Class", exact=True).select_option("daisy")
    expect(panel).to_contain_text("No sample has this class.")
    panel.get_by_role("tab", name="Statistics").click()
    expect(panel.locator('.labdl-data-statistics[data-complete="true"]')).to_be_visible(timeout=60_000)
    balance = panel.get_by_role("region", name="Class balance")
    expect(balance.get_by_role("listitem")).to_have_count(3)
    expect(balance.get_by_role("listitem").first).to_contain_text("daisy")
    page.add_script_tag(path=AXE)
    assert violations(page) == []

    # pictures without classes
    part.get_by_role("radio", name="Test 7").check()
    expect(panel.locator(".labdl-data-header")).to_contain_text("flowers/test")
    panel.get_by_role("tab", name="Samples").click()
    expect(panel.locator("[data-tile]")).to_have_count(7)
    expect(panel.get_by_label("Class", exact=True)).to_have_count(0)

    # steps are those of the whole data set, which is not split
    part.get_by_role("radio", name="Validation 18").check()
    panel.get_by_role("tab", name="Transforms").click()
    expect(panel).to_contain_text("its own validation part")
    add(panel, "resize", "Resize")
    panel.get_by_label("Size", exact=True).fill("16, 16")
    add(panel, "tofloat", "ToFloat")
    results(panel)
    part.get_by_role("radio", name="Training 120").check()
    expect(panel.locator(".labdl-data-header")).to_contain_text("flowers/train")
    expect(step_names(panel)).to_have_text(["Resize", "ToFloat"])
    results(panel)
    assert violations(page) == []

    # all parts are used
    command(page, "New Model Graph")
    expect(page.locator(".labdl-empty:visible")).to_be_visible()
    page.keyboard.press("Shift+A")
    page.keyboard.press("Enter")
    expect(page.locator(".labdl-node-type")).to_have_text("Input")
    page.locator(".lm-TabBar-tabLabel", has_text="Data: flowers").click()
    panel.get_by_role("button", name="Use in training").click()
    expect(panel.get_by_role("region", name="Use in training")).to_contain_text("Training 120, Validation 18, Test 7")
    form = page.locator(".labdl-TrainForm:visible")
    expect(form.get_by_label("Data set")).to_have_value("flowers.pipeline.json")
    expect(form).to_contain_text("120 training and 18 validation samples of 3 × 16 × 16, 3 classes")
    train, validation = Pipeline.load(lab.folder / "flowers.pipeline.json").datasets()
    assert (len(train), len(validation), validation.labels().tolist()) == (120, 18, [1] * 9 + [2] * 9)

    # in a small window nothing is cut off
    used = panel.get_by_role("region", name="Use in training")
    used.get_by_role("button", name="Close").click()
    page.locator(".lm-TabBar-tab", has_text="Train: untitled.labdl").locator(".lm-TabBar-tabCloseIcon").click()
    page.set_viewport_size(SMALL)
    try:
        for name in ("Training 120", "Test 7"):
            expect(part.get_by_role("radio", name=name)).to_be_in_viewport()
        assert panel.evaluate("panel => panel.scrollWidth - panel.clientWidth") == 0
    finally:
        page.set_viewport_size(LARGE)


@pytest.mark.sample(False)
def test_small_dark_and_chinese(page, lab, flowers):
    page.set_viewport_size(SMALL)
    use_theme(page, "JupyterLab Dark")
    try:
        panel = open_panel(page)
        page.add_script_tag(path=AXE)
        assert violations(page) == []
        panel.get_by_role("tab", name="Transforms").click()
        add(panel, "horizontalflip", "HorizontalFlip")
        results(panel)
        assert violations(page) == []
        overflow = panel.evaluate("panel => panel.scrollWidth - panel.clientWidth")
        assert overflow == 0
        panel.get_by_role("button", name="Add a transform").click()
        assert violations(page) == []
        use_language(page, lab, "zh_CN")
        page.locator(".jp-DirListing-item", has_text="flowers").click(button="right")
        page.locator(".lm-Menu-itemLabel", has_text="作为数据集打开").click()
        panel = page.locator(".labdl-DataPanel:visible")
        expect(panel.get_by_role("button", name="用于训练")).to_be_visible()
        panel.get_by_role("tab", name="变换").click()
        expect(panel.get_by_role("button", name="添加变换")).to_be_visible()
    finally:
        page.set_viewport_size(LARGE)
        use_language(page, lab, "default")
        use_theme(page, "JupyterLab Light")
