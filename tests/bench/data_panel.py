"""The Data panel with a folder of 10,000 pictures in JupyterLab: how soon it shows them, and how smoothly it scrolls.

    python tests/bench/data_panel.py [--pictures 10000]

A Chromium (`LABDL_CHROMIUM`, or the one on the path; without a graphics card it draws on the processor) and a server of its
own. "opens" is the time from the menu to the first pictures; frames are counted by `requestAnimationFrame` while the wheel
turns 24,000 pixels, at most the screen's 60 a second.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1] / "browser"))
from conftest import CHROMIUM_ARGUMENTS, chromium_path, jupyterlab
from test_data_panel import link_pictures, write_pictures

WATCH = """() => {
  window.frames_ = [];
  const look = time => { window.frames_.push(time); window.looking_ = requestAnimationFrame(look); };
  requestAnimationFrame(look);
}"""
FRAMES = "() => { cancelAnimationFrame(window.looking_); return window.frames_; }"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pictures", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright, jupyterlab(Path(home)) as lab:
        write_pictures(Path(home) / "store")
        link_pictures(Path(home) / "store", lab.folder / "flowers", options.pictures)
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_ARGUMENTS)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(f"{lab.url}&reset")
        page.locator(".jp-DirListing-item", has_text="flowers").wait_for(timeout=60_000)
        page.wait_for_timeout(3000)
        page.locator(".jp-DirListing-item", has_text="flowers").click(button="right")
        began = time.monotonic()
        page.locator(".lm-Menu-itemLabel", has_text="Open as Data Set").click()
        panel = page.locator(".labdl-DataPanel:visible")
        panel.locator("[data-tile] img").first.wait_for()
        print(f"{options.pictures:,} pictures open in {time.monotonic() - began:.2f} s")
        page.evaluate(WATCH)
        panel.locator(".labdl-data-grid").hover()
        for _ in range(40):
            page.mouse.wheel(0, 600)
            page.wait_for_timeout(16)
        gaps = np.diff(page.evaluate(FRAMES))
        usual, most = np.quantile(gaps, [0.5, 0.95])
        print(f"scrolling: {usual:.1f} ms a frame, 95 % within {most:.0f} ms, longest {max(gaps):.0f} ms")
        browser.close()


if __name__ == "__main__":
    main()
