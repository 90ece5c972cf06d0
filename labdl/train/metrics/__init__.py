"""Metrics on NumPy arrays: exact over any split into batches, known to the trainer by their names in `METRICS`.

Each file of the folder is imported, in alphabetical order.
"""

from importlib import import_module
from pathlib import Path

from labdl.train.metrics import (
    classification,
    curves,
    detection,
    entities,
    keypoints,
    probability_calibration,
    ranking,
    regression,
    retrieval,
    segmentation,
    signals,
    squad,
    text,
    text_overlap,
)
from labdl.train.metrics.classification import *
from labdl.train.metrics.curves import *
from labdl.train.metrics.detection import *
from labdl.train.metrics.entities import *
from labdl.train.metrics.keypoints import *
from labdl.train.metrics.metric import METRICS, Metric, metric
from labdl.train.metrics.probability_calibration import *
from labdl.train.metrics.ranking import *
from labdl.train.metrics.regression import *
from labdl.train.metrics.retrieval import *
from labdl.train.metrics.segmentation import *
from labdl.train.metrics.signals import *
from labdl.train.metrics.squad import *
from labdl.train.metrics.text import *
from labdl.train.metrics.text_overlap import *

for _file in sorted(Path(__file__).parent.glob("*.py")):
    if _file.stem != "__init__":
        import_module(f"labdl.train.metrics.{_file.stem}")

__all__ = ["METRICS", "Metric", "metric"]
__all__ += classification.__all__
__all__ += curves.__all__
__all__ += detection.__all__
__all__ += entities.__all__
__all__ += keypoints.__all__
__all__ += probability_calibration.__all__
__all__ += ranking.__all__
__all__ += regression.__all__
__all__ += retrieval.__all__
__all__ += segmentation.__all__
__all__ += signals.__all__
__all__ += text.__all__
__all__ += squad.__all__
__all__ += text_overlap.__all__
