"""The result of `Trainer.profile`: times of a step by part and by layer, as a table and as a flame graph."""

from __future__ import annotations

import dataclasses

from labdl.train.profiling.flame_graph import Frame, render_flame_graph

_ROWS = 20  # layers in the table


@dataclasses.dataclass(frozen=True)
class LayerTime:
    """The time of a module's forward in a step: ``seconds`` with the modules inside of it, ``own_seconds`` without them."""

    name: str
    kind: str
    calls: int
    seconds: float
    own_seconds: float


@dataclasses.dataclass(frozen=True, eq=False)
class Profile:
    """Median times of the steps of a training in seconds, which show themselves as a flame graph in a notebook.

    ``wait`` and ``step`` are those of the training as it runs: the time until a batch was there, and that of a step, whole.
    ``forward``, ``loss``, ``backward`` and ``update`` are the parts of a step that is not compiled, and ``layers`` the forward
    by module, outer ones first; the forward may therefore take longer than in a compiled step. ``compiled`` is the setting of
    the trainer. On a device that computes asynchronously these are the times of the calls; the framework's own
    trace, which `Trainer.profile` writes with ``trace``, tells those of the device.
    """

    backend: str
    device: str
    compiled: bool | str | None
    steps: int
    batch_size: int
    wait: float
    step: float
    forward: float
    loss: float
    backward: float
    update: float
    layers: tuple[LayerTime, ...]

    @property
    def sum_of_parts(self) -> float:
        """The time of a step that is not compiled, the sum of its parts."""
        return self.forward + self.loss + self.backward + self.update

    @property
    def samples_per_second(self) -> float:
        return self.batch_size / max(self.wait + self.step, 1e-9)

    def to_svg(self) -> str:
        """The flame graph of a step that is not compiled."""
        return render_flame_graph(self._frames(), self._title())

    def _repr_html_(self) -> str:
        return self.to_svg()

    def __repr__(self) -> str:
        whole = self.wait + self.step
        lines = [self._title(), "", f"{'as it trains':<40}{'ms':>10}{'share':>8}"]
        lines += [_row(name, value, whole) for name, value in (("waiting for data", self.wait), ("step", self.step))]
        lines += ["", f"{'a step that is not compiled':<40}{'ms':>10}{'share':>8}"]
        parts = ("forward", "loss", "backward", "update")
        lines += [_row(name, getattr(self, name), self.sum_of_parts) for name in parts]
        lines += ["", f"{'forward of layers, without inner ones':<40}{'ms':>10}{'share':>8}{'calls':>8}"]
        slowest = sorted(self.layers, key=lambda layer: -layer.own_seconds)
        lines += [
            f"{_row(f'{layer.name or layer.kind} ({layer.kind})', layer.own_seconds, self.forward)}{layer.calls:>8,}"
            for layer in slowest[:_ROWS]
        ]
        if len(slowest) > _ROWS:
            rest = sum(layer.own_seconds for layer in slowest[_ROWS:])
            lines.append(_row(f"{len(slowest) - _ROWS:,} others", rest, self.forward))
        return "\n".join(lines)

    def _title(self) -> str:
        return (
            f"{self.steps:,} steps of {self.batch_size:,} samples with {self.backend} on {self.device}: "
            f"{self.samples_per_second:,.0f} samples per second"
        )

    def _frames(self) -> Frame:
        """The parts of a step, and in the forward the modules, each in the one that contains it."""
        frames = {
            layer.name: Frame(_short_name(layer), layer.seconds, title=f"{layer.name} ({layer.kind})")
            for layer in self.layers
        }
        roots = []
        for name, frame in frames.items():
            outer = name
            while outer:
                outer = outer.rpartition("/")[0]
                if outer in frames:
                    break
            (frames[outer].inner if outer in frames and outer != name else roots).append(frame)
        forward = Frame("forward", self.forward, inner=roots)
        others = [Frame(name, getattr(self, name)) for name in ("loss", "backward", "update")]
        return Frame("step", self.sum_of_parts, inner=[forward, *others])


def _short_name(layer: LayerTime) -> str:
    last = layer.name.rpartition("/")[2]
    return f"{last} {layer.kind}" if last.isdigit() else last or layer.kind


def _row(name: str, value: float, whole: float) -> str:
    return f"  {name[:38]:<38}{1e3 * value:>10.3f}{100 * value / max(whole, 1e-12):>7.1f}%"
