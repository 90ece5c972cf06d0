"""Sounds and clips of a data set are played: samples, and what transforms make of them; in a panel and in a cell."""

import base64
import re

import numpy as np
import pytest
from places import LARGE, SMALL, in_both_places, run_in_notebook
from playwright.sync_api import expect
from test_accessible import AXE, use_theme
from test_data_panel import add, violations

from labdl import data
from labdl.data import transforms as T
from labdl.data.codecs.audio import decode_audio, encode_audio
from labdl.data.codecs.video import encode_video

pytestmark = pytest.mark.sample(False)

RATE, SECONDS = 8000, 6


def write_tones(folder):
    """Six tones of six seconds in two classes."""
    time = np.arange(RATE * SECONDS) / RATE
    for i in range(6):
        file = folder / ("low", "high")[i % 2] / f"{i}.wav"
        file.parent.mkdir(parents=True, exist_ok=True)
        wave = (0.4 * np.sin(2 * np.pi * (150 + 400 * (i % 2) + 20 * i) * time)).astype("float32")
        wave *= np.linspace(0.2, 1, len(wave), dtype="float32")
        file.write_bytes(encode_audio(data.Audio(wave, sample_rate=RATE)))


def write_clips(folder):
    """Three clips of two seconds, whose right half is bright."""
    folder.mkdir()
    for i in range(3):
        pixels = np.full((24, 96, 128, 3), 30, np.uint8)
        pixels[:, :, 64:] = 200
        for at in range(24):
            pixels[at, 10:30, 4 + at * 2 : 24 + at * 2] = (220, 60 * i, 40)
        (folder / f"{i}.mp4").write_bytes(encode_video(data.Video(pixels, fps=12)))


def open_data(page, lab, place, name):
    """The view of a folder."""
    if place == "cell":
        run_in_notebook(page, lab, f'import labdl\nlabdl.lab.Data(labdl.data.open_dataset("{name}"))')
        view = page.locator(".jp-OutputArea-output .labdl-data")
    else:
        page.get_by_role("button", name="Refresh the file browser").first.click()
        page.locator(".jp-DirListing-item", has_text=name).click(button="right")
        page.locator(".lm-Menu-itemLabel", has_text="Open as Data Set").click()
        view = page.locator(".labdl-DataPanel:visible .labdl-data")
    expect(view.locator("[data-tile] :is(img, path)").first).to_be_visible(timeout=60_000)
    return view


def preview(view):
    """Wait for the preview of the steps as they are."""
    expect(view.locator('.labdl-data-results[data-stale="false"] [data-result]')).to_have_count(8)


def played_sound(tile):
    """The sound of an element that plays, as the page has it."""
    text = tile.locator("audio").evaluate(
        """async audio => {
            const bytes = new Uint8Array(await (await fetch(audio.src)).arrayBuffer());
            return btoa(Array.from(bytes, byte => String.fromCharCode(byte)).join(''));
        }"""
    )
    return decode_audio(base64.b64decode(text))


@in_both_places
def test_augmented_sounds_are_played(page, lab, place):
    page.set_viewport_size(LARGE)
    write_tones(lab.folder / "tones")
    view = open_data(page, lab, place, "tones")
    view.get_by_role("tab", name="Transforms").click()
    add(view, "SpeedPerturbation", "SpeedPerturbation")
    preview(view)
    factors = view.get_by_label("Factors", exact=True)
    factors.fill("0.5, 0.8, 1.25, 2")
    expect(factors).not_to_have_attribute("aria-invalid", "true")
    preview(view)
    train = data.AudioFolder(lab.folder / "tones").map([T.SpeedPerturbation((0.5, 0.8, 1.25, 2.0))], seed=0)

    # by the keyboard: from the original to the first result, which plays
    original = view.get_by_role("button", name=re.compile("^Play: The sample high"))
    original.focus()
    page.keyboard.press("Tab")
    first = view.get_by_role("button", name="Play: Result 1")
    expect(first).to_be_focused()
    page.keyboard.press("Enter")
    pause = view.get_by_role("button", name="Pause: Result 1")
    expect(pause).to_be_focused()
    tile = view.locator('[data-result="0"]')
    expected = np.asarray(train.read(0, 0)["audio"])
    heard = played_sound(tile)
    assert heard.shape == expected.shape
    np.testing.assert_allclose(heard.array, expected, atol=1e-3)
    expect(tile.locator(".labdl-data-waveform line")).to_be_attached()  # how far it is
    assert tile.locator("audio").evaluate("audio => !audio.paused && audio.currentTime >= 0")

    # another one alone
    view.get_by_role("button", name="Play: Result 3").click()
    expect(view.get_by_role("button", name="Pause: Result 3")).to_be_visible()
    expect(first).to_be_visible()
    assert view.locator("audio").evaluate_all("all => all.filter(audio => !audio.paused).length") == 1
    assert played_sound(view.locator('[data-result="2"]')).shape == np.asarray(train.read(0, 2)["audio"]).shape
    page.add_script_tag(path=AXE)
    assert violations(page) == []

    # other random numbers: what played ends, and the new one is played
    view.get_by_role("button", name="Again", exact=True).click()
    expect(view.get_by_role("button", name=re.compile("^Pause"))).to_have_count(0)
    preview(view)
    first.click()
    expect(pause).to_be_visible()
    again = data.AudioFolder(lab.folder / "tones").map([T.SpeedPerturbation((0.5, 0.8, 1.25, 2.0))], seed=1)
    np.testing.assert_allclose(played_sound(tile).array, np.asarray(again.read(0, 0)["audio"]), atol=1e-3)

    # a file that is gone is a sentence in the tile
    for file in (lab.folder / "tones").glob("*/*.wav"):
        file.write_bytes(b"RIFF, no sound")
    view.get_by_role("button", name="Play: Result 2").click()
    problem = view.locator('[data-result="1"]').get_by_role("alert")
    expect(problem).to_contain_text(".wav")
    expect(view.get_by_role("button", name="Play: Result 2")).to_be_enabled()
    assert violations(page) == []

    # out of view nothing plays
    view.get_by_role("tab", name="Samples").click()
    expect(view.locator("audio")).to_have_count(0)


@in_both_places
def test_augmented_clips_run(page, lab, place):
    use_theme(page, "JupyterLab Dark")
    try:
        page.set_viewport_size(LARGE)
        write_clips(lab.folder / "clips")
        view = open_data(page, lab, place, "clips")
        view.get_by_role("tab", name="Transforms").click()
        add(view, "horizontalflip", "HorizontalFlip")
        view.get_by_label("Probability", exact=True).fill("1")
        preview(view)
        play = view.get_by_role("button", name="Play: Result 4")
        play.focus()
        page.keyboard.press("Space")
        expect(view.get_by_role("button", name="Pause: Result 4")).to_be_focused()
        video = view.locator('[data-result="3"] video')
        expect(video).to_be_visible()
        page.wait_for_function("video => video.currentTime > 0.1", arg=video.element_handle())
        left, right, width = video.evaluate(
            """video => {
                const canvas = document.createElement('canvas');
                canvas.width = video.videoWidth;
                canvas.height = video.videoHeight;
                const context = canvas.getContext('2d');
                context.drawImage(video, 0, 0);
                const level = x => context.getImageData(x, canvas.height - 10, 1, 1).data[0];
                return [level(10), level(canvas.width - 10), canvas.width];
            }"""
        )
        assert (left > 150, right < 80, width) == (True, True, 128)
        page.add_script_tag(path=AXE)
        assert violations(page) == []
        page.set_viewport_size(SMALL)
        expect(video).to_be_attached()
        view.get_by_role("button", name="Pause: Result 4").scroll_into_view_if_needed()
        assert view.evaluate("view => view.scrollWidth - view.clientWidth") == 0
        page.set_viewport_size(LARGE)

        # the sample itself, in the large view
        view.get_by_role("tab", name="Samples").click()
        expect(view.locator("video")).to_have_count(0)
        view.locator('[data-tile="0"]').click()
        dialog = view.get_by_role("dialog")
        dialog.get_by_role("button", name=re.compile("^Play: clip|^Play: video")).click()
        expect(dialog.locator("video")).to_be_visible()
        assert violations(page) == []
        page.keyboard.press("Escape")
    finally:
        page.set_viewport_size(LARGE)
        use_theme(page, "JupyterLab Light")
