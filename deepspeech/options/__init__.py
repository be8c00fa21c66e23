"""The options of a run: frozen dataclasses whose fields are the flags, each with name, default, help text and check.

A new flag is a row in the module of its purpose; see `deepspeech.options.rows.flag`.
"""

from .checkpoints import CheckpointOptions, SummaryOptions
from .cluster import ClusterOptions
from .corpora import (
    AlphabetOptions,
    AugmentationOptions,
    BadRowOptions,
    CorpusOptions,
    ExclusionOptions,
    FrontEndOptions,
    SetOptions,
    TranscriptOptions,
)
from .decoding import LanguageModelOptions
from .experiment import ExperimentOptions
from .export import ExportOptions
from .model import ConformerOptions, ConvolutionalOptions, LSTMOptions, ModelOptions, NetworkOptions
from .performance import SessionOptions
from .reports import LogOptions, ReportOptions
from .rows.flag import Flag, SwitchAlias, check_values, flags_of, items_of, values_of, with_values
from .run import EvaluationOptions, Options
from .storage import StorageOptions
from .training import BatchOptions, EarlyStoppingOptions, LearningRateOptions, OptimizerOptions, ScheduleOptions

__all__ = [
    "AlphabetOptions",
    "AugmentationOptions",
    "BadRowOptions",
    "BatchOptions",
    "CheckpointOptions",
    "ClusterOptions",
    "ConformerOptions",
    "ConvolutionalOptions",
    "CorpusOptions",
    "EarlyStoppingOptions",
    "EvaluationOptions",
    "ExclusionOptions",
    "ExperimentOptions",
    "ExportOptions",
    "Flag",
    "FrontEndOptions",
    "LSTMOptions",
    "LanguageModelOptions",
    "LearningRateOptions",
    "LogOptions",
    "ModelOptions",
    "NetworkOptions",
    "OptimizerOptions",
    "Options",
    "ReportOptions",
    "ScheduleOptions",
    "SessionOptions",
    "SetOptions",
    "StorageOptions",
    "SummaryOptions",
    "SwitchAlias",
    "TranscriptOptions",
    "check_values",
    "flags_of",
    "items_of",
    "values_of",
    "with_values",
]
