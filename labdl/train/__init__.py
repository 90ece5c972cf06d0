"""Training: optimizers, losses, metrics, the trainer and its runs."""

from labdl import habits
from labdl.train import metrics, optimizers, schedules
from labdl.train.callbacks import Callback
from labdl.train.checkpoint import Checkpoint
from labdl.train.early_stopping import EarlyStopping
from labdl.train.ema import EMA
from labdl.train.events import (
    Alert,
    Confusion,
    Epoch,
    Event,
    Health,
    Histograms,
    NewCheckpoint,
    Predictions,
    Rate,
    Samples,
    Start,
    Step,
    Text,
    Throughput,
    Validation,
    Worst,
)
from labdl.train.metrics import METRICS, Metric
from labdl.train.optimizers import *
from labdl.train.phases import Phase
from labdl.train.race.race import Race, race
from labdl.train.report import Report
from labdl.train.run.run import Run
from labdl.train.schedules import *
from labdl.train.swa import SWA
from labdl.train.trainer import Trainer
from labdl.train.tuning.search_space import Integers, LogUniform, Uniform
from labdl.train.tuning.sweep import Sweep, Trial, sweep

__all__ = [
    "EMA",
    "METRICS",
    "SWA",
    "Alert",
    "Callback",
    "Checkpoint",
    "Confusion",
    "EarlyStopping",
    "Epoch",
    "Event",
    "Health",
    "Histograms",
    "Integers",
    "LogUniform",
    "Metric",
    "NewCheckpoint",
    "Phase",
    "Predictions",
    "Race",
    "Rate",
    "Report",
    "Run",
    "Samples",
    "Start",
    "Step",
    "Sweep",
    "Text",
    "Throughput",
    "Trainer",
    "Trial",
    "Uniform",
    "Validation",
    "Worst",
    "metrics",
    "race",
    "sweep",
]
__all__ += optimizers.__all__
__all__ += schedules.__all__


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str):
    habits.refuse(__name__, name)
