"""The live dashboard in a real browser: how smooth it is with much data, and whether its memory stays as it is.

    python tests/bench/dashboard.py [--seconds 10] [--hours 2]

A page of its own with the dashboard as it is shipped (built with esbuild, so `npm install` in labextension comes first) and a
Chromium (`LABDL_CHROMIUM`, or the one on the path; without a graphics card it draws on the processor). Frames are counted by
`requestAnimationFrame`, at most the screen's 60 a second; the longest gap between two stands beside the rate. "heap" is
the page's memory after a collection of garbage, as a run grows hour by hour at 500 steps a second, fed as fast as it goes.
"""

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1] / "browser"))
from conftest import CHROMIUM_ARGUMENTS, chromium_path, jupyterlab
from runs import made

LABEXTENSION = Path(__file__).parents[2] / "labextension"
PAGE = """<!doctype html><meta charset="utf-8"><link rel="stylesheet" href="bench.css"><body><script src="bench.js"></script>"""
FRAMES = """async ([seconds, every, events, steps]) => {
  const times = [];
  let isOver = false;
  const next = time => { times.push(time); if (!isOver) requestAnimationFrame(next); };
  requestAnimationFrame(next);
  const timer = setInterval(() => labdlBench.feed(events, every, steps), 1000 * every);
  await new Promise(resolve => setTimeout(resolve, 1000 * seconds));
  clearInterval(timer);
  isOver = true;
  return times;
}"""
OPEN = """async () => {
  jupyterapp.shell.currentWidget?.close();
  const began = performance.now();
  await jupyterapp.commands.execute('labdl:open-run', { path: 'long' });
  const shown = () => document.querySelector('.labdl-dashboard-facts')?.textContent.includes('1,000,000 / 1,000,000');
  while (!shown() || !document.querySelector('.labdl-dashboard canvas')) {
    await new Promise(requestAnimationFrame);
  }
  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  return performance.now() - began;
}"""
TWO_FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
HEAP = "() => { gc(); gc(); return performance.memory.usedJSHeapSize / 2 ** 20; }"


def shown(browser: Browser, folder: Path, runs: int, metrics: int) -> Page:
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.goto((folder / "bench.html").as_uri())
    names = ["loss", *(f"metric {n}" for n in range(1, metrics))]
    page.evaluate("([runs, names]) => labdlBench.show(runs, names)", [runs, names])
    page.locator(".labdl-dashboard").nth(runs - 1).wait_for()
    page.evaluate("() => labdlBench.begin()")
    return page


def smoothness(page: Page, seconds: float, every: float, steps: int) -> str:
    times = page.evaluate(FRAMES, [seconds, every, 1, steps])
    gaps = [b - a for a, b in itertools.pairwise(times)]
    return f"{1000 * len(gaps) / sum(gaps):5.1f} frames/s, longest {max(gaps):4.0f} ms"


def opened(browser: Browser) -> str:
    """A run of a million steps in JupyterLab: from the command to what it shows, server and all, the first time and again."""
    with tempfile.TemporaryDirectory() as home, jupyterlab(Path(home), exposed=True) as lab:
        made(lab.folder / "long", 1_000_000)
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        page.goto(f"{lab.url}&reset")
        page.locator(".jp-LauncherCard").first.wait_for(timeout=60_000)
        page.wait_for_timeout(3000)
        seconds = [page.evaluate(OPEN) / 1000 for _ in range(3)]
        page.close()
    return f"{seconds[0]:.2f} s, again {min(seconds[1:]):.2f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--hours", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        command = ["node", "dev/bench.mjs", name]
        built = subprocess.run(command, cwd=LABEXTENSION, check=True, capture_output=True, text=True)
        (folder / "bench.html").write_text(PAGE)
        print(f"uPlot in the bundle         {json.loads(built.stdout)['uplot'] / 1024:.1f} KiB")
        arguments = [*CHROMIUM_ARGUMENTS, "--js-flags=--expose-gc", "--enable-precise-memory-info"]
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=arguments)

        page = shown(browser, folder, 1, 4)
        for piece in (100, 1_000_000):
            times = [page.evaluate("piece => labdlBench.apply(1_000_000, piece)", piece) for _ in range(3)]
            print(f"1M steps of 2 metrics       {min(times):.0f} ms in pieces of {piece:,}")
        page.evaluate("() => labdlBench.feed(1000, 0.2, 100)")
        page.evaluate(TWO_FRAMES)
        print(f"4 charts x 100k, 20 Hz      {smoothness(page, options.seconds, 0.05, 25)}")
        page.close()

        page = shown(browser, folder, 10, 2)
        page.evaluate("() => labdlBench.feed(500, 0.2, 100)")
        page.evaluate(TWO_FRAMES)
        print(f"10 runs x 50k, 5 Hz each    {smoothness(page, options.seconds, 0.2, 100)}")
        page.close()

        page = shown(browser, folder, 1, 4)
        for hour in range(options.hours + 1):
            for _ in range(36 if hour else 0):
                page.evaluate("() => labdlBench.feed(500, 0.2, 100)")
                page.evaluate(TWO_FRAMES)
            print(f"heap after {hour} h             {page.evaluate(HEAP):.1f} MiB")
        page.close()
        print(f"JupyterLab opens 1M steps   {opened(browser)}")
        browser.close()


if __name__ == "__main__":
    main()
