"""Training: optimisers, losses, metrics, the trainer and its runs."""

from labdl.train.events import Epoch, Event, Started, Step
from labdl.train.optimizers import SGD, Adam, AdamW
from labdl.train.run import Run
from labdl.train.trainer import Trainer

__all__ = ["SGD", "Adam", "AdamW", "Epoch", "Event", "Run", "Started", "Step", "Trainer"]
