"""Learning rate schedules."""

from labdl.train.schedules import composite, cyclic, decay
from labdl.train.schedules.base import SCHEDULES, Plan, Schedule, schedule
from labdl.train.schedules.composite import *
from labdl.train.schedules.cyclic import *
from labdl.train.schedules.decay import *

__all__ = ["SCHEDULES", "Plan", "Schedule", "schedule"]
__all__ += composite.__all__
__all__ += cyclic.__all__
__all__ += decay.__all__
