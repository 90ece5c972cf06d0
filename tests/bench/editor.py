"""The visual editor in a real browser: how soon it opens a graph, how smooth it is, how soon a change is checked.

    python tests/bench/editor.py [--seconds 3] [--graphs 5000-row ...] [--zoo resnet50 ...]

A JupyterLab and a Chromium of its own (`LABDL_CHROMIUM`, or the one on the path; without a graphics card it draws on the
processor). The graphs are decoders of a transformer, written out layer by layer. Frames are counted by
`requestAnimationFrame` while the pointer moves, so the best that can be seen is the screen's 60 a second; the longest gap
between two frames stands beside the rate. "check" is from a keystroke in a layer's form to the answer on the canvas.
The graph 5000-row is one row of layers of which a few are in view; for it, undo is from the key to the second frame after
it, save from the key to the file, and "processor" the time of the page's main thread, which other programs change less.
With ``--zoo`` it is how long models of the zoo take from the choice in the dialog to a graph with its shapes, and no more.
"""

import argparse
import itertools
import statistics
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from labdl import nn, ops, trace
from labdl.graph import Graph
from labdl.saving import structure

sys.path.insert(0, str(Path(__file__).parents[1] / "browser"))
from conftest import CHROMIUM_ARGUMENTS, chromium_path, jupyterlab

WIDTH, HEADS = 64, 4

FRAMES = """() => {
  const times = [];
  window.labdlFrames = times;
  const next = time => { times.push(time); if (window.labdlFrames === times) requestAnimationFrame(next); };
  requestAnimationFrame(next);
}"""


class Attention(nn.Module):
    def __init__(self):
        self.query, self.key, self.value, self.projection = (nn.Linear(WIDTH) for _ in range(4))

    def forward(self, x):
        split = [
            ops.permute_dims(ops.reshape(part(x), (-1, 16, HEADS, WIDTH // HEADS)), (0, 2, 1, 3))
            for part in (self.query, self.key, self.value)
        ]
        weights = ops.softmax(ops.matmul(split[0], ops.permute_dims(split[1], (0, 1, 3, 2))) / 4.0)
        mixed = ops.reshape(ops.permute_dims(ops.matmul(weights, split[2]), (0, 2, 1, 3)), (-1, 16, WIDTH))
        return self.projection(mixed)


class Block(nn.Module):
    def __init__(self):
        self.first, self.second = nn.LayerNorm(), nn.LayerNorm()
        self.attention = Attention()
        self.expand, self.contract = nn.Linear(4 * WIDTH), nn.Linear(WIDTH)

    def forward(self, x):
        x = x + self.attention(self.first(x))
        return x + self.contract(ops.gelu(self.expand(self.second(x))))


class Decoder(nn.Module):
    def __init__(self, depth: int):
        self.blocks = nn.ModuleList([Block() for _ in range(depth)])
        self.head = nn.Linear(100)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def decoder(nodes: int) -> Graph:
    """About so many layers and operators."""
    one = len(trace(Decoder(1), (None, 16, WIDTH)).nodes)
    each = len(trace(Decoder(2), (None, 16, WIDTH)).nodes) - one
    return trace(Decoder(1 + max(0, nodes - one) // each), (None, 16, WIDTH))


def spread(graph: Graph) -> Graph:
    """With a place for every node, and so with no block folded: columns of thirty."""
    places = {i: (260.0 * (at // 30), 110.0 * (at % 30)) for at, i in enumerate(graph.nodes)}
    return Graph.from_dict({**graph.to_dict(), "positions": places})


def row(layers: int) -> Graph:
    """Layers in one row, of which a few are in view."""
    graph = trace(nn.Sequential(*[nn.ReLU() if n % 2 else nn.Linear(WIDTH) for n in range(layers)]), (None, WIDTH))
    places = {i: (260.0 * at, 0.0) for at, i in enumerate(graph.nodes)}
    return Graph.from_dict({**graph.to_dict(), "positions": places})


def opened(page: Page, name: str) -> float:
    """Seconds from the double-click in the file browser to nodes on the canvas with their shapes."""
    row = page.locator(".jp-DirListing-item", has_text=name)
    row.wait_for()
    began = time.perf_counter()
    row.dblclick()
    page.locator(".labdl-node-shape > span").first.wait_for()
    page.locator(".labdl-status-phase[data-phase=done]").wait_for(state="attached")
    return time.perf_counter() - began


def frames(page: Page, move, seconds: float) -> tuple[float, float]:
    """Frames a second and the longest gap in milliseconds while ``move(n)`` is called over and over."""
    page.evaluate(FRAMES)
    end, n = time.perf_counter() + seconds, 0
    while time.perf_counter() < end:
        move(n)
        n += 1
    times = page.evaluate("() => { const all = window.labdlFrames; window.labdlFrames = null; return all; }")
    gaps = [b - a for a, b in itertools.pairwise(times)]
    return 1000 * len(gaps) / sum(gaps), max(gaps)


def smoothness(page: Page, seconds: float, *, fit: bool = True) -> dict[str, tuple[float, float]]:
    box = page.locator(".labdl-canvas").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] - 30
    page.mouse.click(x, y)
    found = {}

    def pan(n: int) -> None:
        page.mouse.move(x + 150 * ((n % 40) / 20 - 1), y - 100 * ((n % 30) / 15))

    page.mouse.move(x, y)
    page.mouse.down()
    found["pan"] = frames(page, pan, seconds)
    page.mouse.up()
    found["zoom"] = frames(page, lambda n: page.mouse.wheel(0, 60 if n % 20 < 10 else -60), seconds)
    if fit:
        page.locator(".react-flow__controls-fitview").click()
        page.wait_for_timeout(500)
    nodes = page.locator(".react-flow__node")
    boxes = [node.bounding_box() for node in nodes.all()[:60]]
    inside = next(
        b for b in boxes if b and box["x"] < b["x"] and box["y"] + 60 < b["y"] < box["y"] + box["height"] - 60
    )
    at = inside["x"] + inside["width"] / 2, inside["y"] + inside["height"] / 2
    page.mouse.move(*at)
    page.mouse.down()
    found["drag"] = frames(page, lambda n: page.mouse.move(at[0] + n % 60, at[1] + n % 45), seconds)
    page.mouse.up()
    return found


class Processor:
    """Seconds of the processor in the main thread of a page since the last call."""

    def __init__(self, page: Page):
        self._session = page.context.new_cdp_session(page)
        self._session.send("Performance.enable", {"timeDomain": "threadTicks"})
        self._before = 0.0
        self()

    def __call__(self) -> float:
        metrics = self._session.send("Performance.getMetrics")["metrics"]
        now = next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")
        seconds, self._before = now - self._before, now
        return seconds


UNDO = """() => document.addEventListener('keydown', () => {
  const start = performance.now();
  window.labdlUndone = null;
  requestAnimationFrame(() => requestAnimationFrame(() => { window.labdlUndone = performance.now() - start; }));
}, true)"""


def undoing(page: Page, processor: Processor) -> tuple[float, float]:
    """Median milliseconds from the key to the frame, and of the processor, while the last change is undone and redone."""
    page.evaluate(UNDO)
    waits, times = [], []
    for n in range(6):
        page.wait_for_timeout(1000)
        processor()
        page.keyboard.press("Control+Shift+z" if n % 2 else "Control+z")
        page.wait_for_function("() => window.labdlUndone > 0")
        times.append(1000 * processor())
        waits.append(page.evaluate("() => window.labdlUndone"))
    return statistics.median(waits), statistics.median(times)


def saving(page: Page, file: Path) -> float:
    """Seconds from the key to the written file."""
    before, start = file.stat().st_mtime_ns, time.perf_counter()
    page.keyboard.press("Control+s")
    while file.stat().st_mtime_ns == before:
        time.sleep(0.005)
    return time.perf_counter() - start


def from_the_zoo(page: Page, name: str) -> float:
    """Seconds from Enter in the zoo's dialog to nodes on the canvas with their shapes."""
    page.locator(".jp-LauncherCard", has_text="Model from the Zoo").click()
    page.get_by_role("combobox", name="Search models").fill(name)
    page.get_by_role("option", name=name, exact=True).click()
    began = time.perf_counter()
    page.keyboard.press("Enter")
    page.locator(".labdl-node").first.wait_for()
    page.locator(".labdl-status-phase[data-phase=done]").wait_for(state="attached")
    return time.perf_counter() - began


WATCH = """() => {
  const phase = document.querySelector('.labdl-status-phase');
  document.addEventListener('input', () => { window.labdlSpent = null; window.labdlTyped = performance.now(); }, true);
  new MutationObserver(() => {
    if (phase.dataset.phase === 'done') window.labdlSpent = performance.now() - window.labdlTyped;
  }).observe(phase, { attributes: true });
}"""


def checking(page: Page) -> float:
    """Median seconds from a keystroke in a form to the answer of the check on the canvas, as the page itself sees them."""
    page.locator(".react-flow__node", has=page.locator(".labdl-node-type", has_text="Linear")).last.click()
    field = page.locator("#labdl_out_features")
    page.evaluate(WATCH)
    spent = []
    for n in range(9):
        field.fill(f"{101 + n}")
        page.wait_for_function("() => window.labdlSpent !== null")
        page.wait_for_timeout(300)
        spent.append(page.evaluate("() => window.labdlSpent") / 1000)
    return statistics.median(spent)


def zoo(names: list[str]) -> None:
    print(f"{'model':20} {'open':>8}")
    with tempfile.TemporaryDirectory() as home, jupyterlab(Path(home)) as lab, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_ARGUMENTS)
        for name in names:
            page = fresh(browser, lab.url)
            print(f"{name:20} {from_the_zoo(page, name):6.2f} s", flush=True)
            page.close()
        browser.close()


def fresh(browser: Browser, url: str) -> Page:
    """JupyterLab as it is at first."""
    page = browser.new_page(viewport={"width": 1600, "height": 1000})
    page.set_default_timeout(60_000)
    page.goto(f"{url}&reset")
    page.wait_for_selector(".jp-LauncherCard")
    page.wait_for_timeout(2000)  # JupyterLab's own start is none of ours
    return page


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each movement")
    parser.add_argument("--graphs", nargs="+", metavar="NAME", help="only these graphs")
    parser.add_argument("--zoo", nargs="+", metavar="NAME", help="only open these models of the zoo")
    options = parser.parse_args()
    if options.zoo:
        zoo(options.zoo)
        return
    builders = {
        "200": lambda: spread(decoder(200)),
        "1000": lambda: spread(decoder(1000)),
        "1000-folded": lambda: decoder(1000),
        "5000-folded": lambda: decoder(5000),
        "5000-row": lambda: row(5000),
    }
    graphs = {name: builders[name]() for name in options.graphs or builders}
    print(f"{'graph':14} {'nodes':>6} {'open':>8} {'check':>9}   frames a second (longest gap)")
    with tempfile.TemporaryDirectory() as home, jupyterlab(Path(home)) as lab, sync_playwright() as playwright:
        for name, graph in graphs.items():
            (lab.folder / f"{name}.labdl").write_bytes(structure.encode(graph))
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_ARGUMENTS)
        for name, graph in graphs.items():
            page = fresh(browser, lab.url)
            processor = Processor(page)
            took = opened(page, f"{name}.labdl")
            busy = processor()
            moved = smoothness(page, options.seconds, fit=not name.endswith("row"))
            check = checking(page) if name in ("200", "1000") else None
            shown = "  ".join(f"{kind} {rate:.0f} ({gap:.0f} ms)" for kind, (rate, gap) in moved.items())
            late = f"{1000 * check:6.0f} ms" if check else ""
            print(f"{name:14} {len(graph.nodes):6,} {took:6.2f} s {late:>9}   {shown}", flush=True)
            if name.endswith("row"):
                wait, of_undo = undoing(page, processor)
                save = saving(page, lab.folder / f"{name}.labdl")
                print(
                    f"{'':14} undo {wait:.0f} ms, save {save:.2f} s; processor: open {busy:.2f} s, undo {of_undo:.0f} ms"
                )
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
