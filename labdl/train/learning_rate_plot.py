"""The plot of a learning-rate finder as SVG, in the colors of the page."""

from __future__ import annotations

import math

import numpy as np

from labdl.runs.snapshot.svg_chart import axis_label, round_numbers

_WIDTH, _HEIGHT = 560, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 16, 28, 44
_TICKS = 8  # at most, on the axis of rates


def render_plot(rates: np.ndarray, losses: np.ndarray, suggestion: float | None) -> str:
    """The loss over the logarithm of the rate, with a mark at a suggestion."""
    inner_width, inner_height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
    first, last = math.log10(rates[0]), math.log10(max(rates[-1], rates[0] * 1.001))
    low, high = float(losses.min()), float(losses.max())
    room = (high - low) / 20 or abs(low) / 20 or 0.5
    low, high = low - room, high + room

    def x(rate: float) -> float:
        return _LEFT + (math.log10(rate) - first) / (last - first) * inner_width

    def y(loss: float) -> float:
        return _TOP + (high - loss) / (high - low) * inner_height

    line = "".join(
        f"{'L' if at else 'M'}{x(r):.1f} {y(v):.1f}" for at, (r, v) in enumerate(zip(rates, losses, strict=True))
    )
    bottom = _TOP + inner_height
    described = "Loss over the learning rate"
    described += "" if suggestion is None else f"; it falls fastest at {suggestion:.3g}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" '
        f'role="img" style="max-width:100%;height:auto" font-family="system-ui,sans-serif" font-size="11" '
        f'fill="currentColor"><title>{described}</title>'
    ]
    for loss in round_numbers(low, high, 5):
        parts.append(
            f'<path d="M{_LEFT} {y(loss):.1f}h{inner_width}" stroke="currentColor" stroke-opacity=".15"/>'
            f'<text x="{_LEFT - 6}" y="{y(loss) + 3.5:.1f}" text-anchor="end" fill-opacity=".75">{axis_label(loss)}</text>'
        )
    powers = range(math.ceil(first), math.floor(last) + 1)
    for power in powers[:: max(1, math.ceil(len(powers) / _TICKS))]:
        place = x(10.0**power)
        parts.append(
            f'<path d="M{place:.1f} {_TOP}v{inner_height}" stroke="currentColor" stroke-opacity=".15"/>'
            f'<text x="{place:.1f}" y="{bottom + 15}" text-anchor="middle" fill-opacity=".75">1e{power}</text>'
        )
    parts += [
        f'<text x="{_LEFT}" y="14" font-weight="600">loss</text>',
        f'<text x="{_WIDTH - _RIGHT}" y="{_HEIGHT - 8}" text-anchor="end">learning rate</text>',
        f'<path d="{line}" fill="none" stroke="#0072b2" stroke-width="2" stroke-linejoin="round"/>',
    ]
    if suggestion is not None:
        loss = float(np.interp(math.log10(suggestion), np.log10(rates), losses))
        at, right = x(suggestion), x(suggestion) > _WIDTH / 2
        parts.append(
            f'<circle cx="{at:.1f}" cy="{y(loss):.1f}" r="5" fill="#d55e00"/>'
            f'<text x="{at + (-9 if right else 9):.1f}" y="{y(loss) - 8:.1f}" text-anchor="{"end" if right else "start"}">'
            f"suggestion {suggestion:.2g}</text>"
        )
    return "".join([*parts, "</svg>"])
