"""A page that shows a run for hours needs no more memory for it: the same dashboard, fed as fast as it goes."""

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import CHROMIUM_ARGUMENTS, chromium_path

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))
from dashboard import HEAP, LABEXTENSION, PAGE, TWO_FRAMES, shown

pytestmark = pytest.mark.sample(False)


@pytest.fixture
def measured(chromium):
    """A browser that collects garbage when it is asked to, and tells what is left."""
    arguments = [*CHROMIUM_ARGUMENTS, "--js-flags=--expose-gc", "--enable-precise-memory-info"]
    browser = chromium.browser_type.launch(executable_path=chromium_path(), args=arguments)
    yield browser
    browser.close()


def test_the_memory_of_a_page_does_not_grow_with_the_run(measured, tmp_path):
    subprocess.run(["node", "dev/bench.mjs", str(tmp_path)], cwd=LABEXTENSION, check=True, capture_output=True)
    (tmp_path / "bench.html").write_text(PAGE)
    page = shown(measured, tmp_path, 1, 4)

    def after(minutes: int) -> float:
        """MiB, when the run has gone on for so many minutes more with 500 steps a second."""
        for _ in range(minutes * 3 // 5):
            page.evaluate("() => labdlBench.feed(500, 0.2, 100)")
            page.evaluate(TWO_FRAMES)
        return page.evaluate(HEAP)

    first, second, third = after(30), after(30), after(60)
    assert max(second, third) < first + 4, "an hour has 1.8 million steps: 60 MiB of losses and accuracies"
    page.close()
