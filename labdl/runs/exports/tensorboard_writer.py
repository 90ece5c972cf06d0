"""An event file of TensorBoard: its own messages and writer of records, without TensorFlow."""
# pyright: reportAttributeAccessIssue=false
# protobuf classes are created at import, invisible to type checkers

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.compat.proto.types_pb2 import DT_STRING
from tensorboard.plugins.hparams import api_pb2, metadata, plugin_data_pb2
from tensorboard.plugins.text.plugin_data_pb2 import TextPluginData
from tensorboard.summary.writer.record_writer import RecordWriter

_ENDS = {"failed": api_pb2.STATUS_FAILURE, "running": api_pb2.STATUS_RUNNING, "paused": api_pb2.STATUS_RUNNING}


class Log:
    """Writes the one event file of a folder."""

    def __init__(self, folder: Path, began: float):
        folder.mkdir(parents=True, exist_ok=True)
        self._began = began
        self._file = open(folder / f"events.out.tfevents.{int(began)}.labdl", "wb")  # noqa: SIM115 - closed by __exit__
        self._writer = RecordWriter(self._file)
        self._write(Event(wall_time=began, file_version="brain.Event:2"))

    def __enter__(self) -> Log:
        return self

    def __exit__(self, *_) -> None:
        self._file.close()

    def _write(self, event: Any) -> None:
        self._writer.write(event.SerializeToString())

    def scalars(self, time: float, step: int, values: Mapping[str, float]) -> None:
        """Write scalars of one step."""
        told = [Summary.Value(tag=tag, simple_value=_single(value)) for tag, value in values.items()]
        if told:
            self._write(Event(wall_time=time, step=step, summary=Summary(value=told)))

    def histogram(self, time: float, step: int, tag: str, low: float, high: float, counts: np.ndarray) -> None:
        """Write a histogram: counts in equal parts of the range from low to high."""
        edges = np.linspace(low, high, len(counts) + 1)
        middles, total = edges[:-1] / 2 + edges[1:] / 2, float(counts.sum())
        with np.errstate(over="ignore"):
            sums = float(middles @ counts), float(np.square(middles) @ counts)
        histogram = HistogramProto(
            min=low,
            max=high,
            num=total,
            sum=sums[0],
            sum_squares=sums[1],
            bucket_limit=edges[1:].tolist(),
            bucket=counts.tolist(),
        )
        self._write(Event(wall_time=time, step=step, summary=Summary(value=[Summary.Value(tag=tag, histo=histogram)])))

    def text(self, time: float, step: int, tag: str, markdown: str) -> None:
        """Write a text in Markdown."""
        plugin = SummaryMetadata.PluginData(plugin_name="text", content=TextPluginData(version=0).SerializeToString())
        tensor = TensorProto(
            dtype=DT_STRING,
            string_val=[markdown.encode("utf-8", "replace")],
            tensor_shape=TensorShapeProto(dim=[TensorShapeProto.Dim(size=1)]),
        )
        value = Summary.Value(tag=tag, metadata=SummaryMetadata(plugin_data=plugin), tensor=tensor)
        self._write(Event(wall_time=time, step=step, summary=Summary(value=[value])))

    def settings(self, name: str, settings: Mapping[str, Any], tags: Iterable[tuple[str, str]], status: str) -> None:
        """Write settings for the tab HPARAMS: numbers, booleans and strings as such, others as JSON."""
        session = plugin_data_pb2.SessionStartInfo(start_time_secs=self._began, group_name=name)
        infos = []
        for key, value in settings.items():
            if type(value) is bool:
                session.hparams[key].bool_value, kind = value, api_pb2.DATA_TYPE_BOOL
            elif isinstance(value, int | float):
                session.hparams[key].number_value, kind = value, api_pb2.DATA_TYPE_FLOAT64
            elif value is None:
                continue
            else:
                session.hparams[key].string_value = value if isinstance(value, str) else json.dumps(value)
                kind = api_pb2.DATA_TYPE_STRING
            infos.append(api_pb2.HParamInfo(name=key, type=kind))
        metrics = [api_pb2.MetricInfo(name=api_pb2.MetricName(group=group, tag=tag)) for group, tag in tags]
        experiment = api_pb2.Experiment(hparam_infos=infos, metric_infos=metrics, time_created_secs=self._began)
        end = plugin_data_pb2.SessionEndInfo(status=_ENDS.get(status, api_pb2.STATUS_SUCCESS))
        data = plugin_data_pb2.HParamsPluginData
        for tag, told in (
            (metadata.EXPERIMENT_TAG, data(experiment=experiment)),
            (metadata.SESSION_START_INFO_TAG, data(session_start_info=session)),
            (metadata.SESSION_END_INFO_TAG, data(session_end_info=end)),
        ):
            value = Summary.Value(tag=tag, metadata=metadata.create_summary_metadata(told))
            self._write(Event(wall_time=self._began, summary=Summary(value=[value])))


def _single(value: float) -> float:
    """The value as a 32-bit float, which overflows to infinity."""
    return value if not math.isfinite(value) or abs(value) < 3.4e38 else math.copysign(math.inf, value)
