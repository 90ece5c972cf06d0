"""The pictures of runs in docs/images, taken anew from a JupyterLab and a Chromium of their own; every run in them is real.

    python scripts/run_pictures.py

Chromium is the one on the path or in LABDL_CHROMIUM.
"""

import json
import tempfile
from contextlib import chdir, contextmanager
from pathlib import Path

from pictures import CHROMIUM_ARGUMENTS, IMAGES, chromium_path, command, jupyterlab, take
from playwright.sync_api import expect, sync_playwright

import labdl
from labdl import nn, ops, runs, train


class Digits(nn.Module):
    def __init__(self, width: int = 16, dropout: float = 0.2):
        self.stem, self.conv = nn.Conv2d(width, 3, padding="same"), nn.Conv2d(2 * width, 3, padding="same")
        self.pool, self.flatten, self.dropout, self.head = (
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Dropout(dropout),
            nn.Linear(10),
        )

    def forward(self, x):
        x = self.pool(ops.relu(self.conv(ops.relu(self.stem(x)))))
        return self.head(self.dropout(self.flatten(x)))


def digits_run(folder: str, epochs: int, rate: float = 2e-3, **settings) -> train.Run:
    train_set, test_set = labdl.data.digits()
    trainer = labdl.Trainer(Digits(), optimizer=train.Adam(rate), metrics=["accuracy"], seed=0, **settings)
    return trainer.start(train_set, validation=test_set, epochs=epochs, batch_size=32, folder=folder)


def sweep() -> None:
    train_set, test_set = labdl.data.digits()

    def build(width, dropout, learning_rate, optimizer):
        return labdl.Trainer(
            Digits(width, dropout),
            metrics=["accuracy"],
            seed=0,
            optimizer={"name": optimizer, "learning_rate": learning_rate},
        )

    space = {
        "width": [4, 8, 16],
        "dropout": train.Uniform(0, 0.5),
        "learning_rate": train.LogUniform(1e-4, 3e-2),
        "optimizer": ["adam", "sgd", "rmsprop"],
    }
    train.sweep(
        build,
        space,
        train_set,
        validation=test_set,
        epochs=4,
        trials=18,
        seed=3,
        folder="runs/sweep",
        metric="val_accuracy",
        mode="max",
        batch_size=64,
    ).wait()


def race() -> None:
    train_set, test_set = labdl.data.digits()
    model = nn.Sequential(nn.Flatten(), nn.Linear(64), nn.ReLU(), nn.Linear(10)).build((None, 1, 8, 8), seed=0)
    train.race(
        model,
        train_set,
        validation=test_set,
        epochs=30,
        batch_size=64,
        optimizer=train.SGD(0.1),
        metrics=["accuracy"],
        folder="runs/race",
    ).wait()


@contextmanager
def opened(browser, lab, theme: str, size: tuple[int, int]):
    settings = lab.folder.parent / "config" / "lab" / "user-settings" / "@jupyterlab" / "apputils-extension"
    (settings / "themes.jupyterlab-settings").write_text(json.dumps({"theme": f"JupyterLab {theme}"}))
    page = browser.new_page(viewport={"width": size[0], "height": size[1]})
    page.set_default_timeout(60_000)
    page.goto(f"{lab.url}&reset")
    page.locator(".jp-LauncherCard").first.wait_for()
    page.keyboard.press("Control+b")  # the file browser says nothing here
    yield page
    page.close()


def open_run(page, path: str) -> None:
    command(page, "Open Training Run")
    page.locator(".jp-Dialog input").fill(path)
    page.locator(".jp-Dialog .jp-mod-accept").click()
    page.locator(".labdl-dashboard canvas").first.wait_for()


def open_runs(page, path: str) -> None:
    page.evaluate("path => window.jupyterapp?.commands.execute('labdl:runs', { path })", path)
    page.locator(".labdl-runs").wait_for()
    page.wait_for_timeout(2500)


def main() -> None:
    labdl.use("torch")
    with (
        tempfile.TemporaryDirectory() as home,
        jupyterlab(Path(home), exposed=True) as lab,
        sync_playwright() as playwright,
        chdir(lab.folder),
    ):
        first = digits_run("runs/cosine", 30, schedule="cosine_decay")
        first.wait()
        sweep()
        race()
        print(runs.list("runs"))
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_ARGUMENTS)
        with opened(browser, lab, "Light", (1280, 760)) as page:
            live = digits_run("runs/live", 120, rate=2e-4)
            open_run(page, "runs/live")
            page.wait_for_timeout(4000)
            live.learning_rate = 5e-5
            page.wait_for_timeout(2500)
            page.screenshot(path=IMAGES / "dashboard.png")  # at once, while it is running
            print("dashboard")
            live.stop()
        for tab in ("Layers", "Predictions", "Confusion"):
            with opened(browser, lab, "Dark", (1280, 760)) as page:
                open_run(page, "runs/cosine")
                page.get_by_role("tab", name=tab).click()
                take(page, f"tab-{tab.lower()}")
        with opened(browser, lab, "Light", (1500, 900)) as page:
            open_runs(page, "runs/sweep")
            take(page, "runs")
        with opened(browser, lab, "Light", (1500, 900)) as page:
            open_runs(page, "runs/race")
            expect(page.locator(".labdl-runs")).to_have_attribute("data-group", "race")
            take(page, "race")
        browser.close()


if __name__ == "__main__":
    main()
