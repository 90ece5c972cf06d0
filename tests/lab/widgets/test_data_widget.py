"""`lab.Data`: what it takes for a data set, its answers over the comm, and its snapshot."""

import time

import numpy as np
import pytest

from labdl import data, lab
from labdl.data import transforms as T
from labdl.errors import ConfigError
from labdl.lab.widgets import base
from labdl.lab.widgets.data_sources import as_dataset


class Page:
    """Stands in for a browser: asks, and waits for the reply of another thread."""

    def __init__(self, widget, monkeypatch):
        self.widget, self.received = widget, []
        monkeypatch.setattr(widget, "send", lambda content, buffers=None: self.received.append(content))

    def reply(self, name, **fields):
        identity = f"{name}-{len(self.received)}"
        self.widget._on_message(None, {"type": "request", "id": identity, "name": name, **fields}, [])
        for _ in range(1000):
            for content in list(self.received):
                if content["id"] == identity:
                    return content
            time.sleep(0.01)
        raise AssertionError(f"no reply to {name}")

    def ask(self, name, **fields):
        return self.reply(name, **fields)["result"]


@pytest.fixture
def show(monkeypatch):
    monkeypatch.setattr(base, "read_static", lambda name: "")
    shown = []

    def create(source, **settings):
        shown.append(lab.Data(source, **settings))
        return Page(shown[-1], monkeypatch)

    yield create
    for widget in shown:
        widget.close()


def digits():
    return data.digits()[0]


def test_pictures_of_arrays(show):
    page = show(digits())
    summary = page.ask("summary")
    assert (summary["samples"], summary["classes"][:2], summary["pipeline_file"]) == (len(digits()), ["0", "1"], None)
    assert [e["kind"] for e in summary["entries"]] == ["image", "label"]
    answer = page.ask("samples", start=0, count=3, label="7")
    assert answer["total"] == int((digits().labels() == 7).sum())
    assert {s["label"] for s in answer["samples"]} == {"7"}
    assert answer["samples"][0]["parts"][0]["picture"].startswith("data:image/png")
    assert (answer["samples"][0]["parts"][0]["width"], answer["samples"][0]["parts"][0]["height"]) == (8, 8)


class Squares(data.Dataset):
    """Boxes, masks and key points at known places; every fifth cannot be read."""

    name, classes, targets = "squares", ("left", "right"), ("boxes", "labels")

    def __init__(self, parallel=True):
        self.parallel = parallel

    def __len__(self):
        return 10

    def read(self, index, epoch=0):
        if index % 5 == 4:
            raise RuntimeError("the disk is on fire")
        mask = np.zeros((40, 80), np.uint8)
        mask[10:30, 20:40] = 1
        return {
            "image": data.Image(np.full((40, 80, 3), 90, np.uint8)),
            "boxes": data.BoundingBoxes([[20, 10, 20, 20]], format="xywh", canvas_size=(40, 80)),
            "labels": np.array([index % 2]),
            "mask": data.Mask(mask),
            "keypoints": data.KeyPoints([[[40, 20, 2], [0, 0, 0]]], canvas_size=(40, 80)),
        }


@pytest.mark.parametrize("parallel", [True, False])
def test_objects_are_drawn_in_shares_of_the_picture(show, parallel):
    page = show(Squares(parallel))
    samples = page.ask("samples", start=0, count=5)["samples"]
    (part,) = samples[1]["parts"]
    assert part["boxes"] == [{"left": 0.25, "top": 0.25, "width": 0.25, "height": 0.5, "label": "right"}]
    assert part["points"] == [[0.5, 0.5]] or part["points"] == [(0.5, 0.5)]
    assert part["mask"].startswith("data:image/png")
    assert samples[4]["problem"] == "the disk is on fire"
    for _ in range(100):
        statistics = page.ask("statistics")
        if statistics["complete"]:
            break
    assert statistics["classes"] == [{"name": "left", "count": 4}, {"name": "right", "count": 4}]
    assert {h["name"]: h["counts"] for h in statistics["histograms"]}["objects"] == [8]
    assert [b["index"] for b in statistics["broken"]] == [4, 9]
    assert page.ask("samples", start=0, count=9, label="right")["total"] == 4


def test_saved_steps_are_the_pipeline_of_the_widget(show):
    page = show(digits())
    assert page.widget.pipeline == data.Pipeline([])
    step = {"type": "Pad", "settings": {"padding": 2}, "phase": "training"}
    saved = page.ask("save", pipeline={"steps": [step], "split": {"fraction": 0.7, "seed": 3, "stratify": True}})
    assert page.widget.pipeline.transforms == [T.Pad(2)]
    assert saved["path"] == ""
    assert saved["input_shape"] == [None, 1, 8, 8]  # the evaluation has no padding
    assert page.ask("summary")["pipeline"]["steps"] == [step]
    names = {"view": page.widget, "dataset": page.widget.dataset}
    exec(saved["code"].splitlines()[0], names)
    assert len(names["train_set"]) == round(0.7 * len(digits()))
    assert len(names["train_set"]) + len(names["test_set"]) == len(digits())


def brighten(sample):
    return {**sample, "image": sample["image"].like(np.minimum(sample["image"].array, 100) + 100)}


def fail(sample):
    raise RuntimeError("no such color")


class Twice(T.Transform):
    """Not registered."""

    def apply(self, sample, rng):
        return sample


PICTURES = [{"image": data.Image(np.full((8, 8, 3), 50, np.uint8)), "label": i} for i in range(4)]


def test_functions_and_objects_are_steps_by_their_names(show, tmp_path):
    inner = T.RandomApply([T.HorizontalFlip(), T.Lambda(brighten)], p=1.0)
    page = show(PICTURES, pipeline=data.Pipeline([inner, Twice(), lambda sample: sample]))
    steps = page.ask("summary")["pipeline"]["steps"]
    assert [step["type"] for step in steps] == ["RandomApply", "Twice", "Lambda"]
    assert steps[0]["settings"] == {"p": 1.0}
    flip, function = steps[0]["inner"]
    assert (flip["type"], "object" in flip) == ("HorizontalFlip", False)
    names = [step["object"] for step in (function, steps[1], steps[2])]
    assert [(n["kind"], n["name"]) for n in names] == [
        ("function", "brighten"),
        ("object", "Twice"),
        ("function", "<lambda>"),
    ]
    assert names[0]["module"] == __name__

    # the preview applies them, in any order, and says which one fails
    split = {"fraction": 0.5, "seed": 0, "stratify": False}
    moved = [steps[2], {"type": "Compose", "settings": {}, "inner": [steps[1], function]}]
    answer = page.ask("preview", index=0, step=2, count=1, pipeline={"steps": moved, "split": split})
    assert answer["problems"] == []
    saved = page.ask("save", pipeline={"steps": moved, "split": split})
    assert (saved["path"], page.widget.pipeline.phases) == ("", ["always", "always"])
    assert page.widget.dataset.map(page.widget.pipeline)[0]["image"].array.max() == 150
    again = page.ask("summary")["pipeline"]["steps"]
    assert [step["type"] for step in again] == ["Lambda", "Compose"]
    with pytest.raises(
        ConfigError, match=r"step 1: the function <lambda> of Lambda cannot be saved: write it as a class"
    ):
        page.widget.pipeline.save(tmp_path / "x.json")
    missing = {"type": "Lambda", "settings": {}, "object": {"number": 99}}
    answer = page.ask("preview", index=0, step=1, count=1, pipeline={"steps": [missing], "split": split})
    assert "not in the cell any more" in answer["problems"][0]["message"]


def test_the_inner_function_that_fails_is_named(show):
    page = show(PICTURES, pipeline=data.Pipeline([T.ToFloat(), T.RandomChoice([T.Compose([T.Lambda(fail)])])]))
    pipeline = page.ask("summary")["pipeline"]
    answer = page.ask("preview", index=0, step=2, count=2, pipeline=pipeline)
    assert answer["problems"] == [{"step": [2, 1, 1], "message": "no such color"}]


def test_the_steps_of_a_mapped_data_set_are_shown(show):
    mapped = data.SampleDataset(PICTURES).map([T.Lambda(brighten), T.Resize((4, 4))]).map(brighten)
    page = show(mapped)
    summary = page.ask("summary")
    assert summary["pipeline"]["steps"] == []
    assert [step["type"] for step in summary["applied"]] == ["Lambda", "Resize", "Lambda"]
    assert summary["applied"][0]["object"]["name"] == "brighten"
    (sample,) = page.ask("samples", start=0, count=1)["samples"]
    assert sample["parts"][0]["width"] == 4


def test_classes_of_a_cell_with_settings_of_any_type(show, monkeypatch):
    from labdl.data.transforms.transform import TRANSFORMS

    page = show(PICTURES)
    before = dict(TRANSFORMS)
    try:

        @T.transform
        class Around(T.Transform):
            """Apply a transform twice."""

            inside: T.Transform
            count: int = 2

            def apply(self, sample, rng):
                for _ in range(self.count):
                    sample = self.inside.apply(sample, rng)
                return sample

        @T.transform
        class Table(T.Transform):
            values: np.ndarray

        listed = {one["name"]: one for one in page.ask("transforms")["transforms"]}
        assert "Table" not in listed
        assert listed["Around"]["inner"] == "one"
        assert list(listed["Around"]["schema"]["properties"]) == ["count"]
        step = {"type": "Around", "settings": {"count": 3}, "inner": [{"type": "Pad", "settings": {"padding": 1}}]}
        answer = page.ask("preview", index=0, step=1, count=1, pipeline={"steps": [step], "split": {}})
        assert answer["results"][0]["parts"][0]["width"] == 14
    finally:
        TRANSFORMS.clear()
        TRANSFORMS.update(before)


@pytest.mark.parametrize(
    ("source", "length", "kinds"),
    [
        (np.zeros((5, 20, 20)), 5, ["image"]),
        ((np.zeros((5, 3)), np.arange(5)), 5, ["array", "label"]),
        ({"age": [1.5, 2.5], "name": ["Ann", "Bo"]}, 2, ["number", "text"]),
        ([{"text": data.Text("hello"), "label": 1}] * 3, 3, ["text", "label"]),
        ((x for x in [np.zeros(3)] * 400), 200, ["array"]),
        (data.IterableDataset(lambda: iter([np.zeros(3)] * 3)), 3, ["array"]),
        ([data.Audio(np.zeros(800), sample_rate=8000)], 1, ["audio"]),
        ([data.Video(np.zeros((4, 9, 9, 3), "uint8"), fps=4)], 1, ["video"]),
        ([(data.TokenIds([1, 2]), data.Tokens(["a", "b"]))], 1, ["tokens", "tokens"]),
        ([data.Spectrogram(np.ones((1, 9, 9)))], 1, ["spectrogram"]),
        ([{"bytes": b"abc", "nothing": None, "odd": object()}], 1, ["text", "number", "text"]),
    ],
    ids=["array", "arrays", "columns", "list", "generator", "stream", "sound", "clip", "tokens", "spectrogram", "odd"],
)
def test_everything_that_can_be_shown(show, source, length, kinds):
    page = show(source)
    summary = page.ask("summary")
    assert (summary["samples"], [e["kind"] for e in summary["entries"]]) == (length, kinds)
    (sample,) = page.ask("samples", start=0, count=1)["samples"]
    assert "problem" not in sample
    for part in sample["parts"]:
        assert part["kind"] in ("image", "audio", "video", "text", "values")


def test_what_is_no_data_set_is_refused():
    for source in (3, "name", None, {"a": [1], "b": [1, 2]}):
        with pytest.raises(ConfigError, match="Data wants"):
            as_dataset(source)
    pair = data.SampleDataset([1]), data.SampleDataset([2])  # as of data.digits
    with pytest.raises(ConfigError, match=r"2 data sets: name them, as in Data\(\{'training'"):
        as_dataset(pair)


def test_wrong_requests_are_errors(show):
    page = show(digits())
    assert "received 'delete'" in page.reply("delete")["error"]
    assert "start" in page.reply("samples", start=-1, count=1)["error"]
    assert "count" in page.reply("samples", start=0, count=10**9)["error"]
    assert "list of steps" in page.reply("preview", index=0, step=1, pipeline={"steps": 3})["error"]
    (problem,) = page.ask("preview", index=0, step=1, pipeline={"steps": [{"type": "Nope"}]})["problems"]
    assert "no transform" in problem["message"]
    page.widget._on_message(None, ["no", "request"], [])


def test_snapshot_is_small(show):
    rng = np.random.default_rng(0)
    noise = [{"image": data.Image(rng.integers(0, 255, (90, 120, 3), np.uint8)), "label": i % 3} for i in range(40)]
    widget = show(noise).widget
    forms = widget._forms()
    assert len(forms["text/html"].encode()) < 20_000
    assert "40 samples" in forms["text/plain"]
    assert "90 × 120 × 3 uint8" in forms["text/plain"]
    assert forms["text/html"].endswith(widget._snapshot["picture"])
    assert "<svg" not in show((np.zeros((5, 3)), np.arange(5))).widget._forms()["text/html"]


def test_a_saved_notebook_has_the_small_program(monkeypatch):
    monkeypatch.setattr(base, "has_page", lambda: False)
    monkeypatch.setattr(base, "read_static", lambda name: name)
    view = lab.Data(digits())
    shown = view._repr_mimebundle_()[0]
    assert view._esm == "snapshot.js"
    assert base.VIEW not in shown
    assert "10 classes: 0 " in shown["text/plain"]
    view.close()


def test_reading_stops_when_nobody_asks(show, monkeypatch):
    from labdl.lab.dataset_view import statistics

    class Slow(data.Dataset):
        reads = 0

        def __len__(self):
            return 10_000

        def read(self, index, epoch=0):
            Slow.reads += 1
            time.sleep(0.002)
            return np.zeros(3)

    monkeypatch.setattr(statistics, "PATIENCE", 0.2)
    page = show(Slow())
    assert not page.ask("statistics")["complete"]
    time.sleep(0.6)
    reads = Slow.reads
    time.sleep(0.2)
    assert 1 < reads == Slow.reads < 5000
    before = page.ask("statistics")["read"]
    time.sleep(0.1)
    assert page.ask("statistics")["read"] > before
