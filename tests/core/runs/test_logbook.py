"""Log capture of a run: its own messages, with limits, without affecting other handlers."""

import io
import logging
import threading
import warnings

import pytest

from labdl.train.run import log_capture
from labdl.train.run.log_capture import capture_logs

OWN, OTHER = logging.getLogger("labdl.train.run.run"), logging.getLogger("somebody.else")


@pytest.fixture
def told(monkeypatch):
    monkeypatch.setattr(logging.getLogger("labdl"), "handlers", [])
    return []


def telling(told):
    return capture_logs(lambda **message: told.append(tuple(message.values())))


@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_warnings_of_the_thread_and_what_labdl_says(told):
    with telling(told):
        OTHER.warning("slow: %d", 3)
        OTHER.info("nothing")
        OWN.info("compiled")
        OWN.debug("nothing")
        warnings.warn("rounded", RuntimeWarning, stacklevel=1)
        try:
            raise ValueError("no screen")
        except ValueError:
            OTHER.exception("a callback failed")
    OTHER.warning("later")
    assert told == [
        ("WARNING", "somebody.else", "slow: 3"),
        ("INFO", "labdl.train.run.run", "compiled"),
        ("WARNING", "RuntimeWarning", "rounded"),
        ("ERROR", "somebody.else", "a callback failed"),
    ]


def test_log_capture_restores_handlers(told):
    shown, root, own = io.StringIO(), logging.getLogger(), logging.getLogger("labdl")
    handler = logging.StreamHandler(shown)
    root.addHandler(handler)
    before = root.handlers[:], own.handlers[:], own.level, own.propagate, warnings.showwarning
    try:
        with telling(told):
            assert len(root.handlers) == len(before[0]) + 1
            OWN.info("for the run alone")
            OWN.warning("for all")
            OTHER.warning("too")
        assert (root.handlers, own.handlers, own.level, own.propagate, warnings.showwarning) == before
        assert shown.getvalue() == "for all\ntoo\n"
        assert [m for _, _, m in told] == ["for the run alone", "for all", "too"]
    finally:
        root.removeHandler(handler)


def test_warnings_are_shown_without_a_configured_log(told, monkeypatch):
    shown, root = io.StringIO(), logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])
    monkeypatch.setattr(logging, "lastResort", logging.StreamHandler(shown))
    logging.lastResort.setLevel(logging.WARNING)
    own = logging.StreamHandler(io.StringIO())
    monkeypatch.setattr(logging.getLogger("somebody.heard"), "handlers", [own])
    with telling(told):
        OWN.info("for the run alone")
        OWN.warning("of labdl")
        OTHER.warning("of others")
        logging.getLogger("somebody.heard").warning("where it goes anyway")
    assert shown.getvalue() == "of labdl\nof others\n"
    assert own.stream.getvalue() == "where it goes anyway\n"
    assert len(told) == 4


def test_configured_level_is_kept(told, monkeypatch, caplog):
    monkeypatch.setattr(OWN, "level", logging.DEBUG)
    logging.Logger.manager._clear_cache()
    with telling(told):
        OWN.debug("in detail")
    assert [r.getMessage() for r in caplog.records] == ["in detail"], "as without the recording"
    assert told == []
    monkeypatch.undo()
    logging.Logger.manager._clear_cache()


def test_other_handlers_get_no_additional_messages(told):
    shown = io.StringIO()
    handler = logging.StreamHandler(shown)
    logging.getLogger("labdl").addHandler(handler)
    with telling(told):
        OWN.info("nothing")
        OWN.warning("for all")
    assert shown.getvalue() == "for all\n"
    assert told == [("WARNING", "labdl.train.run.run", "for all")]


def test_concurrent_runs_capture_their_own_messages(told):
    heard = {"a": [], "b": []}
    ready, go = threading.Barrier(3), threading.Barrier(3)

    def train(name):
        with capture_logs(lambda **message: heard[name].append(message["message"])):
            ready.wait(10)
            OTHER.warning("of %s", name)
            OWN.warning("labdl in %s", name)
            go.wait(10)

    threads = [threading.Thread(target=train, args=(name,)) for name in heard]
    for thread in threads:
        thread.start()
    ready.wait(10)
    OTHER.warning("of the kernel")
    OWN.warning("of a server")
    go.wait(10)
    for thread in threads:
        thread.join(10)
    for name in heard:
        assert sorted(heard[name]) == sorted([f"of {name}", f"labdl in {name}", "of a server"])


def test_messages_are_limited_in_rate_and_length(told, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(log_capture.time, "monotonic", lambda: now[0])
    with telling(told):
        for n in range(50):
            OTHER.warning("message %d", n)
        now[0] += 1
        OTHER.warning("x" * 5000)
        now[0] += 1
        for n in range(21):
            OTHER.warning("again %d", n)
    messages = [m for _, _, m in told]
    assert messages[:20] == [f"message {n}" for n in range(20)]
    assert messages[20] == "30 more messages were omitted here, see the log"
    assert messages[21] == "x" * 1999 + "…"
    assert messages[-1] == "one more message was omitted here, see the log"


def test_listener_may_log(told):
    def tell(**message):
        told.append(message["message"])
        OTHER.warning("heard %s", message["message"])

    with capture_logs(tell):
        OTHER.warning("once")
    assert told == ["once"]


def test_a_message_that_does_not_fit_its_arguments(told, monkeypatch):
    monkeypatch.setattr(logging, "raiseExceptions", False)
    with telling(told):
        OTHER.warning("%d of %d", "three")
    assert told == [("WARNING", "somebody.else", "%d of %d")]


def test_warnings_caught_elsewhere_are_not_captured(told):
    with telling(told), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn("not for the run", UserWarning, stacklevel=1)
    assert [str(w.message) for w in caught] == ["not for the run"]
    assert told == []


def test_log_capture_ends_after_an_error(told):
    before = logging.getLogger().handlers[:]
    with pytest.raises(KeyError), telling(told):
        raise KeyError("x")
    assert logging.getLogger().handlers == before
