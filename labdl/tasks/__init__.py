"""Tasks of the zoo: how their samples are read, what models are trained with and what their outputs become."""

from labdl.tasks import (
    image_classification,
    image_segmentation,
    instance_segmentation,
    object_detection,
    video_classification,
)
from labdl.tasks.fine_tuning import create_trainer, fine_tune
from labdl.tasks.speech_recognition import SpeechRecognition
from labdl.tasks.task import TASKS, Task, find, list_tasks, task
from labdl.tasks.text_classification import TextClassification
from labdl.tasks.text_generation import TextGeneration

__all__ = [
    "TASKS",
    "SpeechRecognition",
    "Task",
    "TextClassification",
    "TextGeneration",
    "create_trainer",
    "find",
    "fine_tune",
    "list_tasks",
    "task",
]


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
