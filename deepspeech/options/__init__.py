"""The options of a run: frozen dataclasses whose fields are the flags, each with name, default, help text and check.

A new flag is a row in the module of its purpose; see `deepspeech.options.rows.flag`. Each module is loaded at the first
use of one of its names: models run without the corpora, augmentation and importing that the trainer's options need.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    from .transcripts import TranscriptOptions

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

_NAMES = {
    "checkpoints": ("CheckpointOptions", "SummaryOptions"),
    "cluster": ("ClusterOptions",),
    "corpora": (
        "AlphabetOptions",
        "AugmentationOptions",
        "BadRowOptions",
        "CorpusOptions",
        "ExclusionOptions",
        "FrontEndOptions",
        "SetOptions",
    ),
    "decoding": ("LanguageModelOptions",),
    "experiment": ("ExperimentOptions",),
    "export": ("ExportOptions",),
    "model": ("ConformerOptions", "ConvolutionalOptions", "LSTMOptions", "ModelOptions", "NetworkOptions"),
    "performance": ("SessionOptions",),
    "reports": ("LogOptions", "ReportOptions"),
    "rows.flag": ("Flag", "SwitchAlias", "check_values", "flags_of", "items_of", "values_of", "with_values"),
    "run": ("EvaluationOptions", "Options"),
    "storage": ("StorageOptions",),
    "training": ("BatchOptions", "EarlyStoppingOptions", "LearningRateOptions", "OptimizerOptions", "ScheduleOptions"),
    "transcripts": ("TranscriptOptions",),
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Load the module that has the name."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_MODULES[name]}", __name__), name)
