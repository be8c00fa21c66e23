"""The program's errors, beside those of `deepspeech.util.errors`. Every message is one line for a person."""

from .util.errors import (
    AlphabetError,
    AudioError,
    CorpusError,
    DeepSpeechError,
    FeatureCacheError,
    FeatureError,
    NetworkError,
)

__all__ = [
    "AlphabetError",
    "AudioError",
    "CheckpointError",
    "ClusterError",
    "CorpusError",
    "DecoderError",
    "DeepSpeechError",
    "ExportError",
    "FeatureCacheError",
    "FeatureError",
    "FlagError",
    "GraphError",
    "ModelError",
    "NetworkError",
    "SamplesError",
    "SamplesShapeError",
    "SamplesTypeError",
    "TrainingError",
]


class FlagError(DeepSpeechError):
    """A command-line flag is unknown or has a value that makes no sense; the message names the flag."""


class CheckpointError(DeepSpeechError):
    """A checkpoint is missing, does not fit the model, or cannot be written."""


class TrainingError(DeepSpeechError):
    """Training cannot go on, for example because a loss is not finite."""


class ClusterError(DeepSpeechError):
    """A node cannot take part in a cluster's training, or that cannot go on."""


class DecoderError(DeepSpeechError):
    """The decoder was given posteriors, options or language-model files that it cannot use."""


class ExportError(DeepSpeechError):
    """An exported model cannot be written, or a folder is not an export that may be replaced."""


class GraphError(DeepSpeechError, RuntimeError):
    """A file is not an exported graph, or not one that can be run here."""


class ModelError(DeepSpeechError, RuntimeError):
    """A model or a stream was asked for what it cannot do; a RuntimeError, too, as DeepSpeech's package raises."""


class SamplesError(DeepSpeechError):
    """Audio was given that is not a signal of 16-bit samples."""


class SamplesTypeError(SamplesError, TypeError):
    """Samples of another type than int16."""


class SamplesShapeError(SamplesError, ValueError):
    """Samples that are not one signal, or numbers that a signal does not have."""
