"""Results of inference on a text, marked in it: the output of a cell."""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from labdl.errors import DataError
from labdl.generation import Generation
from labdl.infer import AnswerSpans, Classes, TokenClasses, Tokens
from labdl.lab.legend import MOST, Color, Row, describe_legend, render_legend

_MASKS = ("[MASK]", "<mask>")
_NONE = "O"  # of a token outside of any entity


@dataclass(frozen=True)
class Span:
    """A part of a text; with a color it is marked, with a ``label`` behind it and a ``hint`` for the pointer."""

    text: str
    label: str = ""
    color: Color | None = None
    share: float = 1.0
    hint: str = ""


@dataclass(frozen=True, eq=False)
class TextView:
    """A text with marked parts, and a legend; a notebook shows both."""

    spans: tuple[Span, ...]
    legend: tuple[Row, ...]

    @property
    def text(self) -> str:
        return "".join(span.text for span in self.spans)

    def _repr_html_(self) -> str:
        text = "".join(map(_render_span, self.spans))
        return (
            '<figure style="margin: 0; display: flex; flex-wrap: wrap; gap: 1em; align-items: flex-start">'
            f'<p style="margin: 0; max-width: 60em; line-height: 1.8; white-space: pre-wrap">{text}</p>'
            f"{render_legend(self.legend)}</figure>"
        )

    def __repr__(self) -> str:
        marked = "".join(f"[{span.text}]({span.label})" if span.label else span.text for span in self.spans)
        return "\n".join([marked, *describe_legend(self.legend)])


def _render_span(span: Span) -> str:
    text = html.escape(span.text)
    if span.color is None:
        return text
    red, green, blue = span.color
    share = 0.15 + 0.45 * min(max(span.share, 0.0), 1.0)  # the text stays readable in both themes
    label = f' <small style="opacity: 0.75">{html.escape(span.label)}</small>' if span.label else ""
    return (
        f'<mark title="{html.escape(span.hint, quote=True)}" style="background: rgb({red} {green} {blue} / {share:.2f}); '
        f'color: inherit; border-radius: 3px; padding: 0 2px">{text}{label}</mark>'
    )


def _tags(text: Any, result: TokenClasses) -> tuple[tuple[Span, ...], tuple[Row, ...]]:
    """Entities where classes have names, else the class of each token."""
    if result.text is None or result.offsets is None:
        raise DataError("the classes have no places in the text: they are not of Inference.of")
    _check(text, result.text)
    parts = [(each.start, each.end, each.tag, each.score) for each in result.entities]
    if result.names is None:
        rows = zip(result.offsets.tolist(), result.labels.tolist(), result.probabilities.tolist(), strict=True)
        parts = [(start, end, f"class {label}", share) for (start, end), label, share in rows]
    colors = _colors(dict.fromkeys(tag for _, _, tag, _ in parts))
    spans = _cut(result.text, [(a, b, Span("", tag, colors[tag], share, f"{share:.1%}")) for a, b, tag, share in parts])
    legend = [Row(f"{tag}: {result.text[a:b]}", f"{share:.1%}", colors[tag]) for a, b, tag, share in parts]
    return spans, tuple(legend)[:MOST]


def _fill_masks(text: Any, result: Tokens) -> tuple[tuple[Span, ...], tuple[Row, ...]]:
    """The most probable word in the place of each mask."""
    text = _check(text)
    mask = next((mask for mask in _MASKS if mask in text), None)
    parts = [text] if mask is None else text.split(mask)
    if result.texts is None or len(parts) != len(result.tokens) + 1:
        raise DataError(
            f"the text has {len(parts) - 1} masks, the result has {len(result.tokens)}: give the text of the inference"
        )
    colors = _colors(range(len(result.tokens)))
    spans, legend = [Span(parts[0])], []
    for at, (part, words, shares) in enumerate(zip(parts[1:], result.texts, result.probabilities, strict=True)):
        spans += [Span(words[0].strip(), "", colors[at], float(shares[0]), f"{shares[0]:.1%}"), Span(part)]
        legend += [Row(word.strip(), f"{share:.1%}", colors[at]) for word, share in zip(words, shares, strict=True)]
    return tuple(spans), tuple(legend)[:MOST]


def _answer(sample: Any, result: AnswerSpans) -> tuple[tuple[Span, ...], tuple[Row, ...]]:
    """The answers in the text, the best one marked."""
    if isinstance(sample, Mapping):
        sample = sample.get("question"), sample.get("context")
    if not isinstance(sample, list | tuple) or len(sample) != 2:
        raise DataError("an answer is shown in a pair (question, text): give the sample of the inference")
    question, text = _check(sample[0]), _check(sample[1])
    texts, color = result.texts or (), _colors(range(1))[0]
    start, end = (0, 0) if result.characters is None or not texts else result.characters[0].tolist()
    if text[start:end] != "".join(texts[:1]):
        raise DataError("the answer is not in this text: give the sample of the inference")
    marks = [(start, end, Span("", "", color, 1.0, f"{result.scores[0]:.1%}"))] if end > start else []
    legend = [
        Row(answer or "no answer", f"{score:.1%}", color if at == 0 else None)
        for at, (answer, score) in enumerate(zip(texts, result.scores, strict=False))
    ]
    return (Span(f"{question}\n"), *_cut(text, marks)), tuple(legend)[:MOST]


def _classes(sample: Any, result: Classes) -> tuple[tuple[Span, ...], tuple[Row, ...]]:
    texts = [sample] if isinstance(sample, str) else list(sample)
    names = result.names or tuple(f"class {label}" for label in result.labels)
    rows = [Row(name, f"{share:.1%}") for name, share in zip(names, result.probabilities, strict=True)]
    return (Span("\n".join(map(_check, texts))),), tuple(rows)[:MOST]


def _continue_prompt(prompt: Any, result: Generation) -> tuple[tuple[Span, ...], tuple[Row, ...]]:
    """The prompt and the text that the model wrote, marked."""
    color = _colors(range(1))[0]
    rows = () if result.score is None else (Row("score", f"{result.score:.3f}"),)
    text = str(result)
    gap = "" if not text[:1].isalnum() or _check(prompt)[-1:].isspace() else " "
    return (Span(f"{prompt}{gap}"), Span(text, "", color, 0.5)), rows


VIEWS: dict[type, Callable[[Any, Any], tuple[tuple[Span, ...], tuple[Row, ...]]]] = {
    TokenClasses: _tags,
    Tokens: _fill_masks,
    AnswerSpans: _answer,
    Classes: _classes,
    Generation: _continue_prompt,
}


def view_text(sample: Any, result: Any) -> TextView:
    """The view of a result of inference on a text, or on several."""
    return TextView(*VIEWS[type(result)](sample, result))


def _check(text: Any, wanted: str | None = None) -> str:
    if not isinstance(text, str) or wanted not in (None, text):
        raise DataError(f"the result is not that of this text: give the sample of the inference, received {text!r:.80}")
    return text


def _colors(names: Any) -> dict[Any, Color]:
    from labdl.data.vision.drawing import choose_colors

    names = list(names)
    return dict(zip(names, choose_colors(None, len(names)), strict=True))


def _cut(text: str, marks: Sequence[tuple[int, int, Span]]) -> tuple[Span, ...]:
    """The text in parts, those from a first to behind a last character as the given spans."""
    spans, at = [], 0
    for start, end, span in marks:
        if start > at:
            spans.append(Span(text[at:start]))
        spans.append(dataclasses.replace(span, text=text[max(start, at) : end]))
        at = max(end, at)
    return (*spans, Span(text[at:])) if at < len(text) else tuple(spans)
