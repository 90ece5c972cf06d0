"""Post-processors: one base class, and one class for each way in which outputs are read (R6.5)."""

from labdl.infer.postprocess.answers import Answers, QuestionAnswering
from labdl.infer.postprocess.audio import Events, EventTagging, SpeechRecognition, Transcript
from labdl.infer.postprocess.classification import Classes, Classification
from labdl.infer.postprocess.detection import Detection, Detections
from labdl.infer.postprocess.keypoints import Keypoints, Points, box_affine
from labdl.infer.postprocess.processor import POSTPROCESSORS, PostProcessor, postprocessor
from labdl.infer.postprocess.segmentation import Mask, Segmentation, mask_of, run_lengths
from labdl.infer.postprocess.text import Text, TextDecoding, TokenPrediction, Tokens

__all__ = [
    "POSTPROCESSORS", "Answers", "Classes", "Classification", "Detection", "Detections", "EventTagging", "Events",
    "Keypoints", "Mask", "Points", "PostProcessor", "QuestionAnswering", "Segmentation", "SpeechRecognition", "Text",
    "TextDecoding", "TokenPrediction", "Tokens", "Transcript", "box_affine", "mask_of", "postprocessor", "run_lengths",
]  # fmt: skip
