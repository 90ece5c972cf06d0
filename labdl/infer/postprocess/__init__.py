"""Post-processors: a base class, and one class per task."""

from labdl.infer.postprocess.audio import Events, EventTagging, SpeechRecognition, Transcript
from labdl.infer.postprocess.base import POSTPROCESSORS, PostProcessor, postprocessor
from labdl.infer.postprocess.classification import Classes, Classification
from labdl.infer.postprocess.detection import Detection, Detections
from labdl.infer.postprocess.instances import Instances, InstanceSegmentation
from labdl.infer.postprocess.keypoints import Keypoints, Points, box_affine
from labdl.infer.postprocess.question_answering import AnswerSpans, QuestionAnswering
from labdl.infer.postprocess.segmentation import Mask, Segmentation, mask_from_run_lengths, run_lengths
from labdl.infer.postprocess.text import Text, TextDecoding, TokenPrediction, Tokens
from labdl.infer.postprocess.token_classification import Entity, TokenClasses, TokenClassification

__all__ = [
    "POSTPROCESSORS",
    "AnswerSpans",
    "Classes",
    "Classification",
    "Detection",
    "Detections",
    "Entity",
    "EventTagging",
    "Events",
    "InstanceSegmentation",
    "Instances",
    "Keypoints",
    "Mask",
    "Points",
    "PostProcessor",
    "QuestionAnswering",
    "Segmentation",
    "SpeechRecognition",
    "Text",
    "TextDecoding",
    "TokenClasses",
    "TokenClassification",
    "TokenPrediction",
    "Tokens",
    "Transcript",
    "box_affine",
    "mask_from_run_lengths",
    "postprocessor",
    "run_lengths",
]
