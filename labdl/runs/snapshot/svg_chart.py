"""One chart of a static image, as SVG."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from html import escape

import numpy as np

from labdl.runs.curves.downsampling import band, outline
from labdl.runs.curves.smoothing import moving_average
from labdl.runs.terminal.formatting import figure, printable

_DOTS = 60  # largest number of points drawn as dots
_UNIT = 10  # units per pixel
_LEFT, _TOP, _BOTTOM = 44, 20, 16
Line = tuple[np.ndarray, np.ndarray]


@dataclass
class Chart:
    """Data of a chart: ``raw`` at single steps behind its average, ``train`` and ``validation`` at the ends of epochs."""

    name: str
    raw: Line | None = None
    train: Line | None = None
    validation: Line | None = None
    marks: list[int] = field(default_factory=list)
    alerts: list[int] = field(default_factory=list)
    smooth: bool = True

    def __post_init__(self):
        # before downsampling, so that the average covers all steps
        self.curve = (self.raw[0], moving_average(self.raw[1])) if self.raw and self.smooth else self.raw

    @property
    def empty(self) -> bool:
        return not any(
            line is not None and np.isfinite(line[1]).any() for line in (self.raw, self.train, self.validation)
        )


def render_chart(chart: Chart, x: float, y: float, width: float, height: float, last: int, points: int) -> str:
    """The chart at a place, over the steps from 0 to ``last``; each of its lines has at most so many points."""
    inner = (width - _LEFT - 8, height - _TOP - _BOTTOM)
    frame = _Frame(last, *_limits(chart), *inner)
    parts = [
        f'<g transform="translate({x:g} {y:g})">',
        f'<text class="i" x="0" y="11" font-weight="600">{escape(printable(chart.name, 40))}</text>',
    ]
    if chart.validation is not None and not _blank(chart.validation):
        sign = "●" if len(chart.validation[0]) <= _DOTS else "╍"
        parts.append(
            f'<text class="d" x="{width - 8:g}" y="11" text-anchor="end"><tspan class="t" fill="#0072b2">━</tspan> '
            f'train  <tspan class="v" fill="#d55e00">{sign}</tspan> validation</text>'
        )
    parts.append(f'<g transform="translate({_LEFT} {_TOP})">')
    ticks = round_numbers(frame.low, frame.high, 3 if inner[1] < 80 else 5)
    if ticks:
        path = "".join(f"M0 {frame.y(t):.1f}h{inner[0]:g}" for t in ticks)
        parts.append(f'<path class="g" stroke="#e3e3e3" d="{path}"/>')
        parts += [
            f'<text class="d" x="-6" y="{frame.y(t) + 3.5:.1f}" text-anchor="end">{axis_label(t)}</text>' for t in ticks
        ]
    parts.append(
        f'<text class="d" x="0" y="{inner[1] + 13:g}">0</text><text class="d" x="{inner[0]:g}" '
        f'y="{inner[1] + 13:g}" text-anchor="end">step {last:,}</text>'
    )
    for steps, name, color in ((chart.marks, "m", "#767676"), (chart.alerts, "a", "#b03080")):
        if steps:
            path = "".join(f"M{frame.x(step):.1f} 0v{inner[1]:g}" for step in sorted(set(steps))[:40])
            parts.append(f'<path class="{name}" stroke="{color}" stroke-dasharray="2 3" d="{path}"/>')
    parts += [
        f'<g transform="scale({1 / _UNIT:g})" fill="none" stroke-linejoin="round" stroke-linecap="round">',
        *_lines(chart, frame, points),
        "</g></g></g>",
    ]
    return "".join(parts)


def _lines(chart: Chart, frame: _Frame, points: int) -> list[str]:
    parts = []
    main = chart.train if chart.curve is None else chart.curve
    if chart.raw is not None and chart.smooth and len(chart.raw[0]) > 1:
        if len(chart.raw[0]) > points:
            middle, low, high = band(*chart.raw, points)
            edge = np.concatenate([middle, middle[::-1]]), np.concatenate([high, low[::-1]])
            parts.append(f'<path class="b" fill="#0072b2" fill-opacity=".22" d="{frame.path(*edge)}"/>')
        else:
            parts.append(
                f'<path class="t" stroke="#0072b2" stroke-opacity=".35" stroke-width="8" d="{frame.path(*chart.raw)}"/>'
            )
    if main is not None:
        steps, values = _thin(main, points)
        alone = np.count_nonzero(np.isfinite(values)) == 1
        parts.append(
            f'<path class="t" stroke="#0072b2" stroke-width="{40 if alone else 16}" d="{frame.path(steps, values)}"/>'
        )
    if chart.validation is not None:
        steps, values = _thin(chart.validation, points)
        few = len(chart.validation[0]) <= _DOTS  # more points are a dashed line
        dashes = "" if few else ' stroke-dasharray="50 25"'
        parts.append(f'<path class="v" stroke="#d55e00" stroke-width="13"{dashes} d="{frame.path(steps, values)}"/>')
        if few:
            parts.append(f'<path class="v" stroke="#d55e00" stroke-width="45" d="{frame.dots(steps, values)}"/>')
    return parts


class _Frame:
    """Conversion of steps and values to coordinates."""

    def __init__(self, last: int, low: float, high: float, width: float, height: float):
        self.last, self.low, self.high = max(1, last), low, high
        self.width, self.height = width, height

    def x(self, step):
        return np.clip(step / self.last, 0, 1) * self.width

    def y(self, value):
        # in halves: the difference of two doubles may overflow
        share = (value / 2 - self.low / 2) / (self.high / 2 - self.low / 2)
        return self.height - np.clip(share, 0, 1) * self.height

    def _places(self, steps: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with np.errstate(invalid="ignore", over="ignore"):
            x = np.round(self.x(steps) * _UNIT).astype(int)
            y = np.where(np.isfinite(values), np.round(self.y(values) * _UNIT), -1).astype(int)
        return x, y

    def path(self, steps: np.ndarray, values: np.ndarray) -> str:
        """A line through points, with gaps where there is no value."""
        parts, here = [], None
        for x, y in zip(*map(np.ndarray.tolist, self._places(steps, values)), strict=True):
            if y < 0:
                here = None
                continue
            if here is None:
                parts.append(f"M{x} {y}l0 0")  # shows an isolated value as a dot
            else:
                dx, dy = x - here[0], y - here[1]
                parts.append(f" {dx}{'' if dy < 0 else ' '}{dy}" if dx >= 0 else f"{dx}{'' if dy < 0 else ' '}{dy}")
            here = (x, y)
        return "".join(parts)

    def dots(self, steps: np.ndarray, values: np.ndarray) -> str:
        return "".join(f"M{x} {y}h0" for x, y in zip(*self._places(steps, values), strict=True) if y >= 0)


def _limits(chart: Chart) -> tuple[float, float]:
    """Range of the axis: all averages and validation values, and nearly all single steps."""
    found = [line[1] for line in (chart.curve, chart.train, chart.validation) if line is not None]
    if chart.raw is not None:
        values = chart.raw[1][np.isfinite(chart.raw[1])]
        if len(values):
            found.append(np.sort(values)[[len(values) // 50, (len(values) - 1) * 49 // 50]])
    values = np.concatenate([np.zeros(0), *found])
    values = values[np.isfinite(values)]
    if not len(values):
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    room = (high / 20 - low / 20) or abs(low) / 20 or 0.5
    low = 0.0 if low >= 0 and not chart.smooth else low - room  # axes of rates and speeds start at zero
    low, high = max(low, -1e308), min(high + room, 1e308)
    return (low, high) if low < high else (0.0, 1.0)


def _blank(line: Line) -> bool:
    return not np.isfinite(line[1]).any()


def _thin(line: Line, points: int) -> Line:
    kept = outline(line[1], max(8, points))
    return line[0][kept], line[1][kept]


def round_numbers(low: float, high: float, most: int) -> list[float]:
    """At most so many round numbers within a range."""
    span = high / 2 - low / 2
    if not 0 < span < 1e300 or span < 1e-300:
        return []
    rough = 2 * span / most
    size = 10 ** math.floor(math.log10(rough))
    step = next((size * factor for factor in (1, 2, 5, 10) if size * factor >= rough), size * 10)
    first = math.ceil(low / step)
    return [k * step for k in range(first, first + most + 2) if low <= k * step <= high]


def axis_label(value: float) -> str:
    size = abs(value)
    if size and (size < 1e-3 or size >= 1e9):
        mantissa, power = f"{value:.1e}".split("e")
        return f"{mantissa.removesuffix('.0')}e{int(power)}"
    factor, unit = (1e6, "M") if size >= 1e6 else (1e3, "k") if size >= 1e4 else (1, "")
    return f"{value / factor:.4g}{unit}"


def shown_value(name: str, value: float | None) -> str:
    return f"{printable(name, 30)} {figure(value)}"
