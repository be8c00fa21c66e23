"""The options of training: its optimizer, learning rate, epochs and early stopping."""

from .batches import BatchOptions
from .early_stopping import EarlyStoppingOptions
from .epochs import ScheduleOptions
from .learning_rate import LearningRateOptions
from .optimizer import TRAINING, OptimizerOptions

__all__ = [
    "TRAINING",
    "BatchOptions",
    "EarlyStoppingOptions",
    "LearningRateOptions",
    "OptimizerOptions",
    "ScheduleOptions",
]
