"""The recording of a run: everything in its order, whoever reads it and whenever it is written."""

import json
import math

from hypothesis import given, settings
from hypothesis import strategies as st

from labdl.train.recorder import Recorder

happenings = st.lists(st.sampled_from(["step", "later", "event", "flush"]), max_size=30)
losses = st.lists(st.one_of(st.floats(allow_nan=True, allow_infinity=True), st.floats(-1, 1)), min_size=30, max_size=30)


def unrolled(events) -> list[tuple]:
    """A row for each step and for each other event, in order."""
    rows = []
    for event in events:
        if event["kind"] == "steps":
            rows += [("step", step, loss) for step, loss in zip(event["step"], event["loss"], strict=True)]
        else:
            rows.append((event["kind"], event["number"]))
    return rows


@settings(max_examples=25, deadline=None)
@given(happenings, losses)
def test_the_file_and_a_listener_have_everything_in_order(tmp_path_factory, happenings, losses):
    folder, heard, expected = tmp_path_factory.mktemp("run"), [], []
    recorder = Recorder(folder)
    recorder.subscribe(heard.extend)
    for number, (what, loss) in enumerate(zip(happenings, losses, strict=False)):
        if what == "step":
            recorder.step(number, {"loss": loss})
            expected.append(("step", number, loss if math.isfinite(loss) else None))
        elif what == "flush":
            recorder._write()
        else:
            {"later": recorder.later, "event": recorder.event}[what]("epoch", number=number)
            expected.append(("epoch", number))
        if what in ("event", "flush"):
            assert unrolled(heard) == expected, "what happens now is told now, with all before it"
    recorder.close()
    written = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    assert unrolled(written) == unrolled(heard) == expected
    assert [event["time"] for event in written] == sorted(event["time"] for event in written)
