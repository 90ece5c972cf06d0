"""A data set in a notebook cell: its samples of each kind, and transforms that the kernel takes over."""

import re

import pytest
from places import LARGE, SMALL, run_cell, run_in_notebook, write_notebook
from playwright.sync_api import expect
from test_accessible import AXE, use_theme
from test_data_panel import add, results, step_names, steps, violations

PICTURES = """\
import numpy as np
import labdl

rng = np.random.default_rng(0)
x = rng.integers(0, 255, (500, 24, 32, 3)).astype("uint8")
x[:, :, :16] //= 4
view = labdl.lab.Data(labdl.data.ArrayDataset(x, np.arange(500) % 4, classes=["a", "b", "c", "d"]))
view
"""
SOUNDS = """\
import numpy as np
import labdl
from scipy.io import wavfile

time = np.arange(8000) / 8000
for i in range(6):
    wavfile.write(f"tone-{i}.wav", 8000, (np.sin(2 * np.pi * 200 * (i + 1) * time) * 9000).astype("int16"))
import pathlib
folder = pathlib.Path("tones")
folder.mkdir(exist_ok=True)
for i in range(6):
    pathlib.Path(f"tone-{i}.wav").rename(folder / f"tone-{i}.wav")
labdl.lab.Data(labdl.data.open_dataset("tones"))
"""


def test_pictures_in_a_cell(page, lab):
    page.set_viewport_size(LARGE)
    write_notebook(lab, PICTURES, "[type(transform).__name__ for transform in view.pipeline]")
    page.get_by_role("button", name="Refresh the file browser").first.click()
    page.locator(".jp-DirListing-item", has_text="cell.ipynb").dblclick()
    run_cell(page)
    view = page.locator(".jp-OutputArea-output .labdl-data")
    expect(view.locator("[data-tile] img").first).to_be_visible(timeout=60_000)
    expect(view.locator(".labdl-data-header")).to_contain_text("500 samples · 4 classes")
    page.add_script_tag(path=AXE)
    assert violations(page) == []

    # letters, arrows and Enter belong to the view and not to the notebook
    view.locator('[data-tile="0"]').focus()
    for key in ("ArrowRight", "a", "d", "d", "Control+End"):
        page.keyboard.press(key)
    expect(view.locator('[data-tile="499"]')).to_be_focused()
    page.keyboard.press("Enter")
    dialog = view.get_by_role("dialog")
    expect(dialog).to_contain_text("500 of 500")
    page.keyboard.press("ArrowLeft")
    expect(dialog).to_contain_text("499 of 500")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(page.locator(".jp-Cell")).to_have_count(2)
    view.get_by_label("Class", exact=True).select_option("c")
    expect(view.locator(".labdl-data-samples")).to_contain_text("125 samples")

    view.get_by_role("tab", name="Statistics").click()
    expect(view.locator('.labdl-data-statistics[data-complete="true"]')).to_be_visible()
    assert violations(page) == []

    # transforms: added, moved by the keyboard, and handed over with the code
    view.get_by_role("tab", name="Transforms").click()
    add(view, "horizontalflip", "HorizontalFlip")
    assert len(set(results(view))) == 2
    add(view, "tofloat", "ToFloat")
    steps(view).nth(1).focus()
    page.keyboard.press("Alt+ArrowUp")
    expect(step_names(view)).to_have_text(["ToFloat", "HorizontalFlip"])
    assert violations(page) == []
    view.get_by_role("button", name="Save", exact=True).click()
    expect(view.get_by_role("button", name="Saved")).to_be_disabled()
    view.get_by_role("button", name="Use in training").click()
    used = view.get_by_role("region", name="Use in training")
    expect(used).to_contain_text("This code trains on the data set")
    expect(used.get_by_label("Python code")).to_contain_text("view.pipeline")
    expect(used.get_by_role("button", name="Copy the code")).to_be_visible()
    used.get_by_role("button", name="Close").click()

    # the kernel has them
    run_cell(page, 1)
    expect(page.locator(".jp-OutputArea-output").last).to_contain_text("['ToFloat', 'HorizontalFlip']")


@pytest.mark.sample(False)
def test_sounds_in_a_small_dark_cell(page, lab):
    use_theme(page, "JupyterLab Dark")
    try:
        run_in_notebook(page, lab, SOUNDS)
        page.set_viewport_size(SMALL)
        view = page.locator(".jp-OutputArea-output .labdl-data")
        expect(view.locator("[data-tile] .labdl-data-waveform path").first).to_have_attribute(
            "d", re.compile("^M.*L.*Z$"), timeout=60_000
        )
        page.add_script_tag(path=AXE)
        assert violations(page) == []
        assert view.evaluate("view => view.scrollWidth - view.clientWidth") == 0
        view.locator('[data-tile="0"]').click()
        dialog = view.get_by_role("dialog")
        play = dialog.get_by_role("button", name="Play")
        play.click()
        expect(dialog.get_by_role("button", name="Pause").or_(play)).to_be_visible()
        expect(dialog.get_by_role("alert")).to_have_count(0)
        assert violations(page) == []
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
    finally:
        page.set_viewport_size(LARGE)
        use_theme(page, "JupyterLab Light")


TEXTS = """\
import labdl
from labdl.data import SampleDataset

texts = labdl.lab.Data(SampleDataset([{"text": f"A sentence, number {i}.", "label": i % 2} for i in range(20)]))
texts
"""


@pytest.mark.sample(False)
def test_texts_and_broken_samples_in_a_cell(page, lab):
    page.set_viewport_size(LARGE)
    broken = """\
class Own:
    def __len__(self): return 30
    def __getitem__(self, i):
        if i == 3: raise ValueError("number three is missing")
        return {"value": [float(i), 2.0]}
labdl.lab.Data(Own())
"""
    write_notebook(lab, TEXTS, broken)
    page.get_by_role("button", name="Refresh the file browser").first.click()
    page.locator(".jp-DirListing-item", has_text="cell.ipynb").dblclick()
    run_cell(page, 0)
    first = page.locator(".jp-OutputArea-output .labdl-data").first
    expect(first.locator('[data-tile="1"] .labdl-data-tokens')).to_contain_text("A sentence, number 1.", timeout=60_000)
    run_cell(page, 1)
    second = page.locator(".jp-OutputArea-output .labdl-data").nth(1)
    expect(second.locator('[data-tile="3"]')).to_contain_text("number three is missing", timeout=60_000)
    expect(second.locator('[data-tile="4"]')).to_contain_text("4")
    # two views of one page do not share their choices
    second.get_by_role("radio", name="Large").check()
    expect(first.get_by_role("radio", name="Medium")).to_be_checked()
