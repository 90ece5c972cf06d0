"""Tasks of the zoo: how their samples are read, what models are trained with and what their outputs become."""

from labdl.tasks import (
    image_classification,
    image_segmentation,
    instance_segmentation,
    object_detection,
    video_classification,
)
from labdl.tasks.fine_tuning import create_trainer, fine_tune
from labdl.tasks.masked_words import MaskedWords
from labdl.tasks.question_answering import QuestionAnswering
from labdl.tasks.speech_recognition import SpeechRecognition
from labdl.tasks.task import TASKS, Task, find, list_tasks, task
from labdl.tasks.text_classification import TextClassification
from labdl.tasks.text_generation import TextGeneration
from labdl.tasks.text_similarity import TextSimilarity
from labdl.tasks.text_to_text import Summarization, TextToText, Translation
from labdl.tasks.token_classification import TokenClassification

__all__ = [
    "TASKS",
    "MaskedWords",
    "QuestionAnswering",
    "SpeechRecognition",
    "Summarization",
    "Task",
    "TextClassification",
    "TextGeneration",
    "TextSimilarity",
    "TextToText",
    "TokenClassification",
    "Translation",
    "create_trainer",
    "find",
    "fine_tune",
    "list_tasks",
    "task",
]


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
