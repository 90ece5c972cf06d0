"""What the tabs of a run's dashboard show is what stands in its folder."""

import json
import re
import subprocess
import sys

import pytest
from places import in_both_places, open_run
from playwright.sync_api import expect

pytestmark = pytest.mark.sample(False)

RUN = """
import sys, time
from labdl import data, nn, ops, train

class Digits(nn.Module):
    def __init__(self):
        self.stem, self.pool, self.head = nn.Conv2d(4, kernel_size=3, padding="same"), nn.MaxPool2d(2), nn.Linear(10)
    def forward(self, x):
        return self.head(ops.reshape(self.pool(ops.relu(self.stem(x))), (-1, 64)))

learn, check = data.digits()
trainer = train.Trainer(Digits(), loss="cross_entropy", optimizer=train.Adam(0.003), metrics=["accuracy"], backend="torch")

def follow(event):
    time.sleep(0.03)
    if isinstance(event, train.Epoch):
        trainer.log_text("summary", f"epoch {event.epoch}: loss {event.values['loss']:.3f}")

trainer.start(learn, validation=check, epochs=3, batch_size=64, health=0.5, folder=sys.argv[1], callbacks=[follow]).wait()
"""


@pytest.fixture
def run(lab):
    """A classification that has ended: its folder, and its events by kind."""
    folder = lab.folder / "told"
    subprocess.run([sys.executable, "-c", RUN, str(folder)], cwd=lab.folder, check=True, timeout=120)
    found = {}
    for line in (folder / "events.jsonl").read_text().splitlines():
        event = json.loads(line)
        found.setdefault(event["kind"], []).append(event)
    return folder, found


def near(text, value):
    """Whether a figure is shown to three digits."""
    shown = float(text.replace("−", "-"))
    assert shown == pytest.approx(value, rel=6e-3, abs=1e-12), (text, value)


@in_both_places
def test_every_tab_shows_what_the_folder_says(page, lab, run, place):
    folder, told = run
    panel = open_run(page, lab, folder, place)
    expect(panel).to_have_attribute("data-status", "finished")
    opened = panel.locator("[role=tabpanel]:not([hidden])")
    tab = panel.get_by_role("tab")
    expect(tab).to_have_count(10)

    # by keyboard, from the overview
    panel.get_by_role("tab", name="Overview").focus()
    page.keyboard.press("ArrowRight")
    expect(panel.get_by_role("tab", name="Layers")).to_be_focused()
    health, names = told["health"][-1], next(e["layers"] for e in told["health"] if "layers" in e)
    rows = opened.locator("tbody tr[data-state]")
    expect(rows.locator("th")).to_have_text(names)
    for place, gradient in zip(health["parameters"]["of"], health["parameters"]["gradient"], strict=True):
        near(rows.nth(place).locator("[data-figure=gradient] > span").inner_text(), gradient)
    opened.get_by_role("button", name="head").click()
    expect(opened.get_by_role("region", name="Layer head")).to_be_visible()
    slider = opened.get_by_label("Point in the training")
    expect(slider).to_have_attribute("aria-valuetext", f"After step {told['histograms'][-1]['step']}")
    slider.focus()
    page.keyboard.press("Home")
    expect(slider).to_have_attribute("aria-valuetext", f"After step {told['histograms'][0]['step']}")
    # the map is drawn, and tells what is under the pointer
    canvas = opened.locator(".labdl-heat canvas")
    assert canvas.evaluate("c => c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some(b => b > 0)")
    canvas.hover()
    expect(opened.locator(".labdl-heat-note")).to_have_text(re.compile(r"^step \d+: .* % of the values "))

    panel.get_by_role("tab", name="Predictions").click()
    samples, outputs = told["samples"][0], told["predictions"][-1]["outputs"]
    right = [o["classes"][0] == s["target"]["class"] for s, o in zip(samples["samples"], outputs, strict=True)]
    expect(opened.locator(".labdl-verdict")).to_have_text([re.compile("right" if r else "wrong") for r in right])
    expect(opened.get_by_text(f"{sum(right)} of {len(right)} right")).to_be_visible()
    pixels = opened.locator("canvas").first
    assert pixels.evaluate("c => [c.width, c.height]") == [8, 8]
    assert pixels.evaluate("c => c.getContext('2d').getImageData(0, 0, 8, 8).data.some(b => b > 0 && b < 255)")

    panel.get_by_role("tab", name="Confusion").click()
    counts = told["confusion"][-1]["counts"]
    cells = opened.locator(".labdl-matrix-table tbody td")
    expect(cells).to_have_text([str(count) for row in counts for count in row])
    slider.focus()
    page.keyboard.press("Home")
    expect(slider).to_have_attribute("aria-valuetext", "After epoch 1, step 23")
    expect(cells).to_have_text([str(count) for row in told["confusion"][0]["counts"] for count in row])

    panel.get_by_role("tab", name="Worst samples").click()
    worst = told["worst"][-1]["samples"]
    expect(opened.locator(".labdl-sample-head")).to_contain_text([f"Sample {each['index']}" for each in worst])
    for shown, each in zip(opened.locator(".labdl-sample-loss").all_inner_texts(), worst, strict=True):
        near(shown.removeprefix("loss "), each["loss"])

    panel.get_by_role("tab", name="Text", exact=True).click()
    texts = [each["text"] for each in told["text"]]
    assert len(texts) == 3
    expect(opened.locator(".labdl-text")).to_have_text(texts[-1])
    slider.focus()
    page.keyboard.press("Home")
    expect(opened.locator(".labdl-text")).to_have_text(texts[0])

    panel.get_by_role("tab", name="System").click()
    expect(opened.locator("[data-chart=Memory] canvas")).to_be_visible()
    expect(opened.locator(".labdl-facts")).to_contain_text(told["start"][0]["environment"]["python"])

    panel.get_by_role("tab", name="Settings and code").click()
    expect(opened.locator(".labdl-facts").get_by_text("0.003", exact=True)).to_be_visible()
    files = {path.name: path.read_text() for path in (folder / "code").glob("*.py")}
    assert files
    for name, text in files.items():
        shown = opened.locator("details", has_text=name)
        expect(shown).to_have_count(1)
        assert shown.locator("pre").text_content().strip() == text.strip()

    panel.get_by_role("tab", name=re.compile("^Alerts")).click()
    if alerts := told.get("alert"):
        expect(opened.locator(".labdl-alert p")).to_have_text([each["message"] for each in reversed(alerts)])
    else:
        expect(opened).to_contain_text("No alerts.")

    panel.get_by_role("tab", name="Log", exact=True).click()
    lines = opened.locator(".labdl-log-line")
    expect(lines.first).to_contain_text("Digits starts with torch")
    expect(opened.locator("[data-kind=epoch]")).to_have_count(len(told["epoch"]))
    expect(lines.last).to_contain_text("Finished")

    # the tab stays the one that was opened last
    page.reload()
    expect(panel.get_by_role("tab", name="Log", exact=True)).to_have_attribute("aria-selected", "true", timeout=60_000)
    expect(opened.locator("[data-kind=end]")).to_be_visible()
