"""Routes of the Data panel over real files: pictures, sounds, boxes; hostile paths and damaged files."""

import base64
import io
import json
import os

import numpy as np
import PIL.Image
import pytest
from tornado.httpclient import HTTPClientError

from labdl import data
from labdl.data.codecs.audio import decode_audio, encode_audio
from labdl.data.codecs.image import encode_image
from labdl.data.codecs.video import decode_video, encode_video

pytest_plugins = ["pytest_jupyter.jupyter_server"]

STEPS = [
    {"type": "Resize", "settings": {"size": [16, 16]}},
    {"type": "HorizontalFlip", "settings": {}, "phase": "training"},
    {"type": "ToFloat", "settings": {}},
]
PIPELINE = {"steps": STEPS, "split": {"fraction": 0.5, "seed": 1, "stratify": True}}


@pytest.fixture
def pictures(jp_root_dir):
    """Two classes of four pictures, of which one is damaged."""
    rng = np.random.default_rng(0)
    for name, shade in (("dark", 40), ("light", 200)):
        (jp_root_dir / "shades" / name).mkdir(parents=True)
        for i in range(4):
            image = np.clip(rng.normal(shade, 20, (60, 80, 3)), 0, 255).astype("uint8")
            (jp_root_dir / "shades" / name / f"{i}.jpg").write_bytes(encode_image(image, "jpeg"))
    (jp_root_dir / "shades" / "light" / "3.jpg").write_bytes(b"\xff\xd8\xff no picture")
    return jp_root_dir / "shades"


@pytest.fixture
def ask(jp_fetch):
    async def post(route, **body):
        body.setdefault("path", "shades")
        response = await jp_fetch("labdl", "dataset", route, method="POST", body=json.dumps(body))
        return json.loads(response.body)

    return post


@pytest.fixture
def refusal(ask):
    async def post(route, **body):
        with pytest.raises(HTTPClientError) as caught:
            await ask(route, **body)
        return caught.value.code, json.loads(caught.value.response.body)["message"]

    return post


def decode(url):
    head, _, content = url.partition(",")
    return head, PIL.Image.open(io.BytesIO(base64.b64decode(content)))


async def test_summary_and_samples(pictures, ask):
    summary = await ask("summary")
    assert (summary["kind"], summary["samples"], summary["classes"]) == ("ImageFolder", 8, ["dark", "light"])
    assert [(e["name"], e["kind"]) for e in summary["entries"]] == [("image", "image"), ("label", "label")]
    assert summary["pipeline"]["steps"] == []
    assert summary["pipeline_file"] == "shades.pipeline.json"
    answer = await ask("samples", start=2, count=6, size=32)
    assert answer["total"] == 8
    assert [s["index"] for s in answer["samples"]] == [2, 3, 4, 5, 6, 7]
    first, last = answer["samples"][0], answer["samples"][-1]
    (part,) = first["parts"]
    assert (first["name"], first["label"], part["width"], part["height"]) == ("dark/2.jpg", "dark", 80, 60)
    _, thumbnail = decode(part["picture"])
    assert thumbnail.size == (32, 24)
    assert abs(np.asarray(thumbnail).mean() - 40) < 6
    assert last["parts"] == []
    assert "cannot be" in last["problem"] or "no picture" in last["problem"]


async def test_filter_by_class(pictures, ask):
    answer = await ask("samples", start=1, count=2, label="light", size=16)
    assert (answer["total"], [s["index"] for s in answer["samples"]]) == (4, [5, 6])
    assert (await ask("samples", start=0, count=2, label="none"))["total"] == 0


async def test_statistics_are_read_bit_by_bit(pictures, ask):
    for _ in range(200):
        answer = await ask("statistics")
        if answer["complete"]:
            break
    assert (answer["read"], answer["samples"]) == (8, 8)
    assert answer["classes"] == [{"name": "dark", "count": 4}, {"name": "light", "count": 4}]
    histograms = {h["name"]: h for h in answer["histograms"]}
    assert sum(histograms["width"]["counts"]) == 7
    assert histograms["width"]["integers"]
    assert all(edge % 1 == 0.5 for edge in histograms["width"]["edges"])
    assert histograms["height"]["edges"][0] <= 60 <= histograms["height"]["edges"][-1]
    assert [(b["name"], b["path"]) for b in answer["broken"]] == [("light/3.jpg", "shades/light/3.jpg")]
    assert answer["broken_count"] == 1


async def test_preview_is_what_training_gets(pictures, ask):
    answer = await ask("preview", index=1, pipeline=PIPELINE, step=3, count=4, seed=5, size=64)
    assert len(answer["results"]) == 4
    train = data.ImageFolder(pictures).map(
        [data.transforms.Resize((16, 16)), data.transforms.HorizontalFlip(), data.transforms.ToFloat()], seed=5
    )
    for epoch, result in enumerate(answer["results"]):
        shown = np.asarray(decode(result["parts"][0]["picture"])[1])
        assert np.abs(shown / 255 - np.asarray(train.read(1, epoch)["image"])).max() <= 1 / 255
    evaluation = await ask("preview", index=1, pipeline=PIPELINE, step=3, count=2, phase="evaluation")
    one, other = (r["parts"][0]["picture"] for r in evaluation["results"])
    assert one == other
    partial = await ask("preview", index=1, pipeline=PIPELINE, step=0, count=1)
    shown, original = (decode(s["parts"][0]["picture"])[1] for s in (partial["results"][0], partial["original"]))
    assert np.abs(np.asarray(shown, int) - np.asarray(original, int)).mean() < 6  # the original is decoded fast


async def test_wrong_steps_are_sentences(pictures, ask, refusal):
    def steps(*steps):
        return {"steps": list(steps), "split": {}}

    unknown = steps({"type": "os.system", "settings": {"command": "true"}})
    answer = await ask("preview", index=0, pipeline=unknown, step=1)
    (problem,) = answer["problems"]
    assert (problem["step"], "there is no transform 'os.system'" in problem["message"]) == ([1], True)
    assert (answer["results"], answer["original"]["index"]) == ([], 0)
    status, message = await refusal("save", pipeline=unknown)
    assert (status, "Step 1: there is no transform 'os.system'" in message) == (400, True)
    wrong = steps({"type": "ToFloat", "settings": {}}, {"type": "Resize", "settings": {"size": -1}})
    answer = await ask("preview", index=0, pipeline=wrong, step=1, count=2)  # of the steps before it
    assert (len(answer["results"]), [p["step"] for p in answer["problems"]]) == (2, [[2]])
    assert "Resize: size wants" in answer["problems"][0]["message"]
    assert (await ask("preview", index=0, pipeline=wrong, step=2))["results"] == []
    status, message = await refusal("preview", index=99, pipeline=PIPELINE, step=1)
    assert (status, "8 samples" in message) == (400, True)
    file = steps({"type": "AddNoise", "settings": {"noise": os.path.abspath(__file__)}})
    status, message = await refusal("preview", index=0, pipeline=file, step=1)
    assert (status, "names the file" in message) == (400, True)
    # a step that does not fit the sample is the problem of the result
    crop = steps({"type": "Crop", "settings": {"top": 0, "left": 0, "height": 4000, "width": 4000}})
    answer = await ask("preview", index=7, pipeline=crop, step=1, count=1)
    assert answer["results"][0]["problem"]
    assert answer["problems"] == []  # the sample is damaged


def nest(depth):
    step = {"type": "ToFloat", "settings": {}}
    for _ in range(depth):
        step = {"type": "Compose", "settings": {}, "inner": [step]}
    return step


async def test_steps_inside_of_others(pictures, ask, refusal, jp_root_dir):
    crop = {"type": "Crop", "settings": {"top": 0, "left": 0, "height": 30, "width": 30}}
    flip = {"type": "HorizontalFlip", "settings": {"p": 1.0}}
    choice = {
        "type": "RandomChoice",
        "settings": {},
        "inner": [flip, {"type": "Compose", "settings": {}, "inner": [crop]}],
    }
    policy = {
        "type": "RandomSelectSubpolicy",
        "settings": {},
        "inner": [
            {
                "type": "Compose",
                "settings": {},
                "inner": [{"type": "RandomApply", "settings": {"p": 0.3}, "inner": [flip]}],
            }
        ],
    }
    pipeline = {"steps": [STEPS[0], choice, policy], "split": {}}

    # the preview is what training gets
    answer = await ask("preview", index=1, pipeline={**pipeline, "steps": [choice]}, step=1, count=6, seed=5, size=64)
    own = data.transforms.RandomChoice(
        [data.transforms.HorizontalFlip(1.0), data.transforms.Compose([data.transforms.Crop(0, 0, 30, 30)])]
    )
    train = data.ImageFolder(pictures).map([own], seed=5)
    for epoch, result in enumerate(answer["results"]):
        height, width = train.read(1, epoch)["image"].shape[:2]
        assert (result["parts"][0]["height"], result["parts"][0]["width"]) == (height, width)
    assert len({r["parts"][0]["width"] for r in answer["results"]}) == 2

    # a step that fails, and one whose settings are wrong
    scale = {"type": "Normalize", "settings": {"mean": [0.5] * 5, "std": [0.5] * 5}}
    choice["inner"][1]["inner"] = [{"type": "ToFloat", "settings": {}}, scale]
    answer = await ask("preview", index=1, pipeline={**pipeline, "steps": [choice]}, step=1, count=6, seed=5)
    assert [p["step"] for p in answer["problems"]] == [[1, 2, 2]]
    assert {bool(r.get("problem")) for r in answer["results"]} == {True, False}
    choice["inner"][1]["inner"] = [crop]
    crop["settings"]["height"] = "x"
    flip["settings"]["p"] = 3
    answer = await ask("preview", index=1, pipeline=pipeline, step=3)
    assert {tuple(p["step"]) for p in answer["problems"]} == {(2, 1), (2, 2, 1), (3, 1, 1, 1)}
    status, message = await refusal("save", pipeline=pipeline)
    assert (status, "Step 2.1: HorizontalFlip: p wants" in message) == (400, True)

    # saved as Python has them, and opened again as they were
    crop["settings"]["height"], flip["settings"]["p"] = 10, 0.5
    pipeline["steps"] = [{**step, "phase": "always"} for step in pipeline["steps"]]
    flip["settings"] = {}
    await ask("save", pipeline=pipeline)
    assert (await ask("summary"))["pipeline"]["steps"] == pipeline["steps"]
    _, second, third = data.Pipeline.load(jp_root_dir / "shades.pipeline.json").transforms
    assert third == data.transforms.RandomSelectSubpolicy([[(data.transforms.HorizontalFlip(), 0.3)]])
    assert second.transforms[1].transforms[0].height == 10

    # hostile steps
    for step, sentence in (
        (nest(15), None),
        (nest(16), "at most 16 deep"),
        ({"type": "ToFloat", "settings": {}, "inner": [flip]}, "no transforms inside"),
        ({"type": "BoundingBoxAugment", "settings": {}}, "one transform inside of it, received none"),
        ({"type": "Compose", "settings": {}, "inner": 3}, "list of inner steps"),
        ({"type": "Compose", "settings": {}, "inner": [3]}, "a step wants a type"),
        ({"type": "Compose", "settings": {}, "inner": [{"type": "MixUp", "settings": {}}]}, "reads further samples"),
        ({"type": "Lambda", "settings": {}, "object": {"number": 0}}, "only a notebook can have a function"),
        ({"type": {}, "settings": {}}, "name as"),
    ):
        answer = await ask("preview", index=0, pipeline={"steps": [step], "split": {}}, step=1, count=1)
        messages = [p["message"] for p in answer["problems"]]
        assert (not messages) if sentence is None else any(sentence in m for m in messages), (sentence, messages)
    status, message = await refusal("preview", index=0, pipeline={"steps": [nest(60)], "split": {}}, step=1)
    assert (status, "nested" in message) == (400, True)
    many = {"steps": [{"type": "Compose", "settings": {}, "inner": [flip] * 500}], "split": {}}
    status, message = await refusal("preview", index=0, pipeline=many, step=1)
    assert (status, "at most 500 steps" in message) == (400, True)


async def test_save_and_use_in_training(pictures, ask, jp_root_dir, jp_fetch):
    (pictures / "light" / "3.jpg").unlink()
    saved = await ask("save", pipeline=PIPELINE)
    assert saved["path"] == "shades.pipeline.json"
    assert saved["input_shape"] == [None, 3, 16, 16]
    assert saved["target"] == "2 classes"
    assert (await ask("summary"))["pipeline"]["steps"][1] == STEPS[1]
    train, test = data.Pipeline.load(jp_root_dir / "shades.pipeline.json").datasets()
    assert len(train) + len(test) == 7
    assert test[0]["image"].dtype == np.float32
    opened = await ask("summary", path="shades.pipeline.json")
    assert (opened["kind"], len(opened["pipeline"]["steps"])) == ("ImageFolder", 3)


@pytest.fixture
def parts(jp_root_dir):
    """Pictures in three parts: five and three of two classes train, two of one class validate, one tests."""
    for name, count, shade in (
        ("train/dark", 5, 40),
        ("train/light", 3, 200),
        ("val/light", 2, 210),
        ("test/dark", 1, 30),
    ):
        (jp_root_dir / "flowers" / name).mkdir(parents=True)
        for i in range(count):
            image = np.full((16, 20, 3), shade + i, "uint8")
            (jp_root_dir / "flowers" / name / f"{i}.png").write_bytes(encode_image(image, "png"))
    return jp_root_dir / "flowers"


async def test_the_parts_of_a_folder(parts, ask, refusal):
    summary = await ask("summary", path="flowers")
    assert (summary["name"], summary["split"], summary["samples"]) == ("flowers/train", "training", 8)
    assert summary["splits"] == [
        {"name": "training", "samples": 8},
        {"name": "validation", "samples": 2},
        {"name": "test", "samples": 1},
    ]
    assert summary["code"].endswith("dataset = labdl.data.open_splits('flowers')['training']\n")
    other = await ask("summary", path="flowers", split="validation")
    assert (other["name"], other["samples"], other["classes"]) == ("flowers/val", 2, ["dark", "light"])
    answer = await ask("samples", path="flowers", split="validation", start=0, count=9)
    assert [(s["name"], s["label"]) for s in answer["samples"]] == [("light/0.png", "light"), ("light/1.png", "light")]
    assert abs(np.asarray(decode(answer["samples"][0]["parts"][0]["picture"])[1]).mean() - 210) < 3
    for _ in range(200):
        statistics = await ask("statistics", path="flowers", split="validation")
        if statistics["complete"]:
            break
    assert statistics["classes"] == [{"name": "dark", "count": 0}, {"name": "light", "count": 2}]
    preview = await ask("preview", path="flowers", split="test", index=0, pipeline=PIPELINE, step=1, count=1)
    assert preview["results"][0]["label"] == "dark"
    assert (await refusal("preview", path="flowers", split="test", index=1, pipeline=PIPELINE, step=1))[0] == 400
    media = await ask("media", path="flowers", split="test", index=0, entry="image")
    assert PIL.Image.open(io.BytesIO(base64.b64decode(media["data"]))).size == (20, 16)
    status, message = await refusal("summary", path="flowers", split="other")
    assert (status, message) == (400, "flowers has the parts training, validation, test, received 'other'")


async def test_a_data_set_without_parts_has_none(pictures, ask, refusal):
    summary = await ask("summary")
    assert (summary.get("split", ""), summary.get("splits", [])) == ("", [])
    assert await refusal("summary", split="test") == (400, "shades has no parts, received 'test'")


async def test_all_parts_are_used_in_training(parts, ask, jp_root_dir):
    saved = await ask("save", path="flowers", split="validation", pipeline=PIPELINE)
    assert (saved["path"], saved["input_shape"]) == ("flowers.pipeline.json", [None, 3, 16, 16])
    train, validation = data.Pipeline.load(jp_root_dir / saved["path"]).datasets()
    assert (len(train), len(validation)) == (8, 2)
    assert saved["code"].endswith("trainer.evaluate(pipeline.evaluation_dataset())\n")
    opened = await ask("summary", path="flowers.pipeline.json", split="test")
    assert (opened["samples"], len(opened["splits"])) == (1, 3)


async def test_steps_are_fitted_to_the_training_part_of_the_folder(ask, jp_root_dir):
    for part, shift in (("train", 0), ("val", 100)):
        samples = data.SampleDataset([{"x": float(i + shift), "label": i % 2} for i in range(8)])
        data.pack(samples, jp_root_dir / "rows" / part)
    pipeline = {"steps": [{"type": "Standardize", "settings": {"columns": ["x"]}}], "split": {}}
    preview = await ask("preview", path="rows", split="validation", index=0, pipeline=pipeline, step=1, count=1)
    assert "problem" not in preview["results"][0]
    saved = await ask("save", path="rows", pipeline=pipeline)
    train, validation = data.Pipeline.load(jp_root_dir / saved["path"]).datasets()
    assert abs(np.mean([row["x"] for row in train])) < 1e-6
    assert min(row["x"] for row in validation) > 30


async def test_a_part_that_is_a_link_out_of_the_folder_is_refused(parts, refusal, jp_root_dir, tmp_path):
    outside = tmp_path / "elsewhere" / "dark"
    outside.mkdir(parents=True)
    (outside / "secret.png").write_bytes(encode_image(np.zeros((8, 8, 3), "uint8"), "png"))
    for file in (parts / "test" / "dark").iterdir():
        file.unlink()
    (parts / "test" / "dark").rmdir()
    (parts / "test").rmdir()
    (parts / "test").symlink_to(outside.parent)
    status, message = await refusal("summary", path="flowers")
    assert (status, "link out of the folder" in message, str(tmp_path) in message) == (400, True, False)


async def test_media_is_the_whole_picture(pictures, ask, refusal):
    answer = await ask("media", index=0, entry="image")
    assert PIL.Image.open(io.BytesIO(base64.b64decode(answer["data"]))).size == (80, 60)
    assert (await refusal("media", index=7, entry="image"))[0] == 400
    assert (await refusal("media", index=0, entry="sound"))[0] == 400


async def test_sounds(jp_root_dir, ask):
    wave = np.sin(2 * np.pi * 440 * np.arange(8000) / 8000).astype("float32")
    (jp_root_dir / "tones" / "a").mkdir(parents=True)
    (jp_root_dir / "tones" / "a" / "1.wav").write_bytes(encode_audio(data.Audio(wave, sample_rate=8000)))
    (part,) = (await ask("samples", path="tones", start=0, count=1))["samples"][0]["parts"]
    assert part["kind"] == "audio"
    assert part["seconds"] == 1.0
    assert len(part["waveform"]) == 400
    assert max(high for _, high in part["waveform"]) > 0.98
    mel = np.asarray(decode(part["picture"])[1]).astype(int).sum(-1).mean(1)
    assert mel[: len(mel) // 2].max() < mel.max()  # low tones are at the bottom
    answer = await ask("media", path="tones", index=0, entry="audio")
    played = decode_audio(base64.b64decode(answer["data"]))
    np.testing.assert_allclose(played.array[0], wave, atol=1e-3)


AUGMENTED = {
    "steps": [
        {"type": "SpeedPerturbation", "settings": {"factors": [0.5, 0.8, 1.25]}, "phase": "training"},
        {"type": "Gain", "settings": {"gain_db": -6.0}},
    ],
    "split": {},
}


@pytest.fixture
def tones(jp_root_dir):
    wave = 0.5 * np.sin(2 * np.pi * 440 * np.arange(8000) / 8000).astype("float32")
    (jp_root_dir / "tones" / "a").mkdir(parents=True)
    (jp_root_dir / "tones" / "a" / "1.wav").write_bytes(encode_audio(data.Audio(wave, sample_rate=8000)))
    return jp_root_dir / "tones"


async def test_media_of_a_preview_is_the_sound_that_it_shows(tones, ask):
    asked = {"path": "tones", "index": 0, "pipeline": AUGMENTED, "step": 2, "seed": 3, "phase": "training"}
    shown = (await ask("preview", count=8, **asked))["results"]
    steps = [data.transforms.SpeedPerturbation(factors=[0.5, 0.8, 1.25]), data.transforms.Gain(-6.0)]
    train = data.AudioFolder(tones).map(steps, seed=3)
    lengths = set()
    for number in (0, 1, 5, 7):
        variant = {key: asked[key] for key in ("pipeline", "step", "seed", "phase")} | {"number": number}
        answer = await ask("media", path="tones", index=0, entry="audio", variant=variant)
        played = decode_audio(base64.b64decode(answer["data"]))
        expected = train.read(0, number)["audio"]
        np.testing.assert_allclose(played.array, np.asarray(expected), atol=1e-3)
        assert played.seconds == pytest.approx(shown[number]["parts"][0]["seconds"])
        lengths.add(played.array.shape[1])
    assert len(lengths) > 1
    # the steps of the training are left out in the evaluation, and those after the chosen one
    for phase, step, gain in (("evaluation", 2, 10 ** (-6 / 20)), ("evaluation", 1, 1.0), ("training", 0, 1.0)):
        variant = {"pipeline": AUGMENTED, "step": step, "phase": phase, "number": 2}
        answer = await ask("media", path="tones", index=0, entry="audio", variant=variant)
        played = decode_audio(base64.b64decode(answer["data"]))
        np.testing.assert_allclose(np.abs(played.array).max(), 0.5 * gain, atol=2e-3)


async def test_media_of_a_preview_is_checked_as_the_preview(tones, ask, refusal):
    def steps(*steps):
        return {"steps": list(steps), "split": {}}

    async def media(pipeline, **more):
        variant = {"pipeline": pipeline, "step": 1, "number": 0} | more
        return await refusal("media", path="tones", index=0, entry="audio", variant=variant)

    status, message = await media(steps({"type": "os.system", "settings": {"command": "true"}}))
    assert (status, "there is no transform 'os.system'" in message) == (400, True)
    file = steps({"type": "AddNoise", "settings": {"noise": os.path.abspath(__file__)}})
    status, message = await media(file)
    assert (status, "names the file" in message) == (400, True)
    for wrong in ({"number": -1}, {"number": 200}, {"step": -1}, {"phase": "never"}, {"seed": "x"}):
        status, message = await media(AUGMENTED, **wrong)
        assert (status, next(iter(wrong)) in message) == (400, True)
    # a step that fails is the sentence of the preview
    wrong_rate = steps({"type": "RiaaBiquad", "settings": {"sample_rate": 44100}})
    result = (await ask("preview", path="tones", index=0, pipeline=wrong_rate, step=1, count=1))["results"][0]
    assert (await media(wrong_rate)) == (400, result["problem"])
    # what became a picture is no sound
    mel = steps({"type": "MelSpectrogram", "settings": {}})
    answer = await refusal(
        "media", path="tones", index=0, entry="audio", variant={"pipeline": mel, "step": 1, "number": 0}
    )
    assert answer == (400, "audio is spectrogram: a sound, a picture or a clip can be played or shown")


def clip(frames=24, size=(48, 64), fps=12):
    """A clip whose left half is dark and whose right half gets lighter with each frame."""
    pixels = np.zeros((frames, *size, 3), np.uint8)
    pixels[:, :, size[1] // 2 :] = np.linspace(60, 240, frames).astype(np.uint8)[:, None, None, None]
    return data.Video(pixels, fps=fps)


async def test_media_of_a_clip_is_the_flipped_clip(jp_root_dir, ask):
    (jp_root_dir / "clips").mkdir()
    (jp_root_dir / "clips" / "1.mp4").write_bytes(encode_video(clip()))
    flip = {
        "steps": [{"type": "HorizontalFlip", "settings": {"p": 1.0}}, {"type": "ToFloat", "settings": {}}],
        "split": {},
    }
    (entry,) = [e["name"] for e in (await ask("summary", path="clips"))["entries"] if e["kind"] == "video"]
    played = {}
    for step in (0, 1, 2):
        variant = {"pipeline": flip, "step": step, "number": 0}
        answer = await ask("media", path="clips", index=0, entry=entry, variant=variant)
        assert answer["mime"] == "video/webm"
        played[step] = decode_video(base64.b64decode(answer["data"]))
        assert played[step].shape[1:] == (48, 64, 3)
        left, right = (
            np.asarray(played[step], float)[:, :, :24].mean(),
            np.asarray(played[step], float)[:, :, 40:].mean(),
        )
        assert (left > right + 50) == (step > 0)
    original = decode_video(base64.b64decode((await ask("media", path="clips", index=0, entry=entry))["data"]))
    assert np.abs(np.asarray(original, float) - np.asarray(played[0], float)).mean() < 3
    assert (
        np.abs(np.asarray(played[1], float) - np.asarray(played[2], float)).mean() < 6
    )  # in floating-point numbers too


async def test_nothing_outside_of_the_folder_is_read(pictures, ask, refusal, jp_root_dir, tmp_path):
    outside = tmp_path / "outside" / "dark"
    outside.mkdir(parents=True)
    (outside / "secret.jpg").write_bytes(encode_image(np.zeros((8, 8, 3), "uint8"), "jpeg"))
    for path in ("../outside", "/etc", "shades/../../outside", "shades\0", ""):
        status, _ = await refusal("summary", path=path)
        assert status in (400, 404)
    (jp_root_dir / "link").symlink_to(outside.parent)
    assert (await refusal("summary", path="link"))[0] == 404
    (pictures / "linked").symlink_to(outside)
    sample = (await ask("samples", start=0, count=60))["samples"][-1]
    assert (sample["parts"], "link" in sample["problem"]) == ([], True)
    assert str(tmp_path) not in sample["problem"]
    (jp_root_dir / ".hidden").mkdir()
    assert (await refusal("summary", path=".hidden"))[0] == 404
    for dataset in ("../outside", "/etc", ".hidden"):
        content = {"version": 2, "transforms": [], "phases": [], "dataset": dataset}
        (jp_root_dir / "x.pipeline.json").write_text(json.dumps(content))
        assert (await refusal("summary", path="x.pipeline.json"))[0] in (400, 404)


async def test_a_folder_without_data_says_what_is_supported(jp_root_dir, refusal):
    (jp_root_dir / "code").mkdir()
    (jp_root_dir / "code" / "a.py").write_text("raise SystemExit")
    status, message = await refusal("summary", path="code")
    assert status == 400
    assert "COCO" in message


async def test_changed_folders_are_opened_again(pictures, ask):
    assert (await ask("summary"))["samples"] == 8
    (pictures / "dark" / "0.jpg").unlink()
    assert (await ask("summary"))["samples"] == 7


async def test_transforms(jp_fetch):
    answer = json.loads((await jp_fetch("labdl", "dataset", "transforms")).body)["transforms"]
    listed = {t["name"]: t for t in answer}
    assert len(listed) > 180
    assert "Lambda" not in listed
    assert listed["HorizontalFlip"]["random"]
    assert not listed["Resize"]["random"]
    assert {"image", "boxes", "mask", "keypoints"} <= set(listed["Resize"]["kinds"])
    inner = {name: one["inner"] for name, one in listed.items() if one["inner"] != "none"}
    assert inner["BoundingBoxAugment"] == "one"
    assert {inner[name] for name in ("Compose", "RandomApply", "RandomChoice", "RandomSelectSubpolicy")} == {"many"}
    assert listed["MixUp"]["mixes"]
    assert not listed["Compose"]["mixes"]
    for one in answer:
        assert set(one["schema"]["required"]) <= set(one["initial"])
        assert one["summary"]
        assert not any("Source:" in one[text] or "`" in one[text] for text in ("summary", "description", "source"))
    mdct = listed["InverseMDCT"]
    assert mdct["summary"].endswith("(channels, frame_length / 2, frames).")
    assert mdct["description"].startswith("The first and last half")
    assert mdct["source"] == "tf.signal.inverse_mdct"


async def test_steps_that_learn_from_data_are_fitted_to_the_training_part(ask, jp_root_dir):
    rows = "\n".join(f"{i},{i % 2}" for i in range(40))
    (jp_root_dir / "t.csv").write_text(f"age,label\n{rows}\n")
    pipeline = {
        "steps": [{"type": "Standardize", "settings": {"columns": ["age"]}}],
        "split": {"fraction": 0.5, "seed": 3},
    }
    preview = await ask("preview", path="t.csv", index=0, pipeline=pipeline, step=1, count=1)
    assert "problem" not in preview["results"][0]
    saved = await ask("save", path="t.csv", pipeline=pipeline)
    loaded = data.Pipeline.load(jp_root_dir / saved["path"])
    train, test = loaded.datasets()
    ages = np.array([row["age"] for row in train], float)
    assert abs(ages.mean()) < 1e-6
    assert abs(ages.std() - 1) < 1e-6
    assert abs(np.array([row["age"] for row in test], float).mean()) > 1e-6
    shown = (await ask("summary", path="t.csv"))["pipeline"]["steps"]
    assert shown == [{"type": "Standardize", "settings": {"columns": ["age"]}, "phase": "always"}]
    # what was fitted in Python remains when the page saves the same settings
    other = data.Pipeline(loaded.transforms, dataset="t.csv", split=loaded.split)
    other.fit([{"age": 0.0}, {"age": 2.0}], refit=True).save(jp_root_dir / saved["path"])
    await ask("save", path="t.csv", pipeline=pipeline)
    assert data.Pipeline.load(jp_root_dir / saved["path"]).transforms[0]({"age": 2.0})["age"] == 1.0
