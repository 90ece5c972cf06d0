"""Widgets look in the output of a cell as in a panel: the host's style sheets for outputs do not reach into them."""

import base64
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from places import LARGE, cell_of, command, open_notebook, open_run, run_cell, write_notebook
from playwright.sync_api import expect
from test_diff import NET, write
from test_journey import Graph

from labdl.lab.widgets import binary_events
from labdl.lab.widgets.front_end import read_static

pytestmark = pytest.mark.sample(False)

RUN = """
import sys, numpy as np
from labdl import nn, train
x = np.random.default_rng(0).normal(size=(64, 4)).astype("float32")
for name in ("one", "two"):
    trainer = train.Trainer(nn.Sequential(nn.Linear(8), nn.ReLU(), nn.Linear(1)), loss="mean_squared_error",
                            optimizer=train.SGD(0.05), backend="torch")
    run = trainer.start(x, x[:, :1], validation=(x, x[:, :1]), epochs=3, batch_size=8, folder=f"{sys.argv[1]}/{name}")
    run.checkpoint()  # a mark on the curves
    run.wait()
"""

# What VS Code's webviews and notebook outputs do to elements, and what a page of documents would; in our words.
HOSTS = {
    "vscode": """
        body { padding: 0 20px; font: 13px/1.6 monospace; color: #333; }
        img, video { max-width: 100%; max-height: 100%; }
        a { color: #006ab1; text-decoration: underline; }
        input:focus, select:focus, textarea:focus { outline: 1px solid red; outline-offset: -1px; }
        code { font: 10px/3 monospace; background: #eee; padding: 1px 3px; border-radius: 4px; }
        .output_container .output table { border-collapse: collapse; border: 0; }
        .output_container .output :is(th, td, tr) { padding: 4px 8px; text-align: right; vertical-align: middle; }
        .output_container .output tbody tr:nth-child(even) { background: rgba(130, 130, 130, 0.2); }
        .output_container p, .output_container ul { margin: 0 0 12px; padding-left: 20px; }
        .output_container svg { width: auto; height: 40px; }
    """,
    "documents": """
        #none, .output_container .output * { letter-spacing: 1px; }
        .output_container .output dl { display: table; width: 100%; border: 3px solid; margin: 10px; overflow: hidden; }
        .output_container .output dt { float: left; width: 20%; padding: 7px; margin: 0; font-weight: 700; }
        .output_container .output dd { float: left; width: 80%; border-top: 3px solid; margin: 0 0 9px; }
        .output_container .output dl::after { content: "x"; display: block; clear: both; }
        .output_container .output :is(h1, h2, h3, h4, p, ul, ol, li) { margin: 22px; font-size: 30px; line-height: 2; }
        .output_container .output :is(table, th, td) { border: 2px solid; padding: 12px; table-layout: fixed; }
        .output_container .output :is(button, input, select) { all: unset; height: 50px; border: 4px solid; margin: 6px; }
        .output_container .output :is(svg, canvas, img) { max-width: 10px; height: 90px; margin: 5px; }
        .output_container .output :is(div, span, section, header, figure, details, label) { padding: 5px; float: left; }
        .output { text-align: center; font-style: italic; white-space: pre; word-break: break-all; line-height: 3; }
    """,
}

# Every element's style and size, by its place
LAYOUT = """(root) => {
  root.style.width = '740px'
  const names = ['display', 'float', 'fontFamily', 'fontSize', 'fontWeight', 'fontStyle', 'lineHeight', 'letterSpacing',
    'textAlign', 'textTransform', 'whiteSpace', 'listStyleType', 'color', 'backgroundColor', 'boxSizing', 'overflow',
    'position', 'verticalAlign', 'textDecorationLine', 'outlineStyle', 'cursor']
  for (const side of ['Top', 'Right', 'Bottom', 'Left'])
    names.push('margin' + side, 'padding' + side, `border${side}Width`, `border${side}Style`)
  const found = {}
  const walk = (element, path) => {
    const style = getComputedStyle(element)
    found[path] = Object.fromEntries(names.map(name => [name, style[name]]))
    // frames fill the height of a panel
    if (!element.matches('div:not(.labdl-tile), section')) found[path].height = style.height
    if (element.matches('svg, canvas, .uplot')) return
    const count = {}
    for (const child of element.children) {
      const name = [child.localName, ...child.classList].join('.')
      count[name] = (count[name] ?? 0) + 1
      walk(child, `${path} > ${name}:${count[name]}`)
    }
  }
  walk(root, root.localName)
  root.style.width = ''
  return found
}"""


def settled(page, root):
    """The layout of a widget once it stands still."""
    before = None
    for _ in range(20):
        now = root.evaluate(LAYOUT)
        if now == before:
            break
        before = now
        page.wait_for_timeout(150)
    return now


def differences(one, other):
    assert one.keys() == other.keys(), sorted(one.keys() ^ other.keys())
    return [
        f"{path}: {name} {one[path][name]} -> {other[path][name]}"
        for path in one
        for name in one[path]
        if one[path][name] != other[path][name]
    ]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory) -> Path:
    """Two runs that are over, in a folder."""
    folder = tmp_path_factory.mktemp("recorded") / "runs"
    subprocess.run([sys.executable, "-c", RUN, str(folder)], check=True)
    return folder


def element(page, name: str):
    return page.locator(f".labdl-{name}:visible")


def test_runs_in_a_cell_look_as_in_a_panel(page, lab, recorded):
    folder = shutil.copytree(recorded, lab.folder / "runs")
    looks = {}

    def look(host):
        for name in ("dashboard", "runs"):
            root = element(page, name)
            expect(root.locator("canvas").first).to_be_visible(timeout=60_000)
            for part in (root.locator(".labdl-tabs"), page.locator(".labdl-RunOutput", has=root)):
                assert part.evaluate_all("all => all.map(one => one.scrollHeight - one.clientHeight)") == [0]
            looks[host, name] = settled(page, root)

    open_run(page, lab, folder / "one", "panel")
    panel = element(page, "dashboard")
    expect(panel.locator(".labdl-tile")).not_to_have_count(0)
    looks["panel", "dashboard"] = settled(page, panel)
    command(page, "Training Runs")
    runs = element(page, "runs")
    expect(runs.locator("tr[data-row]")).to_have_count(2, timeout=60_000)
    looks["panel", "runs"] = settled(page, runs)

    write_notebook(lab, cell_of(folder / "one"), cell_of(folder))
    for workspace in ("lab/tree", "notebooks"):
        open_notebook(page, lab, workspace=workspace)
        look(workspace)
    tiles = [box for path, box in looks["lab/tree", "dashboard"].items() if ".labdl-tile:" in path.split(" > ")[-1]]
    assert tiles
    assert min(float(tile["height"].removesuffix("px")) for tile in tiles) > 25
    found = {key: differences(looks["panel", key[1]], layout) for key, layout in looks.items() if key[0] != "panel"}
    assert found == {key: [] for key in found}


EDITOR = """
from pathlib import Path
from labdl import lab
from labdl.saving import structure
lab.Editor(structure.decode(Path("net.labdl").read_bytes()))
"""


def test_an_editor_in_a_cell_looks_as_in_a_panel(page, lab):
    page.set_viewport_size(LARGE)
    write(page, lab, net=NET)
    write_notebook(lab, EDITOR)

    def look():
        Graph(page).node("relu").click(timeout=60_000)
        parts = [page.locator(f"{name}:visible") for name in (".labdl-palette", ".labdl-panes .labdl-inspector")]
        for part in parts:
            expect(part).to_be_visible()
        return [settled(page, part) for part in parts]

    page.locator(".jp-DirListing-item", has_text="net.labdl").dblclick()
    panel = look()
    for workspace in ("lab/tree", "notebooks"):
        open_notebook(page, lab, workspace=workspace)
        run_cell(page)
        assert [differences(*pair) for pair in zip(panel, look(), strict=True)] == [[], []]


FAKE = """
import widget from './dashboard.js'
const listeners = {}
const model = {
  on: (name, listener) => (listeners[name] = listener),
  off: () => {},
  get: () => undefined,
  send: message => {
    if (message.type !== 'sync') return
    fetch('./events.json').then(answer => answer.json()).then(({ events, buffers }) => {
      const views = buffers.map(text => new DataView(Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer))
      listeners['msg:custom']({ type: 'events', run: 0, first: 0, alive: false, events }, views)
    })
  },
}
const here = widget()
here.initialize({ model })
here.render({ model, el: document.querySelector('.output') })
"""


@pytest.fixture
def bare_page(chromium, recorded):
    """A page without JupyterLab in which a dashboard shows a run."""
    lines = (recorded / "one" / "events.jsonl").read_text().splitlines()
    events, buffers = binary_events.pack(map(json.loads, lines))
    message = {"events": events, "buffers": [base64.b64encode(buffer).decode() for buffer in buffers]}
    page = chromium.new_page(viewport={"width": 900, "height": 900})

    def serve(host_style: str):
        files = {
            "page.html": f"<!doctype html><style>{host_style}</style><link rel=stylesheet href=dashboard.css>"
            "<body><div class=output_container><div class=output></div></div><script type=module src=page.js></script>",
            "page.js": FAKE,
            "events.json": json.dumps(message),
            "dashboard.js": read_static("dashboard.js"),
            "dashboard.css": read_static("dashboard.css"),
        }
        kinds = {"html": "text/html", "js": "text/javascript", "css": "text/css", "json": "application/json"}

        def answer(route):
            name = route.request.url.split("/")[-1]
            if name in files:
                route.fulfill(body=files[name], content_type=f"{kinds[name.split('.')[-1]]}; charset=utf-8")
            else:
                route.abort()

        page.unroute_all()
        page.route("http://labdl.test/*", answer)
        page.goto("http://labdl.test/page.html")
        root = element(page, "dashboard")
        expect(root.locator(".labdl-tile")).not_to_have_count(0)
        expect(root.locator("canvas").first).to_be_visible()
        return settled(page, root)

    yield serve
    page.close()


def test_no_style_of_a_page_reaches_into_a_dashboard(bare_page):
    plain = bare_page("")
    found = {host: differences(plain, bare_page(style)) for host, style in HOSTS.items()}
    assert found == {host: [] for host in HOSTS}
