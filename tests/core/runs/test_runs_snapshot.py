"""The static image of a run: contents, size, well-formedness for any run, and smoothing."""

import json
import re
import warnings
import xml.etree.ElementTree as ElementTree
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from run_files import NOW, end, epoch, gone, start, trained, written

from labdl import runs
from labdl.errors import ConfigError
from labdl.runs.curves.downsampling import band, outline
from labdl.runs.curves.smoothing import moving_average
from labdl.runs.reading.event_file import EVENTS
from labdl.runs.snapshot import snapshot

NAMES = {"svg": "http://www.w3.org/2000/svg"}
awkward = st.one_of(st.floats(), st.sampled_from([0.0, 1e308, -1e308, 5e-324, float("nan"), float("inf")]))
columns = arrays.arrays("float64", st.integers(0, 200), elements=awkward)


def one_by_one(values):
    """The average as a loop has it."""
    total = weight = 0.0
    for count, value in enumerate(values, start=1):
        if not np.isfinite(value):
            yield np.nan
            continue
        width = min(1000, max(3, count / 20))
        total += (value - total) / width
        weight += (1 - weight) / width
        yield total / weight


moderate = st.one_of(st.floats(-1e6, 1e6), st.just(float("nan")))


@settings(deadline=None)
@given(arrays.arrays("float64", st.integers(0, 300), elements=moderate), st.integers(1, 80))
def test_the_average_is_that_of_a_loop(values, times):
    values = np.tile(values, times)
    room = 1e-9 * max(1, np.nanmax(np.abs(values), initial=0))
    np.testing.assert_allclose(moving_average(values), list(one_by_one(values)), rtol=1e-9, atol=room)


def test_the_average_is_the_one_of_the_dashboard():
    places = np.arange(30_000)
    values = np.sin(places / 7) + places / 1000
    values[[2, 70]] = np.nan
    found = moving_average(values)
    # what labextension/src/runs/store/smoothing.ts gives for these values
    told = {
        0: 0,
        1: 0.08602303787535817,
        2: np.nan,
        3: 0.24354616177321314,
        4: 0.3686965832010854,
        70: np.nan,
        69: -0.03423325431855065,
        71: -0.18776273215663997,
        999: 0.9555977967034188,
        19999: 19.048967009153444,
        29999: 28.993910558338765,
    }
    for place, value in told.items():
        np.testing.assert_allclose(found[place], value, rtol=1e-10, atol=1e-12)


@given(columns)
def test_averages_are_within_the_range(values):
    found = moving_average(values)
    assert (np.isfinite(found) == np.isfinite(values)).all()
    good = values[np.isfinite(values)]
    if len(good):
        size = np.abs(good).max() or 1.0  # shares of it, for sums with the largest doubles overflow
        assert np.nanmin(found) / size >= good.min() / size - 1e-9
        assert np.nanmax(found) / size <= good.max() / size + 1e-9


@given(columns, st.integers(8, 60))
def test_an_outline_keeps_the_extremes_and_the_ends(values, limit):
    kept = outline(values, limit)
    assert len(kept) <= max(limit, min(len(values), limit))
    assert (np.diff(kept) > 0).all()
    if len(values):
        assert (kept[0], kept[-1]) == (0, len(values) - 1)
    good = values[np.isfinite(values)]
    if len(good):
        assert np.nanmin(values[kept][np.isfinite(values[kept])]) == good.min()
        assert np.nanmax(values[kept][np.isfinite(values[kept])]) == good.max()


def test_gap_is_preserved():
    values = np.ones(1000)
    values[400:600] = np.nan
    assert np.isnan(values[outline(values, 50)]).any()
    middles, low, high = band(np.arange(1000.0), values, 50)
    assert not ((middles > 405) & (middles < 595)).any()
    assert (low <= high).all()


def drawn(record, **options):
    svg = record.to_svg(**options)
    return svg, ElementTree.fromstring(svg)


def test_image_shows_the_run_and_has_a_description(tmp_path):
    alert = {"alert": "plateau", "level": "warning", "message": "It stands still."}
    did = [
        {"kind": "learning_rate", "time": NOW + 30, "value": 0.01, "step": 12},
        {"kind": "alert", "time": NOW + 30, "step": 20, **alert},
    ]
    record = runs.open(written(tmp_path / "one", [*trained(), *did, end()]))
    svg, root = drawn(record, path=tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == svg
    title, told = (root.find(f"svg:{name}", NAMES).text for name in ("title", "desc"))
    assert title == "Net · torch · finished · 3 epochs · 0:30"
    assert "val_accuracy 0.0" in told
    assert "best val_accuracy 0.2000 (epoch 2)" in told
    assert "It stands still." in told
    words = [element.text for element in root.iter(f"{{{NAMES['svg']}}}text")]
    assert {"loss", "accuracy", "learning rate", "samples per second", "step 30"} <= set(words)
    assert "prefers-color-scheme:dark" in svg
    looks = set(re.findall(r'class="(\w)"', svg))
    assert looks == set("pidgtvma") | ({"b"} & looks), "background, words, grid, train, validation, marks, alerts"
    assert set(re.findall(r"\.labdl-run \.(\w)", svg)) >= looks - {"b"}, "each has a dark look"


def test_image_of_an_empty_run(tmp_path):
    svg, root = drawn(runs.open(written(tmp_path / "new", [])))
    assert root.find("svg:title", NAMES).text.startswith("new · waiting")
    assert "no figures yet" in svg


LONG = "the output of 3 (Linear) has NaN & infinity <after> step 9: " + "try a smaller learning rate. " * 30


@pytest.mark.parametrize("message", ["No space left on device", LONG])
def test_image_of_a_failed_run_has_its_reason(tmp_path, message):
    """Also in a notebook that was saved or converted, where no dashboard can fetch it."""
    svg, root = drawn(runs.open(written(tmp_path / "one", [*trained(1), end("failed", message=message)])))
    assert message.strip() in root.find("svg:desc", NAMES).text
    lines = [element.text for element in root.iter(f"{{{NAMES['svg']}}}text") if element.get("class") == "e"]
    assert " ".join(lines).removesuffix(" …") in message
    assert 1 <= len(lines) <= 4
    assert len(svg.encode()) <= 20_000
    charts = [element.get("transform") for element in root.iter(f"{{{NAMES['svg']}}}g") if element.get("transform")]
    assert float(charts[0].split(" ")[1].rstrip(")")) > 50 + 16 * len(lines), "the curves are below the reason"


def test_image_of_a_lost_run_says_so(tmp_path):
    record = runs.open(written(tmp_path / "one", trained(1, **gone())))
    svg, root = drawn(record)
    assert record.status == "lost"
    assert "· lost ·" in root.find("svg:title", NAMES).text
    assert "The process of this run no longer exists." in svg


def test_size_limit_of_the_image(tmp_path):
    draw = np.random.default_rng(0)
    wild = {name: draw.normal(size=5000).tolist() for name in ("loss", "accuracy")}
    ends = [epoch(n, 5 * n, val_loss=draw.normal(), val_accuracy=draw.normal()) for n in range(1, 999)]
    single = {"kind": "steps", "time": NOW + 9, "step": list(range(1, 5001)), **wild}
    record = runs.open(written(tmp_path, [start(), single, *ends]))
    sizes = [len(drawn(record, limit=limit)[0].encode()) for limit in (8000, 12_000, 20_000, 60_000)]
    assert sizes == sorted(sizes)
    assert all(size <= limit for size, limit in zip(sizes, (8000, 12_000, 20_000, 60_000), strict=True))
    assert sizes[2] > 10_000, "what may be used is used"
    with pytest.raises(ConfigError, match="8,000"):
        record.to_svg(limit=100)


names = st.text(st.characters(codec=None), max_size=60)


@pytest.mark.sample(False)
@settings(max_examples=80, deadline=None)
@given(
    names,
    st.dictionaries(names, st.lists(awkward, min_size=12, max_size=12), max_size=8),
    st.lists(awkward, max_size=12),
    st.integers(1, 2**60),
)
def test_the_picture_of_any_run_is_small_and_well_formed(tmp_path_factory, name, figures, rates, step):
    clean = [text.encode("utf-8", "replace").decode() for text in (name, *figures)]
    told = dict(zip(clean[1:], figures.values(), strict=True))
    told |= {"loss": next(iter(figures.values()), [1.0] * 12)}
    found = [step + number for number in range(12)]
    events = [
        start(model=clean[0], metrics=clean[1:2]),
        {**told, "kind": "steps", "time": NOW + 9, "step": found},
        {"kind": "rate", "time": NOW + 9, "step": found[: len(rates)], "value": rates},
        *(
            {
                **{f"val_{key}": values[n] for key, values in told.items()},
                "kind": "epoch",
                "time": NOW + 9,
                "epoch": n,
                "step": found[n],
                "samples_per_second": values[n],
            }
            for n in range(12)
            for values in [told["loss"]]
        ),
        {"kind": "alert", "time": NOW + 9, "step": step, "message": clean[0]},
        {"kind": "learning_rate", "time": NOW + 9, "step": step, "value": 0.1},
    ]
    record = runs.open(written(tmp_path_factory.mktemp("any"), events))
    for limit in (8000, 20_000):
        svg, root = drawn(record, limit=limit)
        assert len(svg.encode()) <= limit
        assert {element.tag.split("}")[1] for element in root.iter()} <= {
            "svg",
            "title",
            "desc",
            "style",
            "rect",
            "g",
            "text",
            "tspan",
            "path",
        }
        assert "nan" not in "".join(re.findall(r' d="([^"]*)"', svg))


def test_pixels_are_those_of_the_picture(tmp_path):
    resvg = pytest.importorskip("resvg_py")
    record = runs.open(written(tmp_path / "one", [*trained(), end()]))
    image = record.to_png(tmp_path / "a.png", width=900)
    assert image[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(image[16:20], "big") == 900
    assert (tmp_path / "a.png").read_bytes() == image
    with pytest.raises(ConfigError, match="pixels"):
        record.to_png(width=0)
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        no_fonts = SimpleNamespace(svg_to_bytes=partial(resvg.svg_to_bytes, skip_system_fonts=True))
        assert snapshot._lacks_fonts(no_fonts), "a system without fonts is noticed"
    assert not noted


def test_the_file_of_a_run_is_never_changed_by_its_pictures(tmp_path):
    folder = written(tmp_path / "one", [*trained(), end()])
    before = (folder / EVENTS).read_bytes()
    runs.open(folder).to_svg()
    assert (folder / EVENTS).read_bytes() == before
    assert json.loads(before.splitlines()[0])["kind"] == "start"
