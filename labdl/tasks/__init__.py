"""Training in one line: a task joins a kind of model with transforms, a loss and metrics."""

from labdl.tasks import image_classification, image_segmentation, video_classification
from labdl.tasks.fine_tuning import create_trainer, fine_tune
from labdl.tasks.task import Task, find, list_tasks, task

__all__ = ["Task", "create_trainer", "find", "fine_tune", "list_tasks", "task"]


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
